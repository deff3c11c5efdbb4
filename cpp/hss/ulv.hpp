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

#include "few_rhs.hpp"
#include "kernel_matrix.hpp"
#include "lapack.hpp"
#include "view.hpp"
#include "workspace.hpp"

namespace hss {

// Up to this many right-hand sides, the loops of few_rhs.hpp are faster than BLAS, whose kernels
// need wider blocks; from min_group on in groups, below one at a time.
constexpr Index max_few_rhs = 12, min_group = 3;

// body(first, entry) for the groups of k right-hand sides, or for each of them: those from `first`
// on fit into a vector of the type of `entry`.
template <class T, class Body>
void each_group(Index k, Body&& body) {
    Index first = 0;
    for (; k - first >= min_group; first += Group<T>::size) body(first, Group<T>{});
    for (; first < k; ++first) body(first, T{});
}

// Rows of B from `first` on as a contiguous vector; store_rhs is the inverse.
template <class T, class U>
U* load_rhs(View<U> B, Index first, Buffer<T>& buffer) {
    if (B.rows == 1) return B.data;
    T* x = buffer.take(B.cols);
    for (Index j = 0; j < B.cols; ++j) x[j] = B(first, j);
    return x;
}
template <class T, class U>
Group<T>* load_rhs(View<U> B, Index first, Buffer<Group<T>>& buffer) {
    const Index size = std::min(Group<T>::size, B.rows - first);
    Group<T>* x = buffer.take(B.cols);
    for (Index j = 0; j < B.cols; ++j) {
        x[j] = {};
        std::copy_n(&B(first, j), size, x[j].value);
    }
    return x;
}
template <class T>
void store_rhs(const T* x, Index first, View<T> B) {
    if (x == B.data) return;
    for (Index j = 0; j < B.cols; ++j) B(first, j) = x[j];
}
template <class T>
void store_rhs(const Group<T>* x, Index first, View<T> B) {
    const Index size = std::min(Group<T>::size, B.rows - first);
    for (Index j = 0; j < B.cols; ++j) std::copy_n(x[j].value, size, &B(first, j));
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
        if (Bt.rows <= max_few_rhs) {
            static thread_local Buffer<T> buffer;
            T* reciprocal = buffer.take(h + q);
            for (Index i = 0; i < h; ++i) reciprocal[i] = T(1) / L11(i, i);
            for (Index i = 0; i < q; ++i) reciprocal[h + i] = T(1) / L22t(i, i);
            const View<const T> left{L11.data, h + q, h, L11.ld};  // L21 lies right below L11
            each_group<T>(Bt.rows, [&](Index first, auto entry) {
                static thread_local Buffer<decltype(entry)> vector;
                auto* b = load_rhs(Bt, first, vector);
                solve_trapezoid<T>(left, reciprocal, b);
                solve_upper_transposed<T>(L22t, reciprocal + h, b + h);
                solve_upper<T>(L22t, reciprocal + h, b + h);
                solve_trapezoid_transposed<T>(left, reciprocal, b);
                store_rhs<T>(b, first, Bt);
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
            "K + shift I is not positive definite to working precision: raise shift (the "
            "beta, alpha or noise of an estimator), use float64, or compress by NestedNystroem, "
            "which is positive semi-definite");
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
    if (Bt.rows > max_few_rhs) return gemm<T>('N', 'N', T(1), Bt, W, T(0), Ct);
    each_group<T>(Bt.rows, [&](Index first, auto entry) {
        static thread_local Buffer<decltype(entry)> b_buffer, c_buffer;
        const auto* b = load_rhs(Bt, first, b_buffer);
        auto* c = load_rhs(Ct, first, c_buffer);
        dot_columns<T>(W, b, c);
        store_rhs<T>(c, first, Ct);
    });
}

// Xt += (W D)'
template <class T>
void expand(View<const T> W, View<const T> Dt, View<T> Xt) {
    if (Dt.rows > max_few_rhs) return gemm<T>('N', 'T', T(1), Dt, W, T(1), Xt);
    each_group<T>(Dt.rows, [&](Index first, auto entry) {
        static thread_local Buffer<decltype(entry)> d_buffer, x_buffer;
        const auto* d = load_rhs(Dt, first, d_buffer);
        auto* x = load_rhs(Xt, first, x_buffer);
        add_columns<T>(W, d, x);
        store_rhs<T>(x, first, Xt);
    });
}

}  // namespace hss
