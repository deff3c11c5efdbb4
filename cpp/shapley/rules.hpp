// Gauss-Legendre rules on [0, 1], and which of them is accurate enough.
//
// For a row x, a background row z and a support vector with coefficient alpha, value j is alpha
// times the integral over [0, 1] of the polynomial
//
//     f_j(t) = (a_j - b_j) prod_{l != j} (t a_l + (1 - t) b_l)
//
// of degree d - 1, if d factors differ: ceil(d / 2) nodes are exact. Fewer are accurate to a
// tolerance by a bound on the ellipse with foci 0 and 1 whose semi-axes have the sum rho / 2.
// There,
//
//     |t a + (1 - t) b| <= max(a, b) + h |a - b|,    h = ((rho + 1 / rho) / 2 - 1) / 2,
//
// so that |f_j| is at most P = prod_l (max(a_l, b_l) + h |a_l - b_l|), and n nodes have an error of
// at most
//
//     8/3 P rho^(-2 n) / (1 - rho^-2)
//
// (Chebyshev coefficients beyond degree 2 n - 1 are at most 2 P rho^-k, and the rule is wrong by at
// most 4/3 for each polynomial of even degree). Two ellipses are tried, as the best one depends on
// the factors. All values are at most prod_l max(a_l, b_l).
#pragma once
#include <algorithm>

#include "shapley/lanes.hpp"

namespace shapley {

constexpr Index n_ellipses = 2;

struct Rules {
    Index n_rules;      // with more and more nodes
    const Index* ends;  // nodes of rule r: ends[r] .. ends[r + 1]
    const double *nodes, *weights;
    const double* widths;  // (n_ellipses,): h
    const double* limits;  // (n_rules, n_ellipses): largest P for which a rule is accurate enough
    double negligible;     // values of at most this need no nodes

    Index size(Index rule) const { return ends[rule + 1] - ends[rule]; }

    // The first rule that is exact for d factors that differ, or the last one
    Index exact_rule(Index d) const {
        Index rule = 0;
        while (rule + 1 < n_rules && 2 * size(rule) < d) ++rule;
        return rule;
    }

    // The first rule for values of at most `largest` and products P, or -1 if none is needed
    Index rule_for(double largest, const double* products, Index exact) const {
        if (largest <= negligible) return -1;
        for (Index rule = 0; rule < exact; ++rule)
            for (Index e = 0; e < n_ellipses; ++e)
                if (products[e] <= limits[rule * n_ellipses + e]) return rule;
        return exact;
    }
};

}  // namespace shapley
