// Kernel expansions over the points of one leaf, evaluated at new points.
#pragma once
#include <algorithm>
#include <vector>

#include "few_rhs.hpp"
#include "kernel_block.hpp"
#include "lapack.hpp"
#include "parallel.hpp"
#include "simd.hpp"
#include "split.hpp"
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
    const Index most_x = std::clamp<Index>(X.n / 32, 64, 512), tile_y = 512;
    struct Task {
        Index group, begin, end;
    };
    std::vector<Task> tasks;
    for (Index g = 0; g < n_groups; ++g) {
        const Index begin = x_offsets[g], n = x_offsets[g + 1] - begin;
        const Index n_tiles = (n + most_x - 1) / most_x;
        for (Index t = 0; t < n_tiles; ++t)
            tasks.push_back({g, begin + t * n / n_tiles, begin + (t + 1) * n / n_tiles});
    }
    parallel_for(static_cast<Index>(tasks.size()), [&](Index t) {
        static thread_local Buffer<T> block_buffer, value_buffer;
        const auto [g, begin, end] = tasks[t];
        const Index n_x = end - begin;
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

// The kernel expansions of the leaves of one tree: rows[ends[g] : ends[g + 1]] of Y, and of W,
// which is (., k) in C order, belong to leaf g, and so does row g of the constants, if there are
// any. Values are clipped to [-clip, clip]. `route` finds the leaf of a new point.
template <class T>
struct LeafExpansions {
    Kernel kernel;
    DenseRows<T> Y;
    const Index *rows, *ends;
    const T* W;
    Index k, depth;
    const T *directions, *thresholds;
    const T* constants;  // (n_leaves, k), or null
    T clip;
};

// out += the values at the rows of X, one at a time: with few rows per leaf, products of matrices
// cost more than they save, and so do threads with few rows in all.
template <class T>
void add_few_values(const LeafExpansions<T>& tree, const DenseRows<T>& X, T* out) {
    constexpr Index tile = 512, chunk = 8;
    const Index p = X.p, k = tree.k;
    auto add = [&](Index i) {
        static thread_local Buffer<T> buffer;
        T values[tile], *sum = buffer.take(k);
        const T* x = X.data + i * p;
        const Index leaf = leaf_of(X, i, tree.depth, tree.directions, tree.thresholds);
        if (tree.constants)
            std::copy_n(tree.constants + leaf * k, k, sum);
        else
            std::fill_n(sum, k, T(0));
        for (Index y = tree.ends[leaf]; y < tree.ends[leaf + 1]; y += tile) {
            const Index n = std::min(tile, tree.ends[leaf + 1] - y);
            if (tree.kernel.needs_norms())
                kernel_block(tree.kernel, tree.Y, tree.rows + y, n, X, &i, 1,
                             View<T>(values, n, 1));
            else {
                if (tree.kernel.direct())
                    simd::absolute_distances(x, tree.Y.data, tree.rows + y, n, p, values);
                else if (tree.kernel.radial())
                    simd::squared_distances(x, tree.Y.data, tree.rows + y, n, p, values);
                else
                    simd::dots(x, tree.Y.data, tree.rows + y, n, p, values);
                apply_kernel(tree.kernel, values, n);
            }
            const View<const T> W{tree.W + y * k, k, n};
            if (k == 1)
                sum[0] += simd::dot(values, W.data, n);
            else
                add_columns<T>(W, values, sum);
        }
        for (Index c = 0; c < k; ++c) out[i * k + c] += std::clamp(sum[c], -tree.clip, tree.clip);
    };
    parallel_for((X.n + chunk - 1) / chunk, [&](Index c) {
        for (Index i = c * chunk; i < std::min(X.n, (c + 1) * chunk); ++i) add(i);
    });
}

}  // namespace hss
