// Terms of the similarities of two points, and of their squared distances.
#pragma once
#include "clones.hpp"

namespace hss::simd {

template <class T>
struct Product {
    HSS_INLINE static T of(T x, T y) { return x * y; }
};
template <class T>
struct SquaredDifference {
    HSS_INLINE static T of(T x, T y) { return (x - y) * (x - y); }
};
template <class T>
struct Minimum {
    HSS_INLINE static T of(T x, T y) { return x < y ? x : y; }
};
template <class T>
struct AbsoluteDifference {
    HSS_INLINE static T of(T x, T y) { return x < y ? y - x : x - y; }
};
template <class T>
struct HarmonicMean {
    HSS_INLINE static T of(T x, T y) {
        const T sum = x + y;
        return 2 * x * y / (sum > 0 ? sum : T(1));
    }
};
template <class T>
struct ChiSquaredDifference {
    HSS_INLINE static T of(T x, T y) {
        const T sum = x + y;
        return (x - y) * (x - y) / (sum > 0 ? sum : T(1));
    }
};

// The length of the overlap of the intervals from 0 to x and from 0 to y
template <class T>
struct Overlap {
    HSS_INLINE static T of(T x, T y) {
        const T least = x < y ? x : y, most = x < y ? y : x;
        return (least > 0 ? least : T(0)) - (most < 0 ? most : T(0));
    }
};
template <class T>
struct Match {
    HSS_INLINE static T of(T x, T y) { return x == y ? T(1) : T(0); }
};

}  // namespace hss::simd
