// One node of the symmetric ULV factorization of K~ + diag(shift).
//
// With A the node's diagonal block and U its basis,
//
//     A = Lc Lc',   Lc^-1 U = Q R,   W = Lc^-T Q,   so   A^-1 U = W R,   U' A^-1 U = R' R,
//
// and the parent solves (I + R M~ R') s = c for c = W' b. Then x = A^-1 b + W (s - c). Storing W
// instead of Q lets the upward sweep finish A^-1 b while Lc is in the cache, so a solve reads Lc
// once.
//
// Right-hand sides are held as rows: Bt is (k, m), which is NumPy's (m, k) block in C order.
#pragma once
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "kernel_matrix.hpp"
#include "lapack.hpp"
#include "single_rhs.hpp"
#include "view.hpp"
#include "workspace.hpp"

namespace hss {

// Up to this many right-hand sides, one at a time is faster, since the node's blocks stay in the
// cache; the kernels of BLAS need wider blocks.
constexpr Index max_single_rhs = 3;

// body(row) for every row of B, as a contiguous vector that may be changed in place.
template <class T, class Body>
void each_row(View<T> B, Body&& body) {
    if (B.rows == 1) return body(B.data);
    static thread_local Buffer<T> buffer;
    T* row = buffer.take(B.cols);
    for (Index i = 0; i < B.rows; ++i) {
        for (Index j = 0; j < B.cols; ++j) row[j] = B(i, j);
        body(row);
        for (Index j = 0; j < B.cols; ++j) B(i, j) = row[j];
    }
}

// Lower triangle in half the memory of a square (LAPACK's rectangular full packed format): with
// h = ceil(m / 2), L = [L11 0; L21 L22] stores L11 and L21 as they are and L22' above L11.
template <class T>
struct PackedLower {
    View<T> L11, L21, L22t;  // L22t is upper triangular

    static Index size(Index m) { return m * (m + 1) / 2; }
    PackedLower(T* data, Index m) {
        const Index h = (m + 1) / 2, even = m % 2 == 0, ld = m + even;
        L11 = {data + even, h, h, ld};
        L21 = {data + even + h, m - h, h, ld};
        L22t = {data + (even ? 0 : ld), m - h, m - h, ld};
    }

    void store(View<const T> L) const {
        const Index h = L11.rows, q = L22t.rows;
        for (Index j = 0; j < h; ++j) {
            std::copy_n(&L(j, j), h - j, &L11(j, j));
            std::copy_n(&L(h, j), q, L21.col(j));
        }
        for (Index j = 0; j < q; ++j)
            for (Index i = j; i < q; ++i) L22t(j, i) = L(h + i, h + j);
    }

    // Bt = (L^-T L^-1 B)', in place
    void solve(View<T> Bt) const {
        const Index h = L11.rows, q = L22t.rows;
        if (Bt.rows <= max_single_rhs) {
            static thread_local Buffer<T> buffer;
            T* reciprocal = buffer.take(h + q);
            for (Index i = 0; i < h; ++i) reciprocal[i] = T(1) / L11(i, i);
            for (Index i = 0; i < q; ++i) reciprocal[h + i] = T(1) / L22t(i, i);
            const View<const T> left{L11.data, h + q, h, L11.ld};  // L21 lies right below L11
            each_row(Bt, [&](T* b) {
                solve_trapezoid<T>(left, reciprocal, b);
                solve_upper_transposed<T>(L22t, reciprocal + h, b + h);
                solve_upper<T>(L22t, reciprocal + h, b + h);
                solve_trapezoid_transposed<T>(left, reciprocal, b);
            });
            return;
        }
        View<T> B1 = Bt.block(0, 0, Bt.rows, h), B2 = Bt.block(0, h, Bt.rows, q);
        trsm<T>('R', 'L', 'T', L11, B1);
        gemm<T>('N', 'T', T(-1), B1, L21, T(1), B2);
        trsm<T>('R', 'U', 'N', L22t, B2);
        trsm<T>('R', 'U', 'T', L22t, B2);
        gemm<T>('N', 'N', T(-1), B2, L21, T(1), B1);
        trsm<T>('R', 'L', 'N', L11, B1);
    }

    // Bt = (L L' B)', in place
    void multiply(View<T> Bt) const {
        const Index h = L11.rows, q = L22t.rows;
        View<T> B1 = Bt.block(0, 0, Bt.rows, h), B2 = Bt.block(0, h, Bt.rows, q);
        trmm<T>('R', 'L', 'N', L11, B1);
        gemm<T>('N', 'N', T(1), B2, L21, T(1), B1);
        trmm<T>('R', 'U', 'T', L22t, B2);
        trmm<T>('R', 'U', 'N', L22t, B2);
        gemm<T>('N', 'T', T(1), B1, L21, T(1), B2);
        trmm<T>('R', 'L', 'T', L11, B1);
    }
};

// Factors a node from A (lower triangle, overwritten) and U (overwritten by W). R: (rank, rank).
template <class T>
void factor_node(View<T> A, View<T> U, PackedLower<T> packed, View<T> R) {
    static thread_local Buffer<T> scratch;
    if (!potrf_lower(A))
        throw std::runtime_error(
            "K + shift I is not positive definite to working precision: raise shift (the beta of "
            "an estimator), use float64, or compress by NestedNystroem, which is positive "
            "semi-definite");
    for (Index i = 0; i < A.cols; ++i)
        if (!std::isfinite(A(i, i)))
            throw std::runtime_error("the kernel has NaN or infinite values");
    trsm<T>('L', 'L', 'N', A, U);
    thin_qr(U, R, scratch);
    trsm<T>('L', 'L', 'T', A, U);
    packed.store(A);
}

// A = K_II - U U' + diag(shift_I) at a leaf; without U U' if the basis is not a projection, because
// the difference may then be indefinite.
template <class T>
void leaf_block(const KernelMatrix& K, const Index* rows, View<const T> U, bool projection,
                const T* shift, View<T> A) {
    K.block(rows, A.cols, rows, A.cols, A);
    if (projection) syrk_lower<T>('N', T(-1), U, A);
    for (Index i = 0; i < A.cols; ++i) A(i, i) += shift[rows[i]];
}

// A = I + R (M - V V') R',  U = R V  with R = blkdiag(Ra, Rb), M = [I C; C' I]; U holds V on entry.
// If the basis is not a projection, U U' is still in the leaves, and A = I + R [0 C; C' 0] R'.
template <class T>
void parent_block(View<const T> Ra, View<const T> Rb, View<const T> C, bool projection, View<T> U,
                  View<T> A) {
    const Index ra = Ra.cols, rb = Rb.cols;
    auto square = [&](View<const T> R, View<T> out) {  // R R', lower triangle
        for (Index j = 0; j < R.cols; ++j)
            for (Index i = 0; i <= j; ++i) out(j, i) = projection ? R(i, j) : T(0);
        if (projection) lauum_lower(out);
    };
    square(Ra, A.block(0, 0, ra, ra));
    square(Rb, A.block(ra, ra, rb, rb));
    View<T> coupling = A.block(ra, 0, rb, ra);
    for (Index j = 0; j < ra; ++j)
        for (Index i = 0; i < rb; ++i) coupling(i, j) = C(j, i);
    trmm<T>('L', 'U', 'N', Rb, coupling);
    trmm<T>('R', 'U', 'T', Ra, coupling);
    trmm<T>('L', 'U', 'N', Ra, U.block(0, 0, ra, U.cols));
    trmm<T>('L', 'U', 'N', Rb, U.block(ra, 0, rb, U.cols));
    if (projection) syrk_lower<T>('N', T(-1), U, A);
    for (Index i = 0; i < A.cols; ++i) A(i, i) += T(1);
}

// Ct = (W' B)'
template <class T>
void project(View<const T> W, View<const T> Bt, View<T> Ct) {
    if (Bt.rows == 1) return dot_columns(W, Bt.data, Ct.data);
    if (Bt.rows > max_single_rhs) return gemm<T>('N', 'N', T(1), Bt, W, T(0), Ct);
    static thread_local Buffer<T> buffer;
    T *b = buffer.take(W.rows + W.cols), *c = b + W.rows;
    for (Index i = 0; i < Bt.rows; ++i) {
        for (Index j = 0; j < W.rows; ++j) b[j] = Bt(i, j);
        dot_columns(W, b, c);
        for (Index j = 0; j < W.cols; ++j) Ct(i, j) = c[j];
    }
}

// Xt += (W D)'
template <class T>
void expand(View<const T> W, View<const T> Dt, View<T> Xt) {
    if (Dt.rows == 1) return add_columns(W, Dt.data, Xt.data);
    if (Dt.rows > max_single_rhs) return gemm<T>('N', 'T', T(1), Dt, W, T(1), Xt);
    static thread_local Buffer<T> buffer;
    T *x = buffer.take(W.rows + W.cols), *d = x + W.rows;
    for (Index i = 0; i < Dt.rows; ++i) {
        for (Index j = 0; j < W.cols; ++j) d[j] = Dt(i, j);
        for (Index j = 0; j < W.rows; ++j) x[j] = Xt(i, j);
        add_columns(W, d, x);
        for (Index j = 0; j < W.rows; ++j) Xt(i, j) = x[j];
    }
}

}  // namespace hss
