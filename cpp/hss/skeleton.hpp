// The skeleton of one node: the candidates that best explain the kernel outside the node.
//
// With J the chosen candidates, E = K - U U' is the residual of the Nystroem approximation on J in
// the candidates' block K, and R = K(S, I) - K(S, J) K_JJ^-1 K(J, I) its residual in the far field
// seen from the samples S. The greedy algorithm in Python, with rank-one updates:
//
//     while len(J) < max_size and norm(R) > rtol * norm(K_SI):
//         j = argmax((R**2).sum(0) / d**(2/3));  u = (K[:, j] - U @ U[j]) / sqrt(d[j])
//         R -= outer(R[:, j] / sqrt(d[j]), u);  d -= u**2;  U = c_[U, u];  J.append(j)
//
// with d = diag(E). The power of d defines a family of rules: 1 explains most of the functions k(s,
// .) in the norm of the kernel's space, 0 chooses the largest residual. The matrix error is
// smallest in between, and the pivots d[j] stay larger than with 1, which reduces rounding errors.
//
// The implementation works in blocks, so that updates of R are matrix products: the candidates with
// the highest scores form a pool, and the greedy algorithm runs inside the pool, on its own small
// blocks of E and R'R, until it has made a number of picks; only then are U, R and all scores
// updated. This is as accurate as one candidate at a time, and much faster.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "lapack.hpp"
#include "simd.hpp"
#include "view.hpp"
#include "workspace.hpp"

namespace hss {

struct SkeletonLimits {
    Index max_size;
    double rtol;  // 0: continue to max_size, or until all candidates are explained
};

constexpr Index pool_size = 64;
// Picks per block: few at first, to avoid overshooting small ranks.
inline Index block_picks(Index size) { return std::clamp<Index>(size / 2, 4, 32); }

inline double score(double energy, double d) { return energy / std::cbrt(d * d); }

// A candidate counts as explained once its residual variance d is below `min_relative_variance`
// times the largest initial variance: dividing by less would turn rounding errors into basis
// vectors. A candidate also has to wait while d is below `min_pivot_ratio` times the largest d:
// small pivots before large ones make L needlessly ill-conditioned.
constexpr double min_relative_variance = 1e-12;
constexpr double min_pivot_ratio = 1e-3;

// K: (m, m) block of the candidates, R: (s, m) far field, overwritten. Writes the chosen positions,
// in order; U = K_IJ L^-T: (m, >= size) with U[chosen] = L lower triangular; and far = K_SJ L^-T:
// (s, >= size), the far field in the same basis. Returns the size. R only steers the choice and may
// be float; K and U are double because they guarantee K - U U' >= 0.
template <class T>
Index choose_skeleton(View<const double> K, View<T> R, const SkeletonLimits& limits, Index* chosen,
                      View<double> U, View<T> far) {
    static thread_local Buffer<double> E_buffer, G_buffer, rows_buffer, picked_buffer, L_buffer;
    static thread_local Buffer<T> pool_buffer, gram_buffer, U_far_buffer, L_far_buffer;
    const Index m = K.cols, max_size = std::min(limits.max_size, m);
    std::vector<double> d(m), scores(m);
    std::vector<Index> order(m), picks;
    double largest = 0;
    for (Index j = 0; j < m; ++j) largest = std::max(largest, d[j] = K(j, j));
    const double floor = min_relative_variance * largest;

    Index size = 0;
    double first_energy = -1;
    while (size < max_size) {
        const double least =
            std::max(floor, min_pivot_ratio * *std::max_element(d.begin(), d.end()));
        double energy = 0;
        Index n_open = 0;
        for (Index j = 0; j < m; ++j) {
            const double e = simd::dot(R.col(j), R.col(j), R.rows);
            energy += e;
            if (d[j] > least) {
                scores[j] = score(e, d[j]);
                order[n_open++] = j;
            }
        }
        if (first_energy < 0) first_energy = energy;
        if (n_open == 0 || (limits.rtol > 0 && energy <= limits.rtol * limits.rtol * first_energy))
            break;
        const Index p = std::min(pool_size, n_open);
        std::nth_element(order.begin(), order.begin() + (p - 1), order.begin() + n_open,
                         [&](Index a, Index b) {
                             return scores[a] > scores[b] || (scores[a] == scores[b] && a < b);
                         });
        std::sort(order.begin(), order.begin() + p);

        // The pool's own blocks: E of the kernel and G = R'R of the far field.
        View<double> E = E_buffer.take(p, p), G = G_buffer.take(p, p),
                     rows = rows_buffer.take(p, size);
        View<T> pool = pool_buffer.take(R.rows, p), gram = gram_buffer.take(p, p);
        for (Index b = 0; b < p; ++b) {
            for (Index a = 0; a < p; ++a) E(a, b) = K(order[a], order[b]);
            for (Index q = 0; q < size; ++q) rows(b, q) = U(order[b], q);
            std::copy_n(R.col(order[b]), R.rows, pool.col(b));
        }
        gemm<double>('N', 'T', -1, rows, rows, 1, E);
        gemm<T>('T', 'N', T(1), pool, pool, T(0), gram);
        std::copy_n(gram.data, p * p, G.data);

        const Index n_wanted = std::min({block_picks(size), p, max_size - size});
        // u of each pick, over the pool; the last column is scratch
        View<double> columns = picked_buffer.take(p, n_wanted + 1);
        picks.clear();
        for (Index t = 0; t < n_wanted; ++t) {
            Index best = -1;
            double best_score = -1;
            for (Index a = 0; a < p; ++a) {
                if (!(E(a, a) > least)) continue;
                const double s = score(std::max(G(a, a), 0.0), E(a, a));
                if (s > best_score) best_score = s, best = a;
            }
            if (best < 0) break;
            const double pivot = std::sqrt(E(best, best));
            double *u = columns.col(t), *g = columns.col(n_wanted);
            for (Index a = 0; a < p; ++a) {
                u[a] = E(a, best) / pivot;
                g[a] = G(a, best) / pivot;
            }
            simd::eliminate(E.data, G.data, p, u, g, g[best] / pivot);
            E(best, best) = -1;  // taken
            picks.push_back(best);
        }
        const Index n_picks = static_cast<Index>(picks.size());
        if (n_picks == 0) break;

        // Update all candidates, with L the Cholesky factor of the picks' residual block:
        //     U_new = (K[:, picks] - U U[picks]') L^-T,  R -= (R[:, picks] L^-T) U_new'
        View<double> L = L_buffer.take(n_picks, n_picks), U_new = U.block(0, size, m, n_picks);
        View<T> L_far = L_far_buffer.take(n_picks, n_picks),
                far_new = far.block(0, size, R.rows, n_picks),
                U_far = U_far_buffer.take(m, n_picks);
        View<double> picked = rows.block(0, 0, n_picks, size);  // rows of U at the picks
        for (Index t = 0; t < n_picks; ++t) {
            const Index j = chosen[size + t] = order[picks[t]];
            for (Index q = 0; q < n_picks; ++q) L(q, t) = q < t ? 0 : columns(picks[q], t);
            for (Index q = 0; q < size; ++q) picked(t, q) = U(j, q);
            std::copy_n(K.col(j), m, U_new.col(t));
            std::copy_n(R.col(j), R.rows, far_new.col(t));
        }
        gemm<double>('N', 'T', -1, U.block(0, 0, m, size), picked, 1, U_new);
        trsm<double>('R', 'L', 'T', L, U_new);
        // Rows of skeleton points are known exactly: zero for earlier points, L at the picks.
        for (Index t = 0; t < n_picks; ++t) {
            for (Index q = 0; q < size; ++q) U_new(chosen[q], t) = 0;
            for (Index q = 0; q < n_picks; ++q) U_new(chosen[size + q], t) = L(q, t);
        }
        std::copy_n(L.data, n_picks * n_picks, L_far.data);
        std::copy_n(U_new.data, m * n_picks, U_far.data);
        trsm<T>('R', 'L', 'T', L_far, far_new);
        gemm<T>('N', 'T', T(-1), far_new, U_far, T(1), R);
        for (Index t = 0; t < n_picks; ++t)
            for (Index j = 0; j < m; ++j) d[j] -= U_new(j, t) * U_new(j, t);
        size += n_picks;
        for (Index q = 0; q < size; ++q) d[chosen[q]] = -1;
    }
    return size;
}

}  // namespace hss
