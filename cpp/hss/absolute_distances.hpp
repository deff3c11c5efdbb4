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

// out[c][l] = |x_l - y_c|_1 for features x[f][l] and y[c][f], f < p
template <class T>
HSS_INLINE void absolute_distances_of_lanes_body(const T* x, const T* y, Index p, T* out) {
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
    std::copy_n(&sum[0][0], together * n_lanes, out);
}
#define HSS_LANES(T)                                                                         \
    HSS_CLONES(void, absolute_distances_of_lanes, (const T* x, const T* y, Index p, T* out), \
               absolute_distances_of_lanes_body, (x, y, p, out))
HSS_LANES(double)
HSS_LANES(float)
#undef HSS_LANES

}  // namespace simd

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
        S sums[simd::together * n_lanes];
        for (Index begin = 0; begin < n; begin += n_lanes) {
            simd::absolute_distances_of_lanes(lanes + begin * p, y, p, sums);
            for (Index c = 0; c < out.cols; ++c)
                std::copy_n(sums + c * n_lanes, std::min(n_lanes, n - begin), out.col(c) + begin);
        }
    }
};

}  // namespace hss
