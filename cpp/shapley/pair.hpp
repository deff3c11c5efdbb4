// The values of one row x and one background row z, for eight support vectors.
//
// All products over the features but one come from the products before and after it: three
// multiplications per feature and node, and no division, so that factors that underflow do no harm.
#pragma once
#include <algorithm>

#include "shapley/lanes.hpp"
#include "shapley/rules.hpp"

namespace shapley {

// a, b : (n_features, lanes), factors of x and of z
// features : (d,), those whose factors differ
// coefficients : (k, lanes), of the support vectors
// common : (lanes,), weight of z, times the product of all other factors
// before : (d, nodes, lanes), scratch
// values : (k, n_features, lanes), to which the values are added
struct Pair {
    const double *a, *b;
    const Index* features;
    Index d, n_features;
    const double *coefficients, *common;
    Index k;
    double *before, *values;
};

constexpr Index most_nodes = 4;  // of a pass

alignas(64) constexpr double ones[n_lanes] = {1, 1, 1, 1, 1, 1, 1, 1};

HSS_INLINE double largest_lane(const Lanes& values) {
    double most = values[0];
    for (Index l = 1; l < n_lanes; ++l) most = values[l] > most ? values[l] : most;
    return most;
}

// P of the ellipses, and prod max(a, b): the largest of the eight support vectors
HSS_INLINE double bounds_of(const Pair& pair, const double* widths, double* products) {
    Lanes largest = lanes(pair.common), product[n_ellipses];
    for (Index e = 0; e < n_ellipses; ++e) product[e] = largest;
    for (Index i = 0; i < pair.d; ++i) {
        const Index at = pair.features[i] * n_lanes;
        const Lanes &a = lanes(pair.a + at), &b = lanes(pair.b + at);
        const Lanes most = SHAPLEY_LARGER(a, b), width = most + most - a - b;  // |a - b|
        largest = largest * most;
        for (Index e = 0; e < n_ellipses; ++e) product[e] = product[e] * (most + width * widths[e]);
    }
    for (Index e = 0; e < n_ellipses; ++e) products[e] = largest_lane(product[e]);
    return largest_lane(largest);
}

// Adds the part of N nodes, which are computed together to keep the units of the CPU busy.
template <Index N>
HSS_INLINE void add_nodes(const Pair& pair, const double* nodes, const double* weights) {
    Lanes product[N];
    for (Index n = 0; n < N; ++n) product[n] = lanes(pair.common) * weights[n];
    double* before = pair.before;
    for (Index i = 0; i < pair.d; ++i, before += N * n_lanes) {
        const Index at = pair.features[i] * n_lanes;
        const Lanes b = lanes(pair.b + at), change = lanes(pair.a + at) - b;
        for (Index n = 0; n < N; ++n) {
            lanes(before + n * n_lanes) = product[n];
            product[n] = product[n] * (b + change * nodes[n]);
        }
    }
    for (Index n = 0; n < N; ++n) product[n] = lanes(ones);
    for (Index i = pair.d; i-- > 0;) {
        before -= N * n_lanes;
        const Index at = pair.features[i] * n_lanes;
        const Lanes b = lanes(pair.b + at), change = lanes(pair.a + at) - b;
        Lanes others = lanes(before) * product[0];
        for (Index n = 1; n < N; ++n) others = others + lanes(before + n * n_lanes) * product[n];
        for (Index n = 0; n < N; ++n) product[n] = product[n] * (b + change * nodes[n]);
        others = others * change;
        for (Index c = 0; c < pair.k; ++c) {
            Lanes& value = lanes(pair.values + c * pair.n_features * n_lanes + at);
            value = value + others * lanes(pair.coefficients + c * n_lanes);
        }
    }
}

HSS_INLINE void add_pair(const Pair& pair, const Rules& rules, Index exact_rule) {
    Index rule = exact_rule;
    if (rules.size(exact_rule) > most_nodes) {  // else the bounds cost more than they save
        double products[n_ellipses];
        const double largest = bounds_of(pair, rules.widths, products);
        rule = rules.rule_for(largest, products, exact_rule);
        if (rule < 0) return;
    }
    Index n = rules.ends[rule], end = rules.ends[rule + 1];
    while (n < end) {
        const Index left = end - n, now = left == 5 ? 3 : std::min(left, most_nodes);
        const double *nodes = rules.nodes + n, *weights = rules.weights + n;
        switch (now) {
            case 4: add_nodes<4>(pair, nodes, weights); break;
            case 3: add_nodes<3>(pair, nodes, weights); break;
            case 2: add_nodes<2>(pair, nodes, weights); break;
            default: add_nodes<1>(pair, nodes, weights);
        }
        n += now;
    }
}

}  // namespace shapley
