// Sums of signs of differences, of which the gradients of kernels of |x - y|_1 consist.
#pragma once
#include <algorithm>

#include "parallel.hpp"
#include "simd.hpp"
#include "view.hpp"

namespace hss {

namespace simd {

HSS_INLINE double signed_value(double x, double y, double v) {
    return (x > y ? v : 0.0) - (x < y ? v : 0.0);
}

// out[f] += sum_i v[i] sign(x[f] - y[f * ld + i]) for f < p
HSS_INLINE void add_sign_sums_body(const double* v, const double* x, const double* y, Index ld,
                                   Index n, Index p, double* out) {
    HSS_OUTER
    for (Index f = 0; f < p; f += 4) {
        const Index last = p - 1, g = std::min(f + 1, last), h = std::min(f + 2, last),
                    k = std::min(f + 3, last);
        const double *a = y + f * ld, *b = y + g * ld, *c = y + h * ld, *d = y + k * ld;
        double sum_a = 0, sum_b = 0, sum_c = 0, sum_d = 0;
        HSS_SIMD(reduction(+ : sum_a, sum_b, sum_c, sum_d))
        for (Index i = 0; i < n; ++i) {
            sum_a += signed_value(x[f], a[i], v[i]), sum_b += signed_value(x[g], b[i], v[i]);
            sum_c += signed_value(x[h], c[i], v[i]), sum_d += signed_value(x[k], d[i], v[i]);
        }
        const double sums[] = {sum_a, sum_b, sum_c, sum_d};
        for (Index e = 0; e < std::min<Index>(4, p - f); ++e) out[f + e] += sums[e];
    }
}
HSS_CLONES(void, add_sign_sums,
           (const double* v, const double* x, const double* y, Index ld, Index n, Index p,
            double* out),
           add_sign_sums_body, (v, x, y, ld, n, p, out))

}  // namespace simd

// out(x, f) = sum_i V(x, i) sign(X(x, f) - Y(f, i)), all in C order: V (m, n), X and out (m, p), Y
// (p, n)
inline void sign_sums(const double* V, const double* X, const double* Y, Index m, Index n, Index p,
                      double* out) {
    const Index tile_x = 16, tile_y = 512;
    std::fill_n(out, m * p, 0.0);
    parallel_for((m + tile_x - 1) / tile_x, [&](Index t) {
        for (Index i = 0; i < n; i += tile_y)
            for (Index x = t * tile_x; x < std::min(m, (t + 1) * tile_x); ++x)
                simd::add_sign_sums(V + x * n + i, X + x * p, Y + i, n, std::min(tile_y, n - i), p,
                                    out + x * p);
    });
}

}  // namespace hss
