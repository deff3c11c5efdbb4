// The separable step of ADMM for a box with one end at 0.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "parallel.hpp"
#include "view.hpp"

namespace hss {

// Z = clip(V - tau / beta, min(bound, 0), max(bound, 0)) for (n, k) arrays in C order, beta one per row
// and tau one per column; per column the sums of z, of |z|, and of 1 / beta over the rows inside the
// box, each as (k,) in `sums`. Sums are taken in a fixed order, whatever the number of threads.
template <class T>
void shifted_clip(const T* V, const T* beta, const double* tau, const T* bound, Index n, Index k,
                  T* Z, double* sums) {
    const Index chunk = std::max<Index>(1, 16384 / k), n_chunks = (n + chunk - 1) / chunk;
    std::vector<double> parts(static_cast<std::size_t>(n_chunks * 3 * k), 0.0);
    std::vector<T> shift(static_cast<std::size_t>(k));
    for (Index j = 0; j < k; ++j) shift[j] = static_cast<T>(tau[j]);
    parallel_for(n_chunks, [&](Index c) {
        double *sum = parts.data() + c * 3 * k, *size = sum + k, *slope = size + k;
        for (Index i = c * chunk; i < std::min(n, (c + 1) * chunk); ++i) {
            const T inverse = T(1) / beta[i];
            const T *v = V + i * k, *b = bound + i * k;
            T* z = Z + i * k;
            for (Index j = 0; j < k; ++j) {
                const T low = std::min(b[j], T(0)), high = std::max(b[j], T(0));
                const T moved = v[j] - shift[j] * inverse;
                const T clipped = std::min(std::max(moved, low), high);
                z[j] = clipped;
                sum[j] += clipped;
                size[j] += std::abs(clipped);
                slope[j] += moved > low && moved < high ? inverse : T(0);
            }
        }
    });
    std::fill_n(sums, 3 * k, 0.0);
    for (Index c = 0; c < n_chunks; ++c)
        for (Index j = 0; j < 3 * k; ++j) sums[j] += parts[c * 3 * k + j];
}

}  // namespace hss
