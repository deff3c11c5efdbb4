// Products and triangular solves with few right-hand sides, a few columns at a time. A vector holds
// numbers, for one right-hand side, or groups of numbers, for several at once.
#pragma once
#include <algorithm>

#include "simd.hpp"
#include "view.hpp"

namespace hss {

using simd::width;

// The entries of one row in `size` right-hand sides.
template <class T>
struct Group {
    static constexpr Index size = simd::group;
    T value[size];

    Group& operator+=(const Group& other) {
        for (Index l = 0; l < size; ++l) value[l] += other.value[l];
        return *this;
    }
    Group& operator-=(const Group& other) {
        for (Index l = 0; l < size; ++l) value[l] -= other.value[l];
        return *this;
    }
    Group& operator*=(T factor) {
        for (Index l = 0; l < size; ++l) value[l] *= factor;
        return *this;
    }
    friend Group operator-(Group a) { return a *= T(-1); }
    friend Group operator*(T factor, Group a) { return a *= factor; }
};

// out = A' x
template <class T>
void dot_columns(View<const T> A, const T* x, T* out) {
    Index j = 0;
    for (; j + width <= A.cols; j += width) simd::dot_columns(A.col(j), A.ld, A.rows, x, out + j);
    for (; j < A.cols; ++j) out[j] = simd::dot(A.col(j), x, A.rows);
}
template <class T>
void dot_columns(View<const T> A, const Group<T>* x, Group<T>* out) {
    for (Index j = 0; j < A.cols; j += width)
        simd::dot_columns_of_groups(A.col(j), A.ld, std::min(width, A.cols - j), A.rows, x->value,
                                    out[j].value);
}

// y += A w
template <class T>
void add_columns(View<const T> A, const T* w, T* y) {
    Index j = 0;
    for (; j + width <= A.cols; j += width) simd::add_columns(A.col(j), A.ld, A.rows, w + j, y);
    for (; j < A.cols; ++j)
        for (Index i = 0; i < A.rows; ++i) y[i] += w[j] * A(i, j);
}
template <class T>
void add_columns(View<const T> A, const Group<T>* w, Group<T>* y) {
    for (Index j = 0; j < A.cols; j += width)
        simd::add_columns_of_groups(A.col(j), A.ld, std::min(width, A.cols - j), A.rows, w[j].value,
                                    y->value);
}

// The triangular solves below multiply by the reciprocals of the diagonal: dividing in every step
// would put the latency of the divisions on the critical path. X is T or Group<T>.

// The first A.cols entries of x = [L 0; M I]^-1 x, for a trapezoid A = [L; M] with L lower
// triangular: solves with L and updates the entries below.
template <class T, class X>
void solve_trapezoid(View<const T> A, const T* reciprocal, X* x) {
    for (Index j = 0; j < A.cols; j += width) {
        const Index columns = std::min(width, A.cols - j), end = j + columns;
        X w[width];
        for (Index a = 0; a < columns; ++a) {
            x[j + a] *= reciprocal[j + a];
            w[a] = -x[j + a];
            for (Index c = a + 1; c < columns; ++c) x[j + c] += A(j + c, j + a) * w[a];
        }
        add_columns(A.block(end, j, A.rows - end, columns), w, x + end);
    }
}

// The first A.cols entries of x = [L 0; M I]^-T x
template <class T, class X>
void solve_trapezoid_transposed(View<const T> A, const T* reciprocal, X* x) {
    for (Index end = A.cols; end > 0;) {
        const Index columns = end % width ? end % width : width, j = end - columns;
        X below[width];
        dot_columns(A.block(end, j, A.rows - end, columns), x + end, below);
        for (Index a = 0; a < columns; ++a) x[j + a] -= below[a];
        for (Index a = columns; a-- > 0;) {
            x[j + a] *= reciprocal[j + a];
            for (Index c = 0; c < a; ++c) x[j + c] -= A(j + a, j + c) * x[j + a];
        }
        end = j;
    }
}

// x = U^-T x and x = U^-1 x for an upper triangular U
template <class T, class X>
void solve_upper_transposed(View<const T> U, const T* reciprocal, X* x) {
    for (Index j = 0; j < U.cols; j += width) {
        const Index columns = std::min(width, U.cols - j);
        X above[width];
        dot_columns(U.block(0, j, j, columns), x, above);
        for (Index a = 0; a < columns; ++a) x[j + a] -= above[a];
        for (Index a = 0; a < columns; ++a) {
            x[j + a] *= reciprocal[j + a];
            for (Index c = a + 1; c < columns; ++c) x[j + c] -= U(j + a, j + c) * x[j + a];
        }
    }
}

template <class T, class X>
void solve_upper(View<const T> U, const T* reciprocal, X* x) {
    for (Index end = U.cols; end > 0;) {
        const Index columns = end % width ? end % width : width, j = end - columns;
        X w[width];
        for (Index a = columns; a-- > 0;) {
            x[j + a] *= reciprocal[j + a];
            w[a] = -x[j + a];
            for (Index c = 0; c < a; ++c) x[j + c] += U(j + c, j + a) * w[a];
        }
        add_columns(U.block(0, j, j, columns), w, x);
        end = j;
    }
}

}  // namespace hss
