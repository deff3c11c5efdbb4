// The factors k_j(x_j, s_j) of a kernel that is a product over the features,
//
//     k(x, s) = prod_j k_j(x_j, s_j),    k_j(x_j, s_j) = exp(-sum over its terms of gamma d(x_j,
//     s_j)),
//
// for eight support vectors s at a time.
#pragma once
#include <cmath>
#include <cstdint>

#include "hss/kernel_functions.hpp"
#include "shapley/lanes.hpp"

namespace shapley {

// d(x, s): (x - s)^2, |x - s|, whether x and s differ, or (x - s)^2 / (x + s)
enum class Distance : std::int32_t { squared, absolute, mismatch, chi_squared };

// The terms of feature j are ends[j] .. ends[j + 1]; every feature has one.
struct Terms {
    Index n_features;
    const Index* ends;
    const std::int32_t* kind;
    const double* gamma;
};

// Factors (n_features, lanes) of one point x and eight support vectors (n_features, lanes)
HSS_INLINE void factors_body(const Terms& terms, const double* x, const double* support,
                             double* out) {
    for (Index j = 0; j < terms.n_features; ++j) {
        const double *s = support + j * n_lanes, xj = x[j];
        double* e = out + j * n_lanes;
        for (Index l = 0; l < n_lanes; ++l) e[l] = 0;
        for (Index i = terms.ends[j]; i < terms.ends[j + 1]; ++i) {
            const double gamma = terms.gamma[i];
            switch (static_cast<Distance>(terms.kind[i])) {
                case Distance::squared:
                    HSS_SIMD()
                    for (Index l = 0; l < n_lanes; ++l) e[l] -= gamma * (xj - s[l]) * (xj - s[l]);
                    break;
                case Distance::absolute:
                    HSS_SIMD()
                    for (Index l = 0; l < n_lanes; ++l) e[l] -= gamma * std::abs(xj - s[l]);
                    break;
                case Distance::mismatch:
                    HSS_SIMD()
                    for (Index l = 0; l < n_lanes; ++l) e[l] -= xj == s[l] ? 0.0 : gamma;
                    break;
                case Distance::chi_squared:
                    HSS_SIMD()
                    for (Index l = 0; l < n_lanes; ++l) {
                        const double sum = xj + s[l], difference = xj - s[l];
                        e[l] -= sum > 0 ? gamma * difference * difference / sum : 0.0;
                    }
                    break;
            }
        }
    }
    HSS_SIMD()
    for (Index i = 0; i < terms.n_features * n_lanes; ++i)
        out[i] = hss::simd::exp_nonpositive(out[i]);
}
HSS_CLONES(void, factors, (const Terms& terms, const double* x, const double* support, double* out),
           factors_body, (terms, x, support, out))

}  // namespace shapley
