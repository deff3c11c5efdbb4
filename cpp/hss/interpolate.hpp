// Skeletons by interpolation, as in HSS-ANN (Chavez, Liu, Ghysels, Li and Rebrova, 2020), the
// compression of Cipolla and Gondzio.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "compress.hpp"
#include "kernel_matrix.hpp"
#include "lapack.hpp"
#include "parallel.hpp"
#include "view.hpp"
#include "workspace.hpp"

namespace hss {

struct InterpolationLimits {
    Index max_rank;
    double rtol, atol;  // residuals of columns to choose exceed atol and rtol times the largest
};

// For candidates I and samples S, with the children's skeletons as candidates above the leaves:
//
//     K(S, I) ~ K(S, J) X',   X[J] = identity,   J by QR with column pivoting
//     basis = X,   coupling = K(J_a, J_b)
//
// The pivots and the triangle come from the pivoted Cholesky factor of K(I, S) K(S, I), which
// equals R in exact arithmetic and uses only BLAS 3. It has half the digits, enough for tolerances
// above 1e-7.
template <class T>
NodeBasis<T> interpolate_node(const KernelMatrix& K, const Index* candidates, Index m, Index m_left,
                              const Index* samples, Index n_samples,
                              const InterpolationLimits& limits) {
    static thread_local Buffer<double> outside_buffer, gram_buffer, coupling_buffer;
    NodeBasis<T> node;
    View<double> outside = outside_buffer.take(n_samples, m), gram = gram_buffer.take(m, m);
    std::vector<int> pivot(static_cast<std::size_t>(m));
    Index rank = 0;
    if (n_samples > 0 && limits.max_rank > 0) {
        K.block(samples, n_samples, candidates, m, outside);
        std::fill_n(gram.data, m * m, 0.0);
        syrk_lower<double>('T', 1, outside, gram);
        double largest = 0;
        for (Index i = 0; i < m; ++i) largest = std::max(largest, gram(i, i));
        const double tol = std::max(limits.rtol * limits.rtol * largest, limits.atol * limits.atol);
        if (largest > tol) rank = pstrf_lower(gram, pivot.data(), tol);
        rank = std::min(rank, limits.max_rank);
    }
    node.rank = rank;
    node.skeleton.resize(rank);
    for (Index j = 0; j < rank; ++j) node.skeleton[j] = candidates[pivot[j]];
    // X = L21 L11^-1 below the identity, rows in the order of the pivots
    View<double> L11 = gram.block(0, 0, rank, rank), L21 = gram.block(rank, 0, m - rank, rank);
    trsm<double>('R', 'L', 'N', L11, L21);
    node.basis.assign(static_cast<std::size_t>(m * rank), T(0));
    View<T> X{node.basis.data(), m, rank};
    for (Index j = 0; j < rank; ++j) {
        X(pivot[j], j) = 1;
        for (Index i = rank; i < m; ++i) X(pivot[i], j) = static_cast<T>(L21(i - rank, j));
    }
    if (m_left >= 0) {
        const Index m_right = m - m_left;
        View<double> C = coupling_buffer.take(m_left, m_right);
        K.block(candidates, m_left, candidates + m_left, m_right, C);
        node.coupling.assign(C.data, C.data + m_left * m_right);
    }
    return node;
}

// candidates[offsets[i] : offsets[i + 1]] and samples[sample_offsets[i] : sample_offsets[i + 1]]
// belong to node i; left[i] of its candidates come from its left child (null at the leaves).
template <class T>
std::vector<NodeBasis<T>> interpolate_level(const KernelMatrix& K, const Index* candidates,
                                            const Index* offsets, Index n_nodes, const Index* left,
                                            const Index* samples, const Index* sample_offsets,
                                            const InterpolationLimits& limits) {
    std::vector<NodeBasis<T>> nodes(n_nodes);
    parallel_for(n_nodes, [&](Index i) {
        nodes[i] = interpolate_node<T>(K, candidates + offsets[i], offsets[i + 1] - offsets[i],
                                       left ? left[i] : -1, samples + sample_offsets[i],
                                       sample_offsets[i + 1] - sample_offsets[i], limits);
    });
    return nodes;
}

}  // namespace hss
