// Distances |x - y|_1 of dense rows. No product of matrices computes them, so this loop is blocked
// by hand: rows of X side by side in lanes, feature by feature, against four rows of Y at a time,
// with all sums in registers. Every distance is summed in the order of the features, whatever the
// block it belongs to: the matrix is symmetric to the last digit.
#pragma once
#include <algorithm>
#include <cmath>

#include "simd.hpp"
#include "view.hpp"
#include "workspace.hpp"

namespace hss {

namespace simd {

constexpr Index together = 4;

// Lanes of two vectors of AVX-512, and of four of AVX2
template <class T>
constexpr Index row_lanes = 128 / static_cast<Index>(sizeof(T));

// out[c * ld + l] = |x_l - y_c|_1 for features x[f][l] and y[c][f], f < p
template <class T>
HSS_INLINE void absolute_distances_of_lanes_body(const T* x, const T* y, Index p, T* out,
                                                 Index ld) {
    constexpr Index n_lanes = row_lanes<T>;
    T sum[together][n_lanes] = {};
    HSS_OUTER
    for (Index f = 0; f < p; ++f) {
        HSS_OUTER
        for (Index c = 0; c < together; ++c) {
            const T value = y[c * p + f];
            HSS_SIMD()
            for (Index l = 0; l < n_lanes; ++l) sum[c][l] += std::abs(x[f * n_lanes + l] - value);
        }
    }
    for (Index c = 0; c < together; ++c) std::copy_n(sum[c], n_lanes, out + c * ld);
}
#define HSS_LANES(T)                                                \
    HSS_CLONES(void, absolute_distances_of_lanes,                   \
               (const T* x, const T* y, Index p, T* out, Index ld), \
               absolute_distances_of_lanes_body, (x, y, p, out, ld))
HSS_LANES(double)
HSS_LANES(float)
#undef HSS_LANES

// v[i] += sum over `width` columns a, a + ld, ... of |a[i] - w|, in their order
template <class T>
HSS_INLINE void add_absolute_columns_body(const T* a, Index ld, Index n, const T* w, T* v) {
    const T *a1 = a + ld, *a2 = a1 + ld, *a3 = a2 + ld, *a4 = a3 + ld, *a5 = a4 + ld, *a6 = a5 + ld,
            *a7 = a6 + ld;
    const T w0 = w[0], w1 = w[1], w2 = w[2], w3 = w[3], w4 = w[4], w5 = w[5], w6 = w[6], w7 = w[7];
    HSS_SIMD()
    for (Index i = 0; i < n; ++i) {
        T sum = v[i] + std::abs(a[i] - w0);
        sum += std::abs(a1[i] - w1), sum += std::abs(a2[i] - w2), sum += std::abs(a3[i] - w3);
        sum += std::abs(a4[i] - w4), sum += std::abs(a5[i] - w5), sum += std::abs(a6[i] - w6);
        v[i] = sum + std::abs(a7[i] - w7);
    }
}
#define HSS_ABSOLUTE_COLUMNS(T)                                                               \
    HSS_CLONES(void, add_absolute_columns, (const T* a, Index ld, Index n, const T* w, T* v), \
               add_absolute_columns_body, (a, ld, n, w, v))
HSS_ABSOLUTE_COLUMNS(double)
HSS_ABSOLUTE_COLUMNS(float)
#undef HSS_ABSOLUTE_COLUMNS

}  // namespace simd

// v[i] += |x_i - y|_1, where feature f of row i is columns(i, f)
template <class T>
void add_absolute_distances(View<const T> columns, const T* y, T* v) {
    Index f = 0;
    for (; f + simd::width <= columns.cols; f += simd::width)
        simd::add_absolute_columns(columns.col(f), columns.ld, columns.rows, y + f, v);
    for (; f < columns.cols; ++f)
        simd::add_absolute_differences(columns.col(f), y[f], columns.rows, v);
}

// Rows in lanes: feature f of row i is at (i / n_lanes * p + f) * n_lanes + i % n_lanes.
template <class S>
class RowLanes {
    static constexpr Index n_lanes = simd::row_lanes<S>;
    Buffer<S> buffer, other;
    S* lanes = nullptr;
    Index n = 0, p = 0;

  public:
    template <class T>
    void gather(const T* rows, const Index* I, Index n_rows, Index n_features) {
        n = n_rows, p = n_features;
        lanes = buffer.take((n + n_lanes - 1) / n_lanes * n_lanes * p);
        for (Index begin = 0; begin < n; begin += n_lanes)
            for (Index l = 0; l < n_lanes; ++l) {
                const T* x = rows + I[std::min(begin + l, n - 1)] * p;
                for (Index f = 0; f < p; ++f) lanes[begin * p + f * n_lanes + l] = x[f];
            }
    }
    // out(i, c) = the distance of row i and row J[c] of Y, for at most simd::together columns
    template <class T>
    void distances(const T* Y, const Index* J, View<S> out) {
        S* y = other.take(simd::together * p);
        for (Index c = 0; c < simd::together; ++c)
            std::copy_n(Y + J[std::min(c, out.cols - 1)] * p, p, y + c * p);
        for (Index begin = 0; begin < n; begin += n_lanes) {
            const S* x = lanes + begin * p;
            if (begin + n_lanes <= n && out.cols == simd::together) {
                simd::absolute_distances_of_lanes(x, y, p, out.data + begin, out.ld);
                continue;
            }
            S sums[simd::together * n_lanes];
            simd::absolute_distances_of_lanes(x, y, p, sums, n_lanes);
            for (Index c = 0; c < out.cols; ++c)
                std::copy_n(sums + c * n_lanes, std::min(n_lanes, n - begin), out.col(c) + begin);
        }
    }
};

}  // namespace hss
