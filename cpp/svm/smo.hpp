// Sequential minimal optimization on a dense kernel matrix:
//
//     min 1/2 z'(K + diag(ridge))z - linear'z + l1_weight |z|_1
//     subject to   lower <= z <= upper,  sum z fixed.
//
// A step moves weight from one variable to another: z_i += d, z_j -= d, with i where the gradient
// g = (K + diag(ridge))z - linear falls most steeply and j the partner that gains most (the
// second-order choice of Fan, Chen and Lin, 2005). Coefficients carry their signs, so labels never
// appear. The l1 term adds to or subtracts from the slope, depending on the sign of z, and no step
// crosses 0.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "hss/parallel.hpp"
#include "hss/view.hpp"
#include "kernel_rows.hpp"
#include "smo_simd.hpp"
#include "team.hpp"
#include "watch.hpp"

namespace svm {

using hss::parallel_for;

// The variables of a part of a loop that threads share: the arrays of a part fill a first-level
// cache.
constexpr Index rows_per_part = 2048;

// The variables of the steps between two looks at the clock, so that a look costs little.
constexpr Index rows_per_look = 1024;

// Matrix has K.row(i) and K.diagonal(i).
template <class T, class Matrix>
class Smo {
    static constexpr T flat = std::numeric_limits<T>::epsilon();

    const Index q;
    Matrix& K;
    const T *const lower, *const upper;
    const T l1_weight;
    const T* const ridge;  // may be null
    T *const z, *const g;
    std::vector<T> diagonal;
    // Slope of the l1 term for a step up and for a step down; huge where z is at that bound.
    std::vector<T> rise_cost, fall_cost;
    double drift = 0;  // change of sum z by rounding errors
    // The loops over all variables run in parts, side by side.
    struct alignas(64) Part {
        simd::Best<T> best;
        T largest;
    };
    const Index part_size;
    std::vector<Part> parts;
    Team team;

    Index size(Index c) const { return std::min(part_size, q - c * part_size); }

    // g += step (a - b); returns the i with the smallest slope of a step up.
    Index update_gradient(const T* a, const T* b, T step) {
        team.each([&](Index c) {
            const Index k = c * part_size;
            parts[c].best =
                simd::update_gradient(g + k, a + k, b + k, step, rise_cost.data() + k, size(c));
        });
        return best_part([](T value, T best) { return value < best; });
    }
    // The j that gains most in a step with i; largest: the largest slope of a step down.
    Index select_partner(Index i, const T* row, T slope, T* largest) {
        team.each([&](Index c) {
            const Index k = c * part_size;
            parts[c].best =
                simd::select_partner(g + k, fall_cost.data() + k, row + k, diagonal.data() + k,
                                     size(c), slope, diagonal[i], flat, &parts[c].largest);
        });
        *largest = parts[0].largest;
        for (const Part& part : parts) *largest = std::max(*largest, part.largest);
        return best_part([](T value, T best) { return value > best; });
    }
    template <class Better>
    Index best_part(Better&& better) const {
        std::size_t at = 0;
        for (std::size_t c = 1; c < parts.size(); ++c)
            if (better(parts[c].best.value, parts[at].best.value)) at = c;
        return static_cast<Index>(at) * part_size + parts[at].best.at;
    }

    // Moves weight between i and its best partner, and replaces i by the next one; false if there
    // is no pair left.
    bool step(Index& i, T tol) {
        if (!(z[i] < upper[i])) return false;
        const T* row = K.row(i);
        const T slope = g[i] + rise_cost[i];
        T largest;
        const Index j = select_partner(i, row, slope, &largest);
        if (!(largest - slope > tol)) return false;
        const T total = diagonal[i] + diagonal[j];
        const T curvature = std::max(total - 2 * row[j], flat * total);
        const T top = end_up(i), bottom = end_down(j);
        const T room_i = top - z[i], room_j = z[j] - bottom;
        const T length =
            std::min((g[j] - fall_cost[j] - slope) / curvature, std::min(room_i, room_j));
        const double before = static_cast<double>(z[i]) + z[j];
        z[i] = length == room_i ? top : z[i] + length;
        z[j] = length == room_j ? bottom : z[j] - length;
        drift += static_cast<double>(z[i]) + z[j] - before;
        update_costs(i);
        update_costs(j);
        if (ridge) {
            g[i] += length * ridge[i];
            g[j] -= length * ridge[j];
        }
        i = update_gradient(row, K.row(j), length);
        return true;
    }

    // Takes the drift from the variable that is farthest from its bounds and 0.
    void restore_sum() {
        T room = static_cast<T>(std::abs(drift));
        Index at = q;
        for (Index i = 0; i < q; ++i) {
            const T own = std::min({upper[i] - z[i], z[i] - lower[i], std::abs(z[i])});
            if (own > room) {
                room = own;
                at = i;
            }
        }
        if (at == q || drift == 0) return;
        const T before = z[at];
        z[at] = static_cast<T>(before - drift);
        const T* row = K.row(at);
        for (Index k = 0; k < q; ++k) g[k] += (z[at] - before) * row[k];
        if (ridge) g[at] += (z[at] - before) * ridge[at];
        drift = 0;
    }

    void update_costs(Index i) {
        rise_cost[i] = z[i] < upper[i] ? (z[i] >= 0 ? l1_weight : -l1_weight) : simd::huge<T>();
        fall_cost[i] = z[i] > lower[i] ? (z[i] <= 0 ? l1_weight : -l1_weight) : simd::huge<T>();
    }
    // The farthest point that a step up or down from z may reach.
    T end_up(Index i) const { return z[i] < 0 && upper[i] > 0 ? T(0) : upper[i]; }
    T end_down(Index i) const { return z[i] > 0 && lower[i] < 0 ? T(0) : lower[i]; }

  public:
    // K is q x q; z and g are updated in place. Results do not depend on the number of threads.
    Smo(Index q, Matrix& K, const T* lower, const T* upper, T l1_weight, const T* ridge, T* z, T* g,
        int n_threads = 1)
        : q(q), K(K), lower(lower), upper(upper), l1_weight(l1_weight), ridge(ridge), z(z), g(g),
          diagonal(q), rise_cost(q), fall_cost(q),
          part_size(n_threads > 1 ? rows_per_part : std::max<Index>(q, 1)),
          parts(static_cast<std::size_t>((q + part_size - 1) / part_size)),
          team(n_threads, static_cast<Index>(parts.size())) {
        for (Index i = 0; i < q; ++i) {
            diagonal[i] = K.diagonal(i);
            if (ridge) diagonal[i] += ridge[i];
            update_costs(i);
        }
    }

    // Stops when the gradients of no pair differ by more than tol, after max_steps, or if the watch
    // says so. Returns the number of steps.
    Index run(T tol, Index max_steps, Watch& watch) {
        if (q < 2) return 0;
        const Index between = std::max<Index>(1, rows_per_look / q);
        Index steps = 0;
        team.run([&] {
            Index i = update_gradient(z, z, T(0));
            while (steps < max_steps && !(steps % between == 0 && watch.stopped()) && step(i, tol))
                ++steps;
        });
        restore_sum();
        return steps;
    }

    // An intercept between those that the gradients of the steepest rise and fall ask for.
    double intercept() const {
        double rise = simd::huge<T>(), fall = -simd::huge<T>();
        for (Index i = 0; i < q; ++i) {
            rise = std::min<double>(rise, g[i] + rise_cost[i]);
            fall = std::max<double>(fall, g[i] - fall_cost[i]);
        }
        const bool can_rise = rise<simd::huge<T>() / 2, can_fall = fall> - simd::huge<T>() / 2;
        if (can_rise && can_fall) return -(rise + fall) / 2;
        return can_rise ? -rise : can_fall ? -fall : 0.0;
    }
};

// Sets rows and columns `at` of a symmetric matrix K, with leading dimension ld, from the m x q
// block K[at, :q].
template <class T>
void set_symmetric(const T* block, Index m, Index q, const Index* at, T* K, Index ld) {
    const Index tile = 64;  // keeps both sides in the cache: the transposed one is read by columns
    std::vector<char> is_row(static_cast<std::size_t>(q), 0);  // these rows are complete
    for (Index i = 0; i < m; ++i) is_row[at[i]] = 1;
    parallel_for((q + tile - 1) / tile, [&](Index t) {
        const Index begin = t * tile, end = std::min(q, begin + tile);
        for (Index first = 0; first < m; first += tile) {
            const Index last = std::min(m, first + tile);
            for (Index i = first; i < last; ++i)
                std::copy(block + i * q + begin, block + i * q + end, K + at[i] * ld + begin);
            for (Index j = begin; j < end; ++j)
                if (!is_row[j])
                    for (Index i = first; i < last; ++i) K[j * ld + at[i]] = block[i * q + j];
        }
    });
}

// The number of threads that share the steps of a problem with q variables.
inline int team_size(Index q) {
    return static_cast<int>(std::clamp<Index>(q / rows_per_part, 1, hss::thread_count()));
}

// Several problems on parts of one matrix K with leading dimension ld: problem c has the variables
// members[offsets[c] : offsets[c + 1]] of K, the same slice of lower, upper, ridge, z and g, and
// l1_weight[c]. Writes the number of steps of each problem to `steps`.
template <class T>
void smo(const T* K, Index ld, Index n_problems, const Index* offsets, const Index* members,
         const T* lower, const T* upper, const double* l1_weight, const T* ridge, T* z, T* g,
         const double* tol, Index max_steps, Index* steps, Watch& watch) {
    Index largest = 0;
    for (Index c = 0; c < n_problems; ++c) largest = std::max(largest, offsets[c + 1] - offsets[c]);
    const bool side_by_side = n_problems >= team_size(largest);
    const auto solve = [&](Index c) {
        const Index begin = offsets[c], q = offsets[c + 1] - begin;
        const Index* member = members + begin;
        const T* part = K;
        std::unique_ptr<T[]> copied;
        Index stride = ld;
        if (!(q > 0 && member[0] == 0 && member[q - 1] == q - 1)) {
            copied.reset(new T[static_cast<std::size_t>(q * q)]);
            T* copy = copied.get();
            const auto copy_row = [&](Index i) {
                for (Index j = 0; j < q; ++j) copy[i * q + j] = K[member[i] * ld + member[j]];
            };
            if (side_by_side)
                for (Index i = 0; i < q; ++i) copy_row(i);
            else
                parallel_for(q, copy_row);
            part = copy;
            stride = q;
        }
        DenseMatrix<T> matrix{part, stride};
        const int n_threads = side_by_side ? 1 : team_size(q);
        steps[c] = Smo<T, DenseMatrix<T>>(
                       q, matrix, lower + begin, upper + begin, static_cast<T>(l1_weight[c]),
                       ridge ? ridge + begin : nullptr, z + begin, g + begin, n_threads)
                       .run(static_cast<T>(tol[c]), max_steps, watch);
    };
    if (side_by_side)
        watched_for(n_problems, watch, solve);
    else
        for (Index c = 0; c < n_problems; ++c) solve(c);
}

}  // namespace svm
