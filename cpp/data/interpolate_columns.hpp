// Piecewise-linear functions of the columns of a matrix.
#pragma once
#include <algorithm>

#include "hss/parallel.hpp"
#include "hss/view.hpp"

namespace data {

using hss::Index;

// Number of rows whose column is mapped at a time: a block of them fits in the cache.
constexpr Index ROWS_AT_ONCE = 256;

// The function through the points (x[k], y[k]), constant beyond the first and the last; x ascends,
// and equal x at the end have equal y.
template <class T>
T interpolate(const T* x, const T* y, Index m, T value) {
    const T* left = x;  // the last of all x[k] <= value, or the first
    for (Index length = m; length > 1;) {
        const Index half = length / 2;
        left += left[half] <= value ? half : 0;
        length -= half;
    }
    const Index k = left - x;
    if (k + 1 == m || value <= *left) return y[k];
    const T share = (value - left[0]) / (left[1] - left[0]);
    return std::min(y[k] + share * (y[k + 1] - y[k]), y[k + 1]);  // rounding keeps the order
}

// for j in range(p): out[:, j] = np.interp(X[:, j], x[j], y[j])
// X, out: (n, p); x, y: (p, m)
template <class T>
void interpolate_columns(const T* X, Index n, Index p, const T* x, const T* y, Index m, T* out) {
    hss::parallel_for((n + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE, [&](Index block) {
        const Index begin = block * ROWS_AT_ONCE, end = std::min(n, begin + ROWS_AT_ONCE);
        for (Index j = 0; j < p; ++j)
            for (Index i = begin; i < end; ++i)
                out[i * p + j] = interpolate(x + j * m, y + j * m, m, X[i * p + j]);
    });
}

}  // namespace data
