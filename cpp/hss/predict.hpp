// Kernel expansions over the points of one leaf, evaluated at new points.
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

inline Index expansion_size(const LevelLayout& level, const Index* skeleton_offsets) {
    Index total = 0;
    for (Index i = 0; i < level.n_nodes; ++i)
        total += (skeleton_offsets[i + 1] - skeleton_offsets[i]) * level.rank(i);
    return total;
}

// weights[J] += P delta at every leaf: the contribution of the rest of the tree.
template <class T>
void leaf_weights(const LevelLayout& level, const Index* skeleton_offsets, const Index* skeleton,
                  const T* expansion, const T* delta, T* weights, Index k) {
    std::vector<Index> start(static_cast<std::size_t>(level.n_nodes) + 1, 0);
    for (Index i = 0; i < level.n_nodes; ++i)
        start[i + 1] = start[i] + (skeleton_offsets[i + 1] - skeleton_offsets[i]) * level.rank(i);
    parallel_for(level.n_nodes, [&](Index i) {
        static thread_local Buffer<T> buffer;
        const Index size = skeleton_offsets[i + 1] - skeleton_offsets[i];
        View<T> added = buffer.take(k, size);
        gemm<T>('N', 'T', T(1), level.coefficients(delta, i, k),
                {expansion + start[i], size, level.rank(i)}, T(0), added);
        for (Index j = 0; j < size; ++j) {
            T* row = weights + skeleton[skeleton_offsets[i] + j] * k;
            for (Index c = 0; c < k; ++c) row[c] += added(c, j);
        }
    });
}

// out[x] = K(x, Y_g) W_g for the rows x of group g: x_order[x_offsets[g] : x_offsets[g + 1]] of X,
// y_order[y_offsets[g] : y_offsets[g + 1]] of Y, and y_offsets[g] .. y_offsets[g + 1] of W. W and
// out are (., k) in C order.
template <class T, class Rows>
void grouped_product(const Kernel& kernel, const Rows& X, const Index* x_order,
                     const Index* x_offsets, const Rows& Y, const Index* y_order,
                     const Index* y_offsets, Index n_groups, const T* W, Index k, T* out) {
    // Large tiles make the products efficient; enough of them keep every thread busy. Their size
    // does not depend on the number of threads, so neither does the result.
    const Index tile_x = std::clamp<Index>(X.n / 32, 64, 512), tile_y = 512;
    struct Task {
        Index group, begin;
    };
    std::vector<Task> tasks;
    for (Index g = 0; g < n_groups; ++g)
        for (Index x = x_offsets[g]; x < x_offsets[g + 1]; x += tile_x) tasks.push_back({g, x});
    parallel_for(static_cast<Index>(tasks.size()), [&](Index t) {
        static thread_local Buffer<T> block_buffer, value_buffer;
        const auto [g, begin] = tasks[t];
        const Index n_x = std::min(tile_x, x_offsets[g + 1] - begin);
        View<T> values = value_buffer.take(k, n_x);
        std::fill_n(values.data, k * n_x, T(0));
        for (Index y = y_offsets[g]; y < y_offsets[g + 1]; y += tile_y) {
            const Index n_y = std::min(tile_y, y_offsets[g + 1] - y);
            View<T> block = block_buffer.take(n_y, n_x);
            kernel_block(kernel, Y, y_order + y, n_y, X, x_order + begin, n_x, block);
            gemm<T>('N', 'N', T(1), {W + y * k, k, n_y}, block, T(1), values);
        }
        for (Index j = 0; j < n_x; ++j) std::copy_n(values.col(j), k, out + x_order[begin + j] * k);
    });
}

}  // namespace hss
