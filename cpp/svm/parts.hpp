// Problems on few rows each, such as pairs of classes or the cells of a tree, side by side.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "hss/kernel_matrix.hpp"
#include "hss/parallel.hpp"
#include "small.hpp"

namespace svm {

// Part c has the rows[offsets[c] : offsets[c + 1]] of X, and the same rows of ridge, which may be
// null, and of lower, upper, linear, z and F, which are (., k) in C order. z keeps its sum, and
// lower <= z <= upper. F = Kz and the other arrays receive results.
template <class T>
struct Parts {
    Index n_parts, k;
    const Index *offsets, *rows;
    const T *lower, *upper, *linear;
    const double *l1_weight, *tol;  // (k)
    const Index* max_steps;         // (n_parts)
    const T* ridge;
    T *z, *F;
    double *primal, *dual, *intercept;  // (n_parts, k)
    Index* steps;                       // (n_parts, k)
};

// The b with the smallest sum of losses, or the middle of all such b; see
// problems.weighted_quantiles. The loss of a row falls with slope -upper up to one end of its tube,
// and rises with slope -lower from the other.
template <class T>
double best_intercept(const SmallProblem<T>& problem) {
    const double rtol = std::max<double>(1e-12, 4 * std::numeric_limits<T>::epsilon());
    std::vector<std::pair<double, double>> points;
    double mass = 0, sum = 0;
    for (Index i = 0; i < problem.n; ++i) {
        if (!std::isfinite(problem.F[i])) return 0;  // the kernel overflows
        const double middle = problem.linear[i] - problem.F[i];
        const double upper = problem.upper[i], lower = problem.lower[i];
        if (upper > 0) points.emplace_back(middle - problem.l1_weight, upper);
        if (lower < 0) points.emplace_back(middle + problem.l1_weight, -lower);
        mass += upper - problem.z[i];
    }
    if (points.empty()) return 0;
    std::sort(points.begin(), points.end());
    const double least = mass * (1 - rtol), most = mass * (1 + rtol);
    double left = points.back().first, right = left;
    bool reached = false;
    for (const auto& [point, weight] : points) {
        sum += weight;
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

// The same with a ridge: the b at which the best coefficients have the sum of z. Their sum is
// piecewise linear and falls with b, so Newton's method within a bracket finds it.
template <class T>
double best_smooth_intercept(const SmallProblem<T>& problem) {
    const double l1 = problem.l1_weight;
    double b = 0, low = -std::numeric_limits<double>::infinity(), high = -low, step = 1, total = 0;
    for (Index i = 0; i < problem.n; ++i) {
        if (!std::isfinite(problem.F[i])) return 0;  // the kernel overflows
        total += problem.z[i];
    }
    for (int iteration = 0; iteration < 100; ++iteration) {
        double excess = -total, size = 0, slope = 0;
        for (Index i = 0; i < problem.n; ++i) {
            const double t = problem.linear[i] - problem.F[i] - b, ridge = problem.ridge_of(i);
            const double z = (t > 0 ? std::max(0.0, t - l1) : std::min(0.0, t + l1)) / ridge;
            const double best = std::clamp<double>(z, problem.lower[i], problem.upper[i]);
            excess += best;
            size += std::abs(best);
            if (best == z && z != 0) slope += 1 / ridge;
        }
        if (std::abs(excess) <= 1e-12 * size) break;
        (excess > 0 ? low : high) = b;
        const double newton = b + excess / slope, middle = (low + high) / 2;
        const double outward = excess > 0 ? b + step : b - step;
        step *= 4;
        const bool bracketed = std::isfinite(low) && std::isfinite(high);
        b = newton > low && newton < high ? newton : bracketed ? middle : outward;
    }
    return b;
}

// The kernel matrix of dense rows, which are copied to lie side by side.
template <class T>
class OwnKernelRows {
    std::vector<T> own;
    KernelRows<T> K;

    static std::vector<T> gather(const hss::DenseRows<T>& X, const Index* rows, Index q) {
        std::vector<T> own(static_cast<std::size_t>(q * X.p));
        for (Index i = 0; i < q; ++i) std::copy_n(X.data + rows[i] * X.p, X.p, &own[i * X.p]);
        return own;
    }

  public:
    OwnKernelRows(const hss::Kernel& kernel, const hss::DenseRows<T>& X, const Index* rows, Index q,
                  hss::Buffer<T>& buffer)
        : own(gather(X, rows, q)), K(kernel, hss::DenseRows<T>{own.data(), q, X.p}, buffer) {}
    const T* row(Index i) { return K.row(i); }
    T diagonal(Index i) const { return K.diagonal(i); }
};

// The kernel matrix of any rows; a few rows are computed together, when one is first needed, so
// that a solver that should stop need not wait for the others.
template <class T>
class AnyKernelRows {
    static constexpr Index together = 64, tile = 16;
    const hss::KernelMatrix& matrix;
    const Index* const rows;
    const Index q;
    T* const values;
    std::vector<T> strip;  // (together, q), column by column
    std::vector<char> known;

  public:
    AnyKernelRows(const hss::KernelMatrix& matrix, const Index* rows, Index q,
                  hss::Buffer<T>& buffer)
        : matrix(matrix), rows(rows), q(q), values(buffer.take(q * q)),
          strip(static_cast<std::size_t>(std::min(q, together) * q)),
          known(static_cast<std::size_t>((q + together - 1) / together), 0) {}
    const T* row(Index i) {
        if (!known[i / together]) compute(i / together * together);
        known[i / together] = 1;
        return values + i * q;
    }
    T diagonal(Index i) const {
        T value;
        matrix.block(rows + i, 1, rows + i, 1, hss::View<T>(&value, 1, 1));
        return value;
    }

  private:
    void compute(Index first) {
        const Index width = std::min(together, q - first);
        const hss::View<T> block(strip.data(), width, q);
        matrix.block(rows + first, width, rows, q, block);
        for (Index begin = 0; begin < q; begin += tile)
            for (Index i = 0; i < width; ++i)
                for (Index j = begin; j < std::min(q, begin + tile); ++j)
                    values[(first + i) * q + j] = block(i, j);
    }
};

// The kernel matrix of a part that is only evaluated, at z = 0.
template <class T>
struct NoKernelRows {
    const T* row(Index) const { return nullptr; }
    T diagonal(Index) const { return T(1); }
};

template <class T>
bool starts_at_zero(const Parts<T>& parts, Index c) {
    const T* first = parts.z + parts.offsets[c] * parts.k;
    const T* last = parts.z + parts.offsets[c + 1] * parts.k;
    return std::all_of(first, last, [](T z) { return z == 0; });
}

// Solves the columns of part c one after the other; they share its kernel values.
template <class T, class Matrix>
void solve_part(Matrix& K, const Parts<T>& parts, Index c, Watch& watch) {
    const Index begin = parts.offsets[c], q = parts.offsets[c + 1] - begin, k = parts.k;
    std::vector<T> linear(q), lower(q), upper(q), z(q);
    const T* ridge = parts.ridge ? parts.ridge + begin : nullptr;
    std::vector<double> F(q);
    for (Index j = 0; j < k; ++j) {
        for (Index i = 0; i < q; ++i) {
            const Index at = (begin + i) * k + j;
            linear[i] = parts.linear[at];
            lower[i] = parts.lower[at];
            upper[i] = parts.upper[at];
            z[i] = parts.z[at];
        }
        const SmallProblem<T> problem{
            q,     linear.data(), lower.data(), upper.data(), parts.l1_weight[j],
            ridge, z.data(),      F.data()};
        const Index column = c * k + j;
        parts.steps[column] =
            solve_small<T>(K, problem, parts.tol[j], parts.max_steps[c], watch).steps;
        for (Index i = 0; i < q; ++i) {
            parts.z[(begin + i) * k + j] = z[i];
            parts.F[(begin + i) * k + j] = static_cast<T>(F[i]);
        }
        parts.intercept[column] = ridge ? best_smooth_intercept(problem) : best_intercept(problem);
        const Objective values = objective(problem, parts.intercept[column]);
        parts.dual[column] = values.dual;
        parts.primal[column] = values.dual + values.gap;
    }
}

// make(rows, q, buffer) returns the kernel matrix of a part, in a thread's buffer.
template <class T, class Make>
void solve_parts(Make&& make, const Parts<T>& parts, Watch& watch) {
    std::vector<hss::Buffer<T>> buffers(static_cast<std::size_t>(hss::thread_count()));
    watched_for(parts.n_parts, watch, [&](Index c) {
        if ((watch.stopped() || parts.max_steps[c] == 0) && starts_at_zero(parts, c)) {
            NoKernelRows<T> K;
            return solve_part<T>(K, parts, c, watch);
        }
        const Index begin = parts.offsets[c];
        auto K = make(parts.rows + begin, parts.offsets[c + 1] - begin, buffers[hss::thread_num()]);
        solve_part<T>(K, parts, c, watch);
    });
}

}  // namespace svm
