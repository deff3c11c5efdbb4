// Classification problems on few rows each, such as those of pairs of classes, side by side.
#pragma once
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "hss/parallel.hpp"
#include "small.hpp"

namespace svm {

// Problem c has the rows[offsets[c] : offsets[c + 1]] of X, and the same slice of bound, z and F.
// The sign of a bound is the label, its absolute value the cost. F = Kz and the other arrays
// receive results.
template <class T>
struct Pairs {
    Index n_pairs;
    const Index *offsets, *rows;
    const T* bound;
    T *z, *F;
    double *primal, *dual, *intercept;
    Index* steps;
};

// The b with the smallest sum of hinge losses, or the middle of all such b; see problems.quantile.
template <class T>
double best_intercept(const SmallProblem<T>& problem) {
    const double rtol = std::max<double>(1e-12, 4 * std::numeric_limits<T>::epsilon());
    std::vector<std::pair<double, double>> points;
    double mass = 0, sum = 0;
    for (Index i = 0; i < problem.n; ++i) {
        const double cost = static_cast<double>(problem.upper[i]) - problem.lower[i];
        if (!std::isfinite(problem.F[i])) return 0;  // the kernel overflows
        if (cost > 0) points.emplace_back(problem.linear[i] - problem.F[i], cost);
        mass += problem.upper[i];
    }
    if (points.empty()) return 0;
    std::sort(points.begin(), points.end());
    const double least = mass * (1 - rtol), most = mass * (1 + rtol);
    double left = points.back().first, right = left;
    bool reached = false;
    for (const auto& [point, cost] : points) {
        sum += cost;
        if (!reached && sum >= least) {
            left = point;
            reached = true;
        }
        if (sum > most) {
            right = point;
            break;
        }
    }
    return (left + right) / 2;
}

template <class T>
void solve_pairs(const hss::Kernel& kernel, const hss::DenseRows<T>& X, const Pairs<T>& pairs,
                 double tol, Index max_steps, Watch& watch) {
    watched_for(pairs.n_pairs, watch, [&](Index c) {
        const Index begin = pairs.offsets[c], q = pairs.offsets[c + 1] - begin;
        std::vector<T> own(static_cast<std::size_t>(q * X.p)), linear(q), lower(q), upper(q);
        std::vector<double> F(q);
        for (Index i = 0; i < q; ++i) {
            std::copy_n(X.data + pairs.rows[begin + i] * X.p, X.p, own.data() + i * X.p);
            const T bound = pairs.bound[begin + i];
            linear[i] = static_cast<T>((bound > 0) - (bound < 0));
            lower[i] = std::min(bound, T(0));
            upper[i] = std::max(bound, T(0));
        }
        KernelRows<T> K(kernel, hss::DenseRows<T>{own.data(), q, X.p});
        const SmallProblem<T> problem{q,   linear.data(),   lower.data(), upper.data(),
                                      0.0, pairs.z + begin, F.data()};
        pairs.steps[c] = solve_small<T>(K, problem, tol, max_steps, watch).steps;
        std::copy(F.begin(), F.end(), pairs.F + begin);
        pairs.intercept[c] = best_intercept(problem);
        const Objective values = objective(problem, pairs.intercept[c]);
        pairs.dual[c] = values.dual;
        pairs.primal[c] = values.dual + values.gap;
    });
}

}  // namespace svm
