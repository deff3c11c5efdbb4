// Products and triangular solves with a single right-hand side, a few columns at a time.
#pragma once
#include <algorithm>

#include "simd.hpp"
#include "view.hpp"

namespace hss {

using simd::width;

// out = A' x
template <class T>
void dot_columns(View<const T> A, const T* x, T* out) {
    Index j = 0;
    for (; j + width <= A.cols; j += width) simd::dot_columns(A.col(j), A.ld, A.rows, x, out + j);
    for (; j < A.cols; ++j) out[j] = simd::dot(A.col(j), x, A.rows);
}

// y += A w
template <class T>
void add_columns(View<const T> A, const T* w, T* y) {
    Index j = 0;
    for (; j + width <= A.cols; j += width) simd::add_columns(A.col(j), A.ld, A.rows, w + j, y);
    for (; j < A.cols; ++j)
        for (Index i = 0; i < A.rows; ++i) y[i] += w[j] * A(i, j);
}

// The triangular solves below multiply by the reciprocals of the diagonal: dividing in every step
// would put the latency of the divisions on the critical path.

// The first A.cols entries of x = [L 0; M I]^-1 x, for a trapezoid A = [L; M] with L lower
// triangular: solves with L and updates the entries below.
template <class T>
void solve_trapezoid(View<const T> A, const T* reciprocal, T* x) {
    for (Index j = 0; j < A.cols; j += width) {
        const Index columns = std::min(width, A.cols - j);
        T w[width] = {};
        for (Index a = 0; a < columns; ++a) {
            for (Index b = 0; b < a; ++b) x[j + a] -= A(j + a, j + b) * x[j + b];
            x[j + a] *= reciprocal[j + a];
            w[a] = -x[j + a];
        }
        add_columns(A.block(j + columns, j, A.rows - j - columns, columns), w, x + j + columns);
    }
}

// The first A.cols entries of x = [L 0; M I]^-T x
template <class T>
void solve_trapezoid_transposed(View<const T> A, const T* reciprocal, T* x) {
    for (Index end = A.cols; end > 0;) {
        const Index columns = end % width ? end % width : width, j = end - columns;
        T below[width];
        dot_columns(A.block(end, j, A.rows - end, columns), x + end, below);
        for (Index a = columns; a-- > 0;) {
            T sum = x[j + a] - below[a];
            for (Index b = a + 1; b < columns; ++b) sum -= A(j + b, j + a) * x[j + b];
            x[j + a] = sum * reciprocal[j + a];
        }
        end = j;
    }
}

// x = U^-T x and x = U^-1 x for an upper triangular U
template <class T>
void solve_upper_transposed(View<const T> U, const T* reciprocal, T* x) {
    for (Index j = 0; j < U.cols; j += width) {
        const Index columns = std::min(width, U.cols - j);
        T above[width];
        dot_columns(U.block(0, j, j, columns), x, above);
        for (Index a = 0; a < columns; ++a) {
            T sum = x[j + a] - above[a];
            for (Index b = 0; b < a; ++b) sum -= U(j + b, j + a) * x[j + b];
            x[j + a] = sum * reciprocal[j + a];
        }
    }
}

template <class T>
void solve_upper(View<const T> U, const T* reciprocal, T* x) {
    for (Index end = U.cols; end > 0;) {
        const Index columns = end % width ? end % width : width, j = end - columns;
        T w[width] = {};
        for (Index a = columns; a-- > 0;) {
            for (Index b = a + 1; b < columns; ++b) x[j + a] -= U(j + a, j + b) * x[j + b];
            x[j + a] *= reciprocal[j + a];
            w[a] = -x[j + a];
        }
        add_columns(U.block(0, j, j, columns), w, x);
        end = j;
    }
}

}  // namespace hss
