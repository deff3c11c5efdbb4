// Kernel values from inner products, similarities and distances: vector loops over the points,
// compiled for several instruction sets (clones.hpp).
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "simd.hpp"

namespace hss::simd {

// exp(x) for x <= 0, to about one unit in the last place; 0 below the normal range. Written out
// because libm's vector exp is not portable and needs -ffast-math.
HSS_INLINE double exp_nonpositive(double x) {
    constexpr double shifter = 6755399441055744.0;  // 1.5 * 2^52: rounds to an integer
    const double y = x < -708.0 ? -708.0 : x;
    const double t = y * 1.4426950408889634 + shifter;
    const double k = t - shifter;
    const double r = (y - k * 0.693147180369123816490) - k * 1.90821492927058770002e-10;
    double p = 1.0 / 479001600;
    p = p * r + 1.0 / 39916800;
    p = p * r + 1.0 / 3628800;
    p = p * r + 1.0 / 362880;
    p = p * r + 1.0 / 40320;
    p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    std::uint64_t bits;
    std::memcpy(&bits, &t, sizeof bits);
    bits = (bits << 52) + 0x3FF0000000000000u;
    double scale;
    std::memcpy(&scale, &bits, sizeof scale);
    return x < -708.0 ? 0.0 : p * scale;
}

HSS_INLINE float exp_nonpositive(float x) {
    constexpr float shifter = 12582912.0f;  // 1.5 * 2^23
    const float y = x < -87.0f ? -87.0f : x;
    const float t = y * 1.44269504f + shifter;
    const float k = t - shifter;
    const float r = (y - k * 0.693359375f) - k * -2.12194440e-4f;
    float p = 1.0f / 5040;
    p = p * r + 1.0f / 720;
    p = p * r + 1.0f / 120;
    p = p * r + 1.0f / 24;
    p = p * r + 1.0f / 6;
    p = p * r + 0.5f;
    p = p * r + 1.0f;
    p = p * r + 1.0f;
    std::uint32_t bits;
    std::memcpy(&bits, &t, sizeof bits);
    bits = (bits << 23) + 0x3F800000u;
    float scale;
    std::memcpy(&scale, &bits, sizeof scale);
    return x < -87.0f ? 0.0f : p * scale;
}

// |x - y|^2 computed as |x|^2 + |y|^2 - 2 <x, y> has lost half of its digits if it is below this
// fraction of |x|^2 + |y|^2.
template <class T>
HSS_INLINE T cancellation_threshold() {
    return std::sqrt(std::numeric_limits<T>::epsilon());
}

// v[i] = |x_i - y|^2 from v[i] = <x_i, y>, norm[i] = |x_i|^2, norm_y = |y|^2. Returns whether some
// distance is so small compared with the norms that it has lost half of its digits.
template <class T>
HSS_INLINE bool distances_body(T* v, Index n, const T* norm, T norm_y) {
    const T tau = cancellation_threshold<T>();
    int lost = 0;
    HSS_SIMD(reduction(| : lost))
    for (Index i = 0; i < n; ++i) {
        const T total = norm[i] + norm_y;
        const T d = total - 2 * v[i];
        v[i] = d;
        lost |= d < tau * total;
    }
    return lost != 0;
}
HSS_CLONES(bool, distances, (double* v, Index n, const double* norm, double norm_y), distances_body,
           (v, n, norm, norm_y))
HSS_CLONES(bool, distances, (float* v, Index n, const float* norm, float norm_y), distances_body,
           (v, n, norm, norm_y))

// Normalized similarities, in place, from v[i] = s(x_i, y), norm[i] = s(x_i, x_i) and norm_y =
// s(y, y). Two points without features have the ratio 1, but no angle.
template <class T>
HSS_INLINE void ratios_body(T* v, Index n, const T* norm, T norm_y) {
    HSS_SIMD()
    for (Index i = 0; i < n; ++i) {
        const T total = norm[i] + norm_y - v[i];
        v[i] = total > 0 ? v[i] / total : T(1);
    }
}
template <class T>
HSS_INLINE void cosines_body(T* v, Index n, const T* norm, T norm_y) {
    const T root = std::sqrt(norm_y);
    HSS_SIMD()
    for (Index i = 0; i < n; ++i) {
        const T product = std::sqrt(norm[i]) * root;
        v[i] = product > 0 ? v[i] / product : T(0);
    }
}
#define HSS_NORMALIZED(name, T)                                                    \
    HSS_CLONES(void, name, (T * v, Index n, const T* norm, T norm_y), name##_body, \
               (v, n, norm, norm_y))
HSS_NORMALIZED(ratios, double)
HSS_NORMALIZED(ratios, float)
HSS_NORMALIZED(cosines, double)
HSS_NORMALIZED(cosines, float)
#undef HSS_NORMALIZED

// Radial kernels of the squared distance, in place.
template <class T>
HSS_INLINE void gaussian_body(T* v, Index n, T gamma) {
    for (Index i = 0; i < n; ++i) v[i] = exp_nonpositive(-gamma * v[i]);
}
template <class T>
HSS_INLINE void exponential_body(T* v, Index n, T gamma) {
    for (Index i = 0; i < n; ++i) v[i] = exp_nonpositive(-gamma * std::sqrt(v[i]));
}
template <class T>
HSS_INLINE void matern32_body(T* v, Index n, T gamma) {
    for (Index i = 0; i < n; ++i) {
        const T a = std::min(gamma * std::sqrt(3 * v[i]), T(1e3));
        v[i] = (1 + a) * exp_nonpositive(-a);
    }
}
template <class T>
HSS_INLINE void matern52_body(T* v, Index n, T gamma) {
    for (Index i = 0; i < n; ++i) {
        const T a = std::min(gamma * std::sqrt(5 * v[i]), T(1e3));  // exp(-1e3) is 0, 1e3^2 finite
        v[i] = (1 + a + a * a / 3) * exp_nonpositive(-a);
    }
}
#define HSS_RADIAL(name)                                                                   \
    HSS_CLONES(void, name, (double* v, Index n, double gamma), name##_body, (v, n, gamma)) \
    HSS_CLONES(void, name, (float* v, Index n, float gamma), name##_body, (v, n, gamma))
HSS_RADIAL(gaussian)
HSS_RADIAL(exponential)
HSS_RADIAL(matern32)
HSS_RADIAL(matern52)
#undef HSS_RADIAL

}  // namespace hss::simd
