// The separable step of ADMM: the proximal operator of an l1 term and a box that contains 0.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "hss/parallel.hpp"
#include "hss/simd.hpp"
#include "hss/view.hpp"

namespace svm {

using hss::Index;
using hss::parallel_for;

namespace simd {

// shifted_prox for n rows; `shift` is tau. Adds to the sums.
template <class T>
HSS_INLINE void prox_rows_body(const T* V, const T* beta, const T* shift, const T* lower,
                               const T* upper, const T* l1_weight, Index n, Index k, T* Z,
                               double* sums) {
    double *sum = sums, *size = sums + k, *slope = size + k;
    for (Index i = 0; i < n; ++i) {
        const T inverse = T(1) / beta[i];
        const T *v = V + i * k, *low = lower + i * k, *high = upper + i * k;
        T* z = Z + i * k;
        HSS_SIMD()
        for (Index j = 0; j < k; ++j) {
            const T width = l1_weight[j] * inverse, shifted = v[j] - shift[j] * inverse;
            const T excess = std::abs(shifted) - width;
            // comparisons that let NaN pass
            const T moved = std::copysign(excess < 0 ? T(0) : excess, shifted);
            const T raised = moved < low[j] ? low[j] : moved;
            const T clipped = raised > high[j] ? high[j] : raised;
            z[j] = clipped;
            sum[j] += clipped;
            size[j] += std::abs(clipped);
            slope[j] += ((moved > low[j]) & (moved < high[j]) & (excess > 0)) ? inverse : T(0);
        }
    }
}
#define HSS_PROX(T)                                                                        \
    HSS_CLONES(void, prox_rows,                                                            \
               (const T* V, const T* beta, const T* shift, const T* lower, const T* upper, \
                const T* l1_weight, Index n, Index k, T* Z, double* sums),                 \
               prox_rows_body, (V, beta, shift, lower, upper, l1_weight, n, k, Z, sums))
HSS_PROX(double)
HSS_PROX(float)
#undef HSS_PROX

}  // namespace simd

// Z = argmin l1_weight |z| + beta / 2 (z - (v - tau / beta))^2 subject to lower <= z <= upper,
// which contain 0. Arrays are (n, k) in C order; beta has an entry per row, tau and l1_weight an
// entry per column. `sums` is (3, k): per column the sum of z, of |z|, and of 1 / beta over the
// rows that are neither at a bound nor at 0 because of the l1 term. The order of summation does not
// depend on the number of threads.
template <class T>
void shifted_prox(const T* V, const T* beta, const double* tau, const T* lower, const T* upper,
                  const double* l1_weight, Index n, Index k, T* Z, double* sums) {
    const Index chunk = std::max<Index>(1, 16384 / k), n_chunks = (n + chunk - 1) / chunk;
    std::vector<double> parts(static_cast<std::size_t>(n_chunks * 3 * k), 0.0);
    std::vector<T> shift(tau, tau + k), threshold(l1_weight, l1_weight + k);
    parallel_for(n_chunks, [&](Index c) {
        const Index first = c * chunk, rows = std::min(chunk, n - first);
        simd::prox_rows(V + first * k, beta + first, shift.data(), lower + first * k,
                        upper + first * k, threshold.data(), rows, k, Z + first * k,
                        parts.data() + c * 3 * k);
    });
    std::fill_n(sums, 3 * k, 0.0);
    for (Index c = 0; c < n_chunks; ++c)
        for (Index j = 0; j < 3 * k; ++j) sums[j] += parts[c * 3 * k + j];
}

}  // namespace svm
