// Small problems: SMO on all rows, to a given duality gap.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "smo.hpp"

namespace svm {

// z and F = Kz are updated; the other arrays are as in smo.hpp, with lower <= 0 <= upper. ridge is
// null, or positive.
template <class T>
struct SmallProblem {
    Index n;
    const T *linear, *lower, *upper;
    double l1_weight;
    const T* ridge;
    T* z;
    double* F;

    double ridge_of(Index i) const { return ridge ? ridge[i] : 0.0; }
};

struct SmallResult {
    Index steps;
    double gap;
};

// F = Kz in double, as the gradient of SMO collects rounding errors.
template <class T, class Matrix>
void update_values(Matrix& K, const SmallProblem<T>& problem) {
    std::fill_n(problem.F, problem.n, 0.0);
    for (Index i = 0; i < problem.n; ++i) {
        const double z = problem.z[i];
        if (z == 0) continue;
        const T* row = K.row(i);
        for (Index j = 0; j < problem.n; ++j) problem.F[j] += z * row[j];
    }
}

struct Objective {
    double dual, gap;

    double relative_gap() const {
        const double size = std::max(std::abs(dual), std::abs(dual + gap));
        return size > 0 ? gap / size : gap;
    }
};

// The largest value of slope z - ridge z^2 / 2 for z between 0 and bound.
inline double largest_gain(double slope, double bound, double ridge) {
    const double z = ridge > 0 ? std::clamp(slope / ridge, 0.0, bound) : bound;
    return z * (slope - ridge * z / 2);
}

// The dual objective, and the duality gap with intercept b. The loss of a row is the largest value
// that its coefficient could add to the dual.
template <class T>
Objective objective(const SmallProblem<T>& problem, double b) {
    Objective sums{0, 0};
    const double l1 = problem.l1_weight;
    for (Index i = 0; i < problem.n; ++i) {
        const double z = problem.z[i], f = problem.F[i], slope = f + b - problem.linear[i];
        const double ridge = problem.ridge_of(i), penalty = l1 * std::abs(z) + ridge * z * z / 2;
        const double loss = std::max({0.0, largest_gain(-(slope + l1), problem.upper[i], ridge),
                                      largest_gain(slope - l1, -problem.lower[i], ridge)});
        sums.gap += z * slope + penalty + loss;
        sums.dual += z * (problem.linear[i] - f / 2) - penalty;
    }
    return sums;
}

// The unit of violations: half the range of the linear term, 1 for two classes
template <class T>
double size_of_targets(const SmallProblem<T>& problem) {
    const auto [lowest, highest] = std::minmax_element(problem.linear, problem.linear + problem.n);
    const double half = problem.n > 0 ? (static_cast<double>(*highest) - *lowest) / 2 : 0;
    return half > 0 ? half : 1;
}

// Steps until the gap is at most tol, rounding errors prevent it, max_steps are made, or the watch
// says stop. The gradient of SMO is accurate enough to see that the gap is larger than tol. Before
// anything else is decided, and after a few steps per row, which take longer, it is computed anew.
template <class T, class Matrix>
SmallResult solve_small(Matrix& K, const SmallProblem<T>& problem, double tol, Index max_steps,
                        Watch& watch) {
    const double unit = size_of_targets(problem);
    const double first_violation = std::max(2e-3, 10 * tol) * unit;
    const double eps = std::numeric_limits<T>::epsilon();
    const Index between = 1000 + 4 * problem.n;
    const int patience = 10;  // checks without a better dual objective before giving up
    std::vector<T> g(static_cast<std::size_t>(problem.n));
    Smo<T, Matrix> smo(problem.n, K, problem.lower, problem.upper,
                       static_cast<T>(problem.l1_weight), problem.ridge, problem.z, g.data());
    SmallResult result{0, 0};
    double violation = first_violation, best = -std::numeric_limits<double>::infinity();
    int since_best = 0;
    const auto decrease_violation = [&](double gap) {  // they are nearly proportional
        violation *= std::clamp(0.7 * tol / gap, 0.02, 0.5);
    };
    update_values(K, problem);
    for (;;) {
        double size = unit;
        for (Index i = 0; i < problem.n; ++i) {
            g[i] = static_cast<T>(problem.F[i] + problem.ridge_of(i) * problem.z[i] -
                                  problem.linear[i]);
            size = std::max(size, std::abs(problem.F[i]));
        }
        const double least = 4 * eps * size;
        violation = std::max(violation, least);
        Index left = std::min(between, max_steps - result.steps);
        bool solved = true, far = true;
        while (solved && far) {
            const Index steps = smo.run(static_cast<T>(violation), left, watch);
            result.steps += steps;
            solved = steps < left;
            left -= steps;
            for (Index i = 0; i < problem.n; ++i)
                problem.F[i] = static_cast<double>(g[i]) + problem.linear[i] -
                               problem.ridge_of(i) * problem.z[i];
            const double gap = objective(problem, smo.intercept()).relative_gap();
            far = gap > tol && violation > least && !watch.stopped();
            if (solved && far) decrease_violation(gap);
            violation = std::max(violation, least);
        }
        update_values(K, problem);
        const Objective now = objective(problem, smo.intercept());
        result.gap = now.relative_gap();
        since_best = now.dual > best + eps * std::abs(best) ? 0 : since_best + 1;
        best = std::max(best, now.dual);
        if (!(result.gap > tol) || result.steps >= max_steps || since_best >= patience ||
            watch.stopped() || (solved && violation <= least))
            return result;
        if (solved) decrease_violation(result.gap);
    }
}

}  // namespace svm
