// Sequential minimal optimisation on a small dense kernel matrix:
//
//     min 1/2 z'Kz - linear'z   subject to   lower <= z <= upper,  sum z fixed.
//
// A step moves weight from one variable to another: z_i += d, z_j -= d, with i where the gradient g =
// Kz - linear falls most steeply and j the partner that gains most (second-order choice of Fan, Chen and
// Lin, 2005). Coefficients carry their signs, so labels never appear.
#pragma once
#include <algorithm>
#include <vector>

#include "simd.hpp"
#include "view.hpp"

namespace hss {

template <class T>
struct Smo {
    Index q;
    const T *K, *lower, *upper;
    T *z, *g;
    std::vector<T> diagonal, no_rise, no_fall, gain;  // no_*: 0 where z may move that way, else huge

    Smo(Index q, const T* K, const T* lower, const T* upper, T* z, T* g)
        : q(q), K(K), lower(lower), upper(upper), z(z), g(g), diagonal(q), no_rise(q), no_fall(q), gain(q) {
        for (Index i = 0; i < q; ++i) {
            diagonal[i] = K[i * q + i];
            mark(i);
        }
    }

    void mark(Index i) {
        no_rise[i] = z[i] < upper[i] ? T(0) : simd::huge<T>();
        no_fall[i] = z[i] > lower[i] ? T(0) : simd::huge<T>();
    }

    // At most max_iter steps, until no pair's gradients differ by more than tol. Returns the steps made;
    // fewer than max_iter mean that it is done.
    Index run(T tol, Index max_iter) {
        if (q < 2) return 0;
        const T flat = std::numeric_limits<T>::epsilon();
        Index i = simd::move_pair(g, K, K, T(0), no_rise.data(), q);
        for (Index iteration = 0; iteration < max_iter; ++iteration) {
            const T* row = K + i * q;
            if (no_rise[i] > 0) return iteration;
            T largest;
            const Index j = simd::best_partner(g, no_fall.data(), row, diagonal.data(), q, g[i], diagonal[i],
                                               flat, gain.data(), &largest);
            if (largest - g[i] <= tol) return iteration;
            const T curvature = std::max(diagonal[i] + diagonal[j] - 2 * row[j], flat * (diagonal[i] + diagonal[j]));
            const T room_i = upper[i] - z[i], room_j = z[j] - lower[j];
            const T step = std::min((g[j] - g[i]) / curvature, std::min(room_i, room_j));
            z[i] = step == room_i ? upper[i] : z[i] + step;
            z[j] = step == room_j ? lower[j] : z[j] - step;
            mark(i);
            mark(j);
            i = simd::move_pair(g, row, K + j * q, step, no_rise.data(), q);
        }
        return max_iter;
    }
};

}  // namespace hss
