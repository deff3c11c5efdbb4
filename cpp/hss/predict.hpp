// Values at new points of functions that are kernel expansions over the points of one leaf.
#pragma once
#include <algorithm>
#include <vector>

#include "kernel.hpp"
#include "lapack.hpp"
#include "parallel.hpp"
#include "sweep.hpp"
#include "view.hpp"
#include "workspace.hpp"

namespace hss {

inline Index expansion_size(const Level& level, const Index* skeleton_ends) {
    Index total = 0;
    for (Index i = 0; i < level.n_nodes; ++i)
        total += (skeleton_ends[i + 1] - skeleton_ends[i]) * level.rank(i);
    return total;
}

// weights[J] += P delta at every leaf: what the rest of the tree adds to the leaf's own coefficients.
template <class T>
void leaf_weights(const Level& level, const Index* skeleton_ends, const Index* skeleton,
                  const T* expansion, const T* delta, T* weights, Index k) {
    std::vector<Index> start(static_cast<std::size_t>(level.n_nodes) + 1, 0);
    for (Index i = 0; i < level.n_nodes; ++i)
        start[i + 1] = start[i] + (skeleton_ends[i + 1] - skeleton_ends[i]) * level.rank(i);
    parallel_for(level.n_nodes, [&](Index i) {
        static thread_local Buffer<T> buffer;
        const Index size = skeleton_ends[i + 1] - skeleton_ends[i];
        View<T> added = buffer.take(k, size);
        gemm<T>('N', 'T', T(1), level.coefficients(delta, i, k), {expansion + start[i], size, level.rank(i)},
                T(0), added);
        for (Index j = 0; j < size; ++j) {
            T* row = weights + skeleton[skeleton_ends[i] + j] * k;
            for (Index c = 0; c < k; ++c) row[c] += added(c, j);
        }
    });
}

// out[x] = K(x, Y_g) W_g for the rows x of group g: x_order[x_ends[g] : x_ends[g + 1]] of X and
// y_ends[g] .. y_ends[g + 1] of Y and W. W and out are (., k) in C order.
template <class T, class Rows>
void grouped_product(const Kernel& kernel, const Rows& X, const Index* x_order, const Index* x_ends,
                     const Rows& Y, const Index* y_ends, Index n_groups, const T* W, Index k, T* out) {
    // Large tiles for the products inside, but some for every thread. Their size does not depend on
    // the number of threads: neither does the result.
    const Index tile_x = std::clamp<Index>(X.n / 32, 64, 512), tile_y = 512;
    struct Task {
        Index group, begin;
    };
    std::vector<Task> tasks;
    for (Index g = 0; g < n_groups; ++g)
        for (Index x = x_ends[g]; x < x_ends[g + 1]; x += tile_x) tasks.push_back({g, x});
    std::vector<Index> iota(static_cast<std::size_t>(Y.n));
    for (Index i = 0; i < Y.n; ++i) iota[i] = i;
    parallel_for(static_cast<Index>(tasks.size()), [&](Index t) {
        static thread_local Buffer<T> block_buffer, value_buffer;
        const auto [g, begin] = tasks[t];
        const Index n_x = std::min(tile_x, x_ends[g + 1] - begin);
        View<T> values = value_buffer.take(k, n_x);
        std::fill_n(values.data, k * n_x, T(0));
        for (Index y = y_ends[g]; y < y_ends[g + 1]; y += tile_y) {
            const Index n_y = std::min(tile_y, y_ends[g + 1] - y);
            View<T> block = block_buffer.take(n_y, n_x);
            kernel_block(kernel, Y, iota.data() + y, n_y, X, x_order + begin, n_x, block);
            gemm<T>('N', 'N', T(1), {W + y * k, k, n_y}, block, T(1), values);
        }
        for (Index j = 0; j < n_x; ++j) std::copy_n(values.col(j), k, out + x_order[begin + j] * k);
    });
}

}  // namespace hss
