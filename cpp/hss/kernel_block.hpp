// A whole kernel matrix of two sets of rows.
#pragma once
#include <algorithm>
#include <vector>

#include "dense_block.hpp"
#include "kernel.hpp"
#include "parallel.hpp"
#include "sparse_block.hpp"
#include "view.hpp"

namespace hss {

// All of K(X, Y), out(i, j) = k(x_i, y_j) with contiguous rows, in tiles on all threads.
template <class T, class Rows>
void kernel_block(const Kernel& kernel, const Rows& X, const Rows& Y, T* out) {
    const Index tile_x = 256, tile_y = 512;
    const Index n_x = (X.n + tile_x - 1) / tile_x, n_y = (Y.n + tile_y - 1) / tile_y;
    std::vector<Index> iota(static_cast<std::size_t>(std::max(X.n, Y.n)));
    for (std::size_t i = 0; i < iota.size(); ++i) iota[i] = static_cast<Index>(i);
    parallel_for(n_x * n_y, [&](Index t) {
        const Index x = (t / n_y) * tile_x, y = (t % n_y) * tile_y;
        const Index width = std::min(tile_x, X.n - x), height = std::min(tile_y, Y.n - y);
        kernel_block(kernel, Y, iota.data() + y, height, X, iota.data() + x, width,
                     View<T>(out + y + x * Y.n, height, width, Y.n));
    });
}

}  // namespace hss
