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

// g += step (a - b); the i with the smallest g[i] + cost[i]
template <class T>
HSS_INLINE Best<T> update_gradient_body(T* g, const T* a, const T* b, T step, const T* cost,
                                        Index n) {
    T best = huge<T>() * 2;
    Index at = 0;
    for (Index begin = 0; begin < n; begin += block) {
        const Index end = begin + block < n ? begin + block : n;
        T least = huge<T>() * 2;
        HSS_SIMD(reduction(min : least))
        for (Index i = begin; i < end; ++i) {
            g[i] += step * (a[i] - b[i]);
            const T value = g[i] + cost[i];
            least = value < least ? value : least;
        }
        if (least < best) best = least, at = begin;
    }
    const Index end = at + block < n ? at + block : n;
    while (at + 1 < end && g[at] + cost[at] != best) ++at;
    return {best, at};
}

// With v = g - cost, the j with the largest gain (v[j] - slope)^2 / |x_i - x_j|^2 among those with
// v[j] > slope; largest: the largest v.
template <class T>
HSS_INLINE Best<T> select_partner_body(const T* g, const T* cost, const T* row, const T* diagonal,
                                       Index n, T slope, T diagonal_i, T flat, T* largest) {
    T gains[2][block], best = -1, top = -huge<T>();
    T *gain = gains[0], *best_gain = gains[1];
    Index at = 0;
    for (Index begin = 0; begin < n; begin += block) {
        const Index end = begin + block < n ? begin + block : n;
        T most = -1, high = -huge<T>();
        HSS_SIMD(reduction(max : most, high))
        for (Index j = begin; j < end; ++j) {
            const T value = g[j] - cost[j];
            const T rise = value - slope;
            const T total = diagonal_i + diagonal[j], curvature = total - 2 * row[j];
            const T safe = curvature > flat * total ? curvature : flat * total;
            const T gained = rise > 0 ? rise * rise / safe : T(-1);
            gain[j - begin] = gained;
            most = gained > most ? gained : most;
            high = value > high ? value : high;
        }
        if (most > best) {
            best = most;
            at = begin;
            std::swap(gain, best_gain);
        }
        top = high > top ? high : top;
    }
    *largest = top;
    for (Index j = 0; best > -1 && j + 1 < block && at + 1 < n && best_gain[j] != best; ++j) ++at;
    return {best, at};
}
#define HSS_SMO(T)                                                                                 \
    HSS_CLONES inline Best<T> update_gradient(T* g, const T* a, const T* b, T step, const T* cost, \
                                              Index n) {                                           \
        return update_gradient_body(g, a, b, step, cost, n);                                       \
    }                                                                                              \
    HSS_CLONES inline Best<T> select_partner(const T* g, const T* cost, const T* row,              \
                                             const T* diagonal, Index n, T slope, T diagonal_i,    \
                                             T flat, T* largest) {                                 \
        return select_partner_body(g, cost, row, diagonal, n, slope, diagonal_i, flat, largest);   \
    }
HSS_SMO(double)
HSS_SMO(float)
#undef HSS_SMO

}  // namespace svm::simd
