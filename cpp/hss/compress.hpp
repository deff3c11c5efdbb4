// One level of compression: skeleton, basis, and coupling of every node.
#pragma once
#include <algorithm>
#include <vector>

#include "kernel_matrix.hpp"
#include "lapack.hpp"
#include "parallel.hpp"
#include "skeleton.hpp"
#include "view.hpp"
#include "workspace.hpp"

namespace hss {

// A node stores its skeleton J, of `size` points, and a basis of `rank` <= size functions in their
// span. At a leaf `basis` is U; above, it is the transfer matrix V, and `coupling` is C of the two
// children. Only the parent needs L of K_JJ = L L' and the (size, rank) rotation Q, with which the
// functions k_J L^-T Q are the node's orthonormal basis; Q is empty if it is the identity. A leaf
// also stores P = L^-T Q: its basis functions at a new point t are k(t, J) P.
template <class T>
struct NodeBasis {
    std::vector<Index> skeleton;  // rows of X
    Index rank = 0;
    std::vector<T> basis;      // (m, rank)
    std::vector<T> coupling;   // (rank_a, rank_b), empty at a leaf
    std::vector<T> expansion;  // P, (size, rank), empty above the leaves
    std::vector<double> cholesky, rotation;
};

// L and Q of a node, as its parent reads them.
struct NodeView {
    View<const double> L, Q;
    Index rank() const { return Q.rows > 0 ? Q.cols : L.cols; }
};

// The subspace to keep when the skeleton has more points than the basis may have functions. With
// far = K_SJ L^-T, the most important functions have the leading right singular vectors of the far
// field far U' as coefficients; in the basis k_J L^-T they span the leading eigenvectors of
// (U'U)(far'far). The first picks of the greedy algorithm nearly span this space, so one step of
// subspace iteration from them is enough: Q = orthonormalize((U.T @ U) @ (far.T @ far[:, :rank])).
template <class F>
void rotate(View<const double> U, View<const F> far, Index rank, View<double> Q) {
    static thread_local Buffer<double> gram_buffer, far_gram_buffer, R_buffer, scratch;
    static thread_local Buffer<F> product_buffer;
    const Index size = U.cols;
    View<F> product = product_buffer.take(size, rank);
    View<double> gram = gram_buffer.take(size, size), far_gram = far_gram_buffer.take(size, rank);
    gemm<F>('T', 'N', F(1), far, far.block(0, 0, far.rows, rank), F(0), product);
    std::copy_n(product.data, size * rank, far_gram.data);
    gemm<double>('T', 'N', 1, U, U, 0, gram);
    gemm<double>('N', 'N', 1, gram, far_gram, 0, Q);
    thin_qr<double>(Q, R_buffer.take(rank, rank), scratch);
}

// B = Q' L^-1 B in the first node.rank() rows of B
inline void to_basis(const NodeView& node, View<double> B) {
    static thread_local Buffer<double> buffer;
    trsm<double>('L', 'L', 'N', node.L, B);
    if (node.Q.rows == 0) return;
    View<double> rotated = buffer.take(node.rank(), B.cols);
    gemm<double>('T', 'N', 1, node.Q, B, 0, rotated);
    for (Index j = 0; j < B.cols; ++j) std::copy_n(rotated.col(j), rotated.rows, B.col(j));
}

// C = Q_a' L_a^-1 K_ab L_b^-T Q_b in the first rank_b rows of its transpose Ct, which holds K_ab'.
inline void to_coupling(const NodeView& a, const NodeView& b, View<double> Ct) {
    static thread_local Buffer<double> buffer;
    const Index ra = a.rank();
    to_basis(b, Ct);
    View<double> C = buffer.take(Ct.cols, b.rank());
    for (Index j = 0; j < C.cols; ++j)
        for (Index i = 0; i < C.rows; ++i) C(i, j) = Ct(j, i);
    to_basis(a, C);
    for (Index j = 0; j < C.cols; ++j)
        for (Index i = 0; i < ra; ++i) Ct(j, i) = C(i, j);
}

// P = L^-T Q
inline void expand_basis(const NodeView& node, View<double> P) {
    for (Index j = 0; j < P.cols; ++j)
        for (Index i = 0; i < P.rows; ++i) P(i, j) = node.Q.rows > 0 ? node.Q(i, j) : i == j;
    trsm<double>('L', 'L', 'T', node.L, P);
}

struct RankLimits {
    Index max_rank, max_size;  // of the basis, and of the skeleton
    double rtol;
};

// Implements, for candidates I (children's skeletons, or the points of a leaf) and samples S:
//
//     J, U = skeleton(K(I, I), K(S, I));  L = U[J];  Q = rotation(U, K(S, J) @ inv(L).T)
//     U = U @ Q
//     C = Q_a.T @ inv(L_a) @ K(J_a, J_b) @ inv(L_b).T @ Q_b
//     V = blkdiag(Q_a.T @ inv(L_a), Q_b.T @ inv(L_b)) @ U
//
// Computed in double, whatever the precision T of the result: dividing by L can lose five digits,
// too many for float. Only the far field, in precision F, may be float: it just steers the choice.
template <class T, class F>
NodeBasis<T> compress_node(const KernelMatrix& K, const Index* candidates, Index m,
                           const Index* samples, Index n_samples, const RankLimits& limits,
                           const NodeView* children) {
    static thread_local Buffer<double> inside_buffer, basis_buffer, rotated_buffer;
    static thread_local Buffer<F> outside_buffer, far_buffer;
    NodeBasis<T> node;
    const Index max_size = std::min(m, limits.max_size);
    View<double> inside = inside_buffer.take(m, m), U = basis_buffer.take(m, max_size);
    View<F> far = far_buffer.take(n_samples, max_size);
    std::vector<Index> chosen(m);
    Index size = 0;
    if (children || max_size > 0) K.block(candidates, m, candidates, m, inside);
    if (max_size > 0) {
        View<F> outside = outside_buffer.take(n_samples, m);
        K.block(samples, n_samples, candidates, m, outside);
        size = choose_skeleton<F>(inside, outside, {max_size, limits.rtol}, chosen.data(), U, far);
    }
    U = U.block(0, 0, m, size);
    node.skeleton.resize(size);
    node.cholesky.resize(size * size);
    for (Index j = 0; j < size; ++j) {
        node.skeleton[j] = candidates[chosen[j]];
        for (Index q = 0; q < size; ++q) node.cholesky[j + q * size] = U(chosen[j], q);
    }

    const Index n_coordinates = children ? children[0].rank() + children[1].rank() : m;
    const Index rank = node.rank = std::min({size, limits.max_rank, n_coordinates});
    if (rank < size) {
        node.rotation.resize(size * rank);
        View<double> Q{node.rotation.data(), size, rank};
        View<double> rotated = rotated_buffer.take(m, rank);
        rotate<F>(U, far.block(0, 0, n_samples, size), rank, Q);
        gemm<double>('N', 'N', 1, U, Q, 0, rotated);
        U = rotated;
    }
    if (children) {
        const NodeView &a = children[0], &b = children[1];
        const Index size_a = a.L.rows, size_b = b.L.rows, ra = a.rank(), rb = b.rank();
        View<double> Ct = inside.block(size_a, 0, size_b, size_a);
        to_coupling(a, b, Ct);
        node.coupling.resize(ra * rb);
        for (Index j = 0; j < rb; ++j)
            for (Index i = 0; i < ra; ++i) node.coupling[i + j * ra] = static_cast<T>(Ct(j, i));
        to_basis(a, U.block(0, 0, size_a, rank));
        to_basis(b, U.block(size_a, 0, size_b, rank));
        for (Index j = 0; j < rank; ++j) std::copy_n(&U(size_a, j), rb, &U(ra, j));
    } else {
        View<double> P = inside_buffer.take(size, rank);
        NodeView own{{node.cholesky.data(), size, size}, {}};
        if (rank < size) own.Q = {node.rotation.data(), size, rank};
        expand_basis(own, P);
        node.expansion.assign(P.data, P.data + size * rank);
    }
    node.basis.resize(n_coordinates * rank);
    for (Index j = 0; j < rank; ++j)
        std::copy_n(U.col(j), n_coordinates, node.basis.data() + j * n_coordinates);
    return node;
}

// candidates[offsets[i] : offsets[i + 1]] belong to node i; samples: (n_nodes, n_samples).
// `children` are the nodes of the level below, two per node, empty at the leaves.
template <class T>
std::vector<NodeBasis<T>> compress_level(const KernelMatrix& K, const Index* candidates,
                                         const Index* offsets, Index n_nodes, const Index* samples,
                                         Index n_samples, const RankLimits& limits,
                                         const std::vector<NodeView>& children) {
    const bool float_suffices = limits.rtol >= 1e-5 && K.fits_float();
    const auto step = float_suffices ? compress_node<T, float> : compress_node<T, double>;
    std::vector<NodeBasis<T>> nodes(n_nodes);
    parallel_for(n_nodes, [&](Index i) {
        nodes[i] =
            step(K, candidates + offsets[i], offsets[i + 1] - offsets[i], samples + i * n_samples,
                 n_samples, limits, children.empty() ? nullptr : &children[2 * i]);
    });
    return nodes;
}

}  // namespace hss
