// Interventional Shapley values of f(x) = sum_i W_i k(x, s_i) for a product kernel k.
//
//     phi_j(x) = sum_z w_z sum_i W_i integral_0^1 (a_j - b_j) prod_{l != j} (t a_l + (1 - t) b_l)
//     dt
//
// with a_l = k_l(x_l, s_il) and b_l = k_l(z_l, s_il). The factors of the background rows z are
// computed once for a block of support vectors and used by all rows x. Threads share the rows. The
// sums do not depend on the number of threads.
#pragma once
#include <algorithm>
#include <vector>

#include "hss/parallel.hpp"
#include "shapley/factors.hpp"
#include "shapley/pair.hpp"
#include "shapley/rules.hpp"

namespace shapley {

constexpr Index block_numbers = Index(1) << 16;  // of the background factors: 512 kB
constexpr Index tile_rows = 16;

// support : (n, p), W : (n, k), X : (m, p), background : (n_background, p)
struct Problem {
    const double *support, *W;
    Index n, k;
    const double* X;
    Index m;
    const double *background, *background_weight;
    Index n_background;
};

// base[c] += sum of coefficients[c] times the product of the factors b, times a weight
HSS_INLINE void add_base_body(const double* b, Index p, double weight, const double* coefficients,
                              Index k, double* base) {
    Lanes product = lanes(ones) * weight;
    for (Index j = 0; j < p; ++j) product = product * lanes(b + j * n_lanes);
    for (Index c = 0; c < k; ++c) {
        const Lanes terms = product * lanes(coefficients + c * n_lanes);
        for (Index l = 0; l < n_lanes; ++l) base[c] += terms[l];
    }
}
HSS_CLONES(void, add_base,
           (const double* b, Index p, double weight, const double* coefficients, Index k,
            double* base),
           add_base_body, (b, p, weight, coefficients, k, base))

// A block of support vectors, in groups of eight; the last group is filled up with coefficients 0.
class Block {
    const Problem& problem_;
    const Terms& terms_;
    LaneBuffer support_buffer_, coefficient_buffer_, factor_buffer_;
    double *support_, *coefficients_, *factors_;

  public:
    Index n_groups = 0;

    Block(const Problem& problem, const Terms& terms) : problem_(problem), terms_(terms) {}

    // Takes the support vectors begin .. end, and computes their factors with the background.
    void fill(Index begin, Index end) {
        const Index p = terms_.n_features, k = problem_.k;
        n_groups = (end - begin + n_lanes - 1) / n_lanes;
        support_ = support_buffer_.take(n_groups * p * n_lanes);
        coefficients_ = coefficient_buffer_.take(n_groups * k * n_lanes);
        factors_ = factor_buffer_.take(n_groups * problem_.n_background * p * n_lanes);
        hss::parallel_for(n_groups, [&](Index g) {
            for (Index l = 0; l < n_lanes; ++l) {
                const Index i = begin + g * n_lanes + l, row = std::min(i, end - 1);
                for (Index j = 0; j < p; ++j)
                    support_[(g * p + j) * n_lanes + l] = problem_.support[row * p + j];
                for (Index c = 0; c < k; ++c)
                    coefficients_[(g * k + c) * n_lanes + l] =
                        i < end ? problem_.W[row * k + c] : 0.0;
            }
            for (Index z = 0; z < problem_.n_background; ++z)
                factors(terms_, problem_.background + z * p, support(g), factors_of(g, z));
        });
    }

    const double* support(Index g) const { return support_ + g * terms_.n_features * n_lanes; }
    const double* coefficients(Index g) const { return coefficients_ + g * problem_.k * n_lanes; }
    double* factors_of(Index g, Index z) const {
        return factors_ + (g * problem_.n_background + z) * terms_.n_features * n_lanes;
    }

    // base[c] += sum_z w_z f_c(z)
    void add_to(double* base) const {
        for (Index g = 0; g < n_groups; ++g)
            for (Index z = 0; z < problem_.n_background; ++z)
                add_base(factors_of(g, z), terms_.n_features, problem_.background_weight[z],
                         coefficients(g), problem_.k, base);
    }
};

// The features in which a row differs from each background row, and the others
struct Differences {
    std::vector<Index> features, ends, same, same_ends, exact_rule;

    void find(const double* x, const Problem& problem, Index p, const Rules& rules) {
        features.clear(), same.clear(), exact_rule.clear();
        ends.assign(1, 0), same_ends.assign(1, 0);
        for (Index z = 0; z < problem.n_background; ++z) {
            const double* row = problem.background + z * p;
            for (Index j = 0; j < p; ++j) (x[j] == row[j] ? same : features).push_back(j);
            const Index end = static_cast<Index>(features.size());
            exact_rule.push_back(rules.exact_rule(end - ends.back()));
            ends.push_back(end), same_ends.push_back(static_cast<Index>(same.size()));
        }
    }
};

// Adds the part of eight support vectors to the values (k, p, lanes) of a row, for all background
// rows. a and before are scratch.
HSS_INLINE void add_row_body(const Problem& problem, const Terms& terms, const Rules& rules,
                             const double* support, const double* coefficients, const double* b,
                             const double* x, const Differences& differences, double* a,
                             double* before, double* values) {
    const Index p = terms.n_features;
    factors_body(terms, x, support, a);
    for (Index z = 0; z < problem.n_background; ++z, b += p * n_lanes) {
        const Index begin = differences.ends[z], d = differences.ends[z + 1] - begin;
        if (d == 0) continue;
        alignas(64) double common[n_lanes];
        Lanes product = lanes(ones) * problem.background_weight[z];
        for (Index i = differences.same_ends[z]; i < differences.same_ends[z + 1]; ++i)
            product = product * lanes(a + differences.same[i] * n_lanes);
        lanes(common) = product;
        add_pair({a, b, differences.features.data() + begin, d, p, coefficients, common, problem.k,
                  before, values},
                 rules, differences.exact_rule[z]);
    }
}
HSS_CLONES(void, add_row,
           (const Problem& problem, const Terms& terms, const Rules& rules, const double* support,
            const double* coefficients, const double* b, const double* x,
            const Differences& differences, double* a, double* before, double* values),
           add_row_body,
           (problem, terms, rules, support, coefficients, b, x, differences, a, before, values))

// values (m, k, p) and base (k,): sum_z w_z f(z)
inline void shapley_values(const Problem& problem, const Terms& terms, const Rules& rules,
                           double* values, double* base) {
    const Index p = terms.n_features, k = problem.k, m = problem.m;
    std::fill_n(values, m * k * p, 0.0);
    std::fill_n(base, k, 0.0);
    const Index per_group = std::max<Index>(1, problem.n_background * p * n_lanes);
    const Index block_size = std::max<Index>(1, block_numbers / per_group) * n_lanes;
    Block block(problem, terms);
    for (Index begin = 0; begin < problem.n; begin += block_size) {
        block.fill(begin, std::min(problem.n, begin + block_size));
        block.add_to(base);
        hss::parallel_for((m + tile_rows - 1) / tile_rows, [&](Index tile) {
            static thread_local LaneBuffer a_buffer, before_buffer, value_buffer;
            static thread_local Differences differences[tile_rows];
            const Index first = tile * tile_rows, n_rows = std::min(tile_rows, m - first);
            double* a = a_buffer.take(p * n_lanes);
            double* before = before_buffer.take(p * most_nodes * n_lanes);
            double* sums = value_buffer.take(n_rows * k * p * n_lanes);
            std::fill_n(sums, n_rows * k * p * n_lanes, 0.0);
            for (Index i = 0; i < n_rows; ++i)
                differences[i].find(problem.X + (first + i) * p, problem, p, rules);
            for (Index g = 0; g < block.n_groups; ++g)
                for (Index i = 0; i < n_rows; ++i)
                    add_row(problem, terms, rules, block.support(g), block.coefficients(g),
                            block.factors_of(g, 0), problem.X + (first + i) * p, differences[i], a,
                            before, sums + i * k * p * n_lanes);
            for (Index i = 0; i < n_rows * k * p; ++i)
                for (Index l = 0; l < n_lanes; ++l)
                    values[first * k * p + i] += sums[i * n_lanes + l];
        });
    }
}

}  // namespace shapley
