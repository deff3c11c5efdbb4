// The vector loops of SMO (smo.hpp), over all variables. They compute extrema per block and then
// search the best block for the index: tracking the index inside a vector loop would slow it down.
#pragma once
#include <limits>
#include <utility>

#include "hss/simd.hpp"
#include "hss/view.hpp"

namespace svm::simd {

using hss::Index;

// The cost of a step that a variable must not make.
template <class T>
constexpr T huge() {
    return std::numeric_limits<T>::max() / 4;
}
constexpr Index block = 256;

// The best of some variables.
template <class T>
struct Best {
    T value;
    Index at;
};

// Extrema are taken in `lanes` parts, because of NaN: compilers vectorize those of a single
// variable only if NaN may change them.
using hss::simd::lanes;
using hss::simd::Minimum;

template <class T>
struct Maximum {
    HSS_INLINE static T of(T x, T y) { return x > y ? x : y; }
};

// v[0] = the extremum of v[0], ..., v[2 half - 1]
template <class Extremum, Index half = lanes / 2, class T>
HSS_INLINE void fold(T* v) {
    HSS_SIMD()
    for (Index l = 0; l < half; ++l) v[l] = Extremum::of(v[l + half], v[l]);
    if constexpr (half > 1) fold<Extremum, half / 2>(v);
}

template <class T>
HSS_INLINE void update_entry(T& g, T a, T b, T step, T cost, T& least) {
    g += step * (a - b);
    least = Minimum<T>::of(g + cost, least);
}

// g += step (a - b); the i with the smallest g[i] + cost[i]
template <class T>
HSS_INLINE Best<T> update_gradient_body(T* g, const T* a, const T* b, T step, const T* cost,
                                        Index n) {
    T best = huge<T>() * 2;
    Index at = 0;
    for (Index begin = 0; begin < n; begin += block) {
        const Index end = begin + block < n ? begin + block : n;
        T least[lanes];
        for (Index l = 0; l < lanes; ++l) least[l] = huge<T>() * 2;
        Index i = begin;
        for (; i + lanes <= end; i += lanes) {
            HSS_SIMD()
            for (Index l = 0; l < lanes; ++l)
                update_entry(g[i + l], a[i + l], b[i + l], step, cost[i + l], least[l]);
        }
        for (; i < end; ++i) update_entry(g[i], a[i], b[i], step, cost[i], least[0]);
        fold<Minimum<T>>(least);
        if (least[0] < best) best = least[0], at = begin;
    }
    const Index end = at + block < n ? at + block : n;
    while (at + 1 < end && g[at] + cost[at] != best) ++at;
    return {best, at};
}

// The gain of a step with partner j, see below
template <class T>
struct Gain {
    T slope, diagonal_i, flat;

    HSS_INLINE void of(T value, T k, T diagonal_j, T& gain, T& most, T& high) const {
        const T rise = value - slope;
        const T total = diagonal_i + diagonal_j, curvature = total - 2 * k;
        const T safe = curvature > flat * total ? curvature : flat * total;
        gain = rise > 0 ? rise * rise / safe : T(-1);
        most = Maximum<T>::of(gain, most);
        high = Maximum<T>::of(value, high);
    }
};

// With v = g - cost, the j with the largest gain (v[j] - slope)^2 / |x_i - x_j|^2 among those with
// v[j] > slope; largest: the largest v.
template <class T>
HSS_INLINE Best<T> select_partner_body(const T* g, const T* cost, const T* row, const T* diagonal,
                                       Index n, T slope, T diagonal_i, T flat, T* largest) {
    const Gain<T> gain_of{slope, diagonal_i, flat};
    T gains[2][block], best = -1, top = -huge<T>();
    T *gain = gains[0], *best_gain = gains[1];
    Index at = 0;
    for (Index begin = 0; begin < n; begin += block) {
        const Index end = begin + block < n ? begin + block : n;
        T most[lanes], high[lanes];
        for (Index l = 0; l < lanes; ++l) most[l] = -1, high[l] = -huge<T>();
        Index j = begin;
        for (; j + lanes <= end; j += lanes) {
            HSS_SIMD()
            for (Index l = 0; l < lanes; ++l)
                gain_of.of(g[j + l] - cost[j + l], row[j + l], diagonal[j + l], gain[j + l - begin],
                           most[l], high[l]);
        }
        for (; j < end; ++j)
            gain_of.of(g[j] - cost[j], row[j], diagonal[j], gain[j - begin], most[0], high[0]);
        fold<Maximum<T>>(most);
        fold<Maximum<T>>(high);
        if (most[0] > best) {
            best = most[0];
            at = begin;
            std::swap(gain, best_gain);
        }
        top = Maximum<T>::of(high[0], top);
    }
    *largest = top;
    for (Index j = 0; best > -1 && j + 1 < block && at + 1 < n && best_gain[j] != best; ++j) ++at;
    return {best, at};
}
#define HSS_SMO(T)                                                                            \
    HSS_CLONES(Best<T>, update_gradient,                                                      \
               (T * g, const T* a, const T* b, T step, const T* cost, Index n),               \
               update_gradient_body, (g, a, b, step, cost, n))                                \
    HSS_CLONES(Best<T>, select_partner,                                                       \
               (const T* g, const T* cost, const T* row, const T* diagonal, Index n, T slope, \
                T diagonal_i, T flat, T* largest),                                            \
               select_partner_body, (g, cost, row, diagonal, n, slope, diagonal_i, flat, largest))
HSS_SMO(double)
HSS_SMO(float)
#undef HSS_SMO

}  // namespace svm::simd
