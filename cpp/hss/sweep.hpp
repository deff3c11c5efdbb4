// One level of the sweeps that factor, solve and multiply; the nodes of a level run in parallel.
//
// A node works on rows of a (., k) array in C order: at the leaves the rows of the user's block
// that `rows` (the tree's perm) lists, above them the coefficients of the level below, where
// siblings are adjacent. The upward sweep writes coefficients c for the level above; the downward
// sweep replaces them, in place, by the contribution of that level.
#pragma once
#include <algorithm>
#include <vector>

#include "kernel_matrix.hpp"
#include "parallel.hpp"
#include "ulv.hpp"
#include "view.hpp"
#include "workspace.hpp"

namespace hss {

// The layout of a level. Node i has m = offsets[i+1] - offsets[i] rows and rank ranks[i+1] -
// ranks[i] (both arrays are running sums); above the leaves its rows are the coefficients of
// children 2i and 2i+1, whose running sums are child_ranks.
struct LevelLayout {
    Index n_nodes;
    const Index* offsets;
    const Index* ranks;
    const Index* child_ranks;  // null at the leaves
    const Index* rows;         // perm, at the leaves; null above
    std::vector<Index> basis_start, triangle_start, coupling_start, square_start;
    std::vector<Index> child_square_start;  // of the 2 n_nodes children; zeros at the leaves

    LevelLayout(Index n_nodes, const Index* offsets, const Index* ranks, const Index* child_ranks,
                const Index* rows)
        : n_nodes(n_nodes), offsets(offsets), ranks(ranks), child_ranks(child_ranks), rows(rows) {
        auto sum = [](std::vector<Index>& start, Index n, auto&& size) {
            start.resize(n + 1);
            for (Index i = 0; i < n; ++i) start[i + 1] = start[i] + size(i);
        };
        sum(basis_start, n_nodes, [&](Index i) { return m(i) * rank(i); });
        sum(triangle_start, n_nodes, [&](Index i) { return m(i) * (m(i) + 1) / 2; });
        sum(coupling_start, n_nodes,
            [&](Index i) { return leaf() ? 0 : child_rank(2 * i) * child_rank(2 * i + 1); });
        sum(square_start, n_nodes, [&](Index i) { return rank(i) * rank(i); });
        sum(child_square_start, 2 * n_nodes,
            [&](Index c) { return leaf() ? 0 : child_rank(c) * child_rank(c); });
    }
    bool leaf() const { return rows != nullptr; }
    Index m(Index i) const { return offsets[i + 1] - offsets[i]; }
    Index rank(Index i) const { return ranks[i + 1] - ranks[i]; }
    Index child_rank(Index c) const { return child_ranks[c + 1] - child_ranks[c]; }
    template <class T>
    View<T> basis(T* data, Index i) const {
        return {data + basis_start[i], m(i), rank(i)};
    }
    template <class T>
    View<T> coupling(T* data, Index i) const {
        return {data + coupling_start[i], child_rank(2 * i), child_rank(2 * i + 1)};
    }
    template <class T>
    View<T> coefficients(T* data, Index i, Index k) const {
        return {data + ranks[i] * k, k, rank(i)};
    }
};

// Rows of B that belong to leaf i, copied to the columns of a (k, m) view.
template <class T>
View<T> gather(const LevelLayout& level, Index i, const T* B, Index k, Buffer<T>& buffer) {
    const Index m = level.m(i);
    View<T> Bt = buffer.take(k, m);
    const Index* rows = level.rows + level.offsets[i];
    for (Index j = 0; j < m; ++j) std::copy_n(B + rows[j] * k, k, Bt.col(j));
    return Bt;
}

// The inverse: copies the columns of Xt to the rows of X.
template <class T>
void scatter(const LevelLayout& level, Index i, View<const T> Xt, T* X) {
    const Index* rows = level.rows + level.offsets[i];
    for (Index j = 0; j < Xt.cols; ++j) std::copy_n(Xt.col(j), Xt.rows, X + rows[j] * Xt.rows);
}

template <class T>
View<T> node_rows(const LevelLayout& level, Index i, T* coefficients, Index k) {
    return {coefficients + level.offsets[i] * k, k, level.m(i)};
}

// basis: U (leaves) or V; child_R: R of the level below; K and shift (one number per row of X) are
// used at the leaves only. Writes packed Lc, W, and R of this level.
template <class T>
void factor_level(const LevelLayout& level, const KernelMatrix* K, const T* shift, const T* basis,
                  const T* coupling, bool projection, const T* child_R, T* packed, T* W, T* R) {
    parallel_for(level.n_nodes, [&](Index i) {
        static thread_local Buffer<T> block;
        View<T> A = block.take(level.m(i), level.m(i)), U = level.basis(W, i);
        std::copy_n(level.basis(basis, i).data, U.rows * U.cols, U.data);
        if (level.leaf()) {
            leaf_block<T>(*K, level.rows + level.offsets[i], U, projection, shift, A);
        } else {
            const Index ra = level.child_rank(2 * i), rb = level.child_rank(2 * i + 1);
            const Index* start = level.child_square_start.data() + 2 * i;
            parent_block<T>({child_R + start[0], ra, ra}, {child_R + start[1], rb, rb},
                            level.coupling(coupling, i), projection, U, A);
        }
        factor_node<T>(A, U, {packed + level.triangle_start[i], level.m(i)},
                       {R + level.square_start[i], level.rank(i), level.rank(i)});
    });
}

// At the leaves: X = A^-1 B and c = W' B. Above, in place on `coefficients` (b below): the node's b
// becomes A^-1 b - b, as the downward sweep needs it, and c = W' b.
template <class T>
void solve_up_leaves(const LevelLayout& level, const T* packed, const T* W, const T* B, T* X,
                     Index k, T* c) {
    parallel_for(level.n_nodes, [&](Index i) {
        static thread_local Buffer<T> buffer;
        View<T> Bt = gather(level, i, B, k, buffer);
        project<T>(level.basis(W, i), Bt, level.coefficients(c, i, k));
        PackedLower<T>(const_cast<T*>(packed) + level.triangle_start[i], level.m(i)).solve(Bt);
        scatter<T>(level, i, Bt, X);
    });
}

template <class T>
void solve_up(const LevelLayout& level, const T* packed, const T* W, T* coefficients, Index k,
              T* c) {
    parallel_for(level.n_nodes, [&](Index i) {
        static thread_local Buffer<T> buffer;
        View<T> b = node_rows(level, i, coefficients, k);
        View<T> x = buffer.take(k, b.cols);
        project<T>(level.basis(W, i), b, level.coefficients(c, i, k));
        std::copy_n(b.data, k * b.cols, x.data);
        PackedLower<T>(const_cast<T*>(packed) + level.triangle_start[i], level.m(i)).solve(x);
        for (Index j = 0; j < k * b.cols; ++j) b.data[j] = x.data[j] - b.data[j];
    });
}

// X += W delta at the leaves, coefficients += W delta above; delta comes from the level above.
template <class T>
void solve_down_leaves(const LevelLayout& level, const T* W, const T* delta, T* X, Index k) {
    parallel_for(level.n_nodes, [&](Index i) {
        static thread_local Buffer<T> buffer;
        View<T> Xt = gather(level, i, X, k, buffer);
        expand<T>(level.basis(W, i), level.coefficients(delta, i, k), Xt);
        scatter<T>(level, i, Xt, X);
    });
}

template <class T>
void solve_down(const LevelLayout& level, const T* W, const T* delta, T* coefficients, Index k) {
    parallel_for(level.n_nodes, [&](Index i) {
        expand<T>(level.basis(W, i), level.coefficients(delta, i, k),
                  node_rows(level, i, coefficients, k));
    });
}

// c = U' B at the leaves, c = V' b above
template <class T>
void matmul_up(const LevelLayout& level, const T* basis, const T* B, Index k, T* c) {
    parallel_for(level.n_nodes, [&](Index i) {
        static thread_local Buffer<T> buffer;
        View<const T> Bt = level.leaf() ? View<const T>(gather(level, i, B, k, buffer))
                                        : node_rows(level, i, B, k);
        project<T>(level.basis(basis, i), Bt, level.coefficients(c, i, k));
    });
}

// Y = K_II B + U delta
template <class T>
void matmul_down_leaves(const LevelLayout& level, const KernelMatrix& K, const T* basis,
                        const T* delta, const T* B, T* Y, Index k) {
    parallel_for(level.n_nodes, [&](Index i) {
        static thread_local Buffer<T> in_buffer, out_buffer, block;
        const Index m = level.m(i);
        const Index* rows = level.rows + level.offsets[i];
        View<T> Bt = gather(level, i, B, k, in_buffer), Yt = out_buffer.take(k, m);
        View<T> inside = block.take(m, m);
        K.block(rows, m, rows, m, inside);
        gemm<T>('N', 'N', T(1), Bt, inside, T(0), Yt);
        expand<T>(level.basis(basis, i), level.coefficients(delta, i, k), Yt);
        scatter<T>(level, i, Yt, Y);
    });
}

// Y = A B + U (U' B + delta): the leaves of (K~ + diag(shift)) B, from the factor A = Lc Lc' of
// K_II - U U' + diag(shift); without U U' if the basis is not a projection. Reads the factor
// instead of evaluating the kernel, as matmul_down_leaves does.
template <class T>
void matmul_down_leaves_from_factor(const LevelLayout& level, const T* packed, const T* basis,
                                    bool projection, T* delta, const T* B, T* Y, Index k) {
    parallel_for(level.n_nodes, [&](Index i) {
        static thread_local Buffer<T> buffer, inner_buffer;
        View<T> Bt = gather(level, i, B, k, buffer), inner = inner_buffer.take(k, level.rank(i));
        View<T> c = level.coefficients(delta, i, k);
        if (projection)
            project<T>(level.basis(basis, i), Bt, inner);
        else
            std::fill_n(inner.data, k * inner.cols, T(0));
        for (Index j = 0; j < k * inner.cols; ++j) inner.data[j] += c.data[j];
        PackedLower<T>(const_cast<T*>(packed) + level.triangle_start[i], level.m(i)).multiply(Bt);
        expand<T>(level.basis(basis, i), inner, Bt);
        scatter<T>(level, i, Bt, Y);
    });
}

// [c_a; c_b] becomes [C c_b; C' c_a] + V delta
template <class T>
void matmul_down(const LevelLayout& level, const T* basis, const T* coupling, const T* delta,
                 T* coefficients, Index k) {
    parallel_for(level.n_nodes, [&](Index i) {
        static thread_local Buffer<T> buffer;
        View<T> c = node_rows(level, i, coefficients, k), old = buffer.take(k, c.cols);
        std::copy_n(c.data, k * c.cols, old.data);
        View<const T> C = level.coupling(coupling, i);
        const Index ra = C.rows, rb = C.cols;
        gemm<T>('N', 'T', T(1), old.block(0, ra, k, rb), C, T(0), c.block(0, 0, k, ra));
        gemm<T>('N', 'N', T(1), old.block(0, 0, k, ra), C, T(0), c.block(0, ra, k, rb));
        expand<T>(level.basis(basis, i), level.coefficients(delta, i, k), c);
    });
}

}  // namespace hss
