"""Variances of a Gaussian process with the kernel k~ at new points, from the ULV factor.

With ``k~(t)`` the values of k~ of a new point t and all rows, the variance is

    k~(t, t) - k~(t)' (K~ + diag(shift))^-1 k~(t).

It is what remains of t, as one more row of its leaf without a shift, after all others have been
eliminated, node by node from its leaf to the root. Let u be the basis of the node at t, and a its
row in the block A of the node: ``a = k(X_I, t) - U u`` at the leaf. Eliminating the node explains
``|Lc^-1 a|^2 - |g|^2`` of ``k~(t, t)``, and ``g = Q' Lc^-1 a = W' a`` goes to the parent. With V_t
the rows of V, and M_t the columns of M, that belong to the child, the parent has::

    u_p = V_t' u,    a_p = g + R (M_t u - V u_p)

The variance is exact for k~, costs a triangular solve per node, and is positive but for rounding,
as k~ is positive semi-definite.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from hssvm._threads import with_serial_blas
from hssvm.hss.nodes import FactoredNodes, factored_levels, running_sum
from hssvm.hss.ulv import ULVFactor
from hssvm.kernels.base import Rows, rows_like, sort_groups

NEW_ROWS = 4096
"""Number of new points whose variances are computed at a time."""


@dataclass(frozen=True, eq=False)
class _Link:
    """What connects a node with its children a and b.

    Attributes
    ----------
    R : pair of arrays
        Triangular factors of the children.
    coupling : (rank_a, rank_b)
    V : (rank_a + rank_b, rank)
        Basis of the node.
    """

    R: tuple[NDArray[np.float64], NDArray[np.float64]]
    coupling: NDArray[np.float64]
    V: NDArray[np.float64]

    def scaled(self, C: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ``R C`` with ``R = blkdiag(R_a, R_b)``."""
        R_a, R_b = self.R
        return np.concatenate([R_a @ C[: len(R_a)], R_b @ C[len(R_a) :]])

    def rows_of(self, side: int, C: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the rows of child `side`, 0 or 1."""
        size = len(self.R[0])
        return C[size:] if side else C[:size]

    def up(
        self, side: int, u: NDArray[np.float64], g: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return u and a of the node, given u and g of one of its children."""
        above = self.rows_of(side, self.V).T @ u
        products = (self.coupling @ u, u) if side else (u, self.coupling.T @ u)  # M_t u
        a = self.scaled(np.concatenate(products) - self.V @ above)
        self.rows_of(side, a)[:] += g
        return above, a


class PosteriorVariance:
    """Computes variances at new points.

    Parameters
    ----------
    factor : ULVFactor
        Of ``K~ + diag(noise)``; the matrix must extend to new points.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.hss import PosteriorVariance, compress, factor
    >>> from hssvm.kernels import Gaussian
    >>> X = np.random.default_rng(0).standard_normal((1000, 2))
    >>> variance = PosteriorVariance(factor(compress(Gaussian(1.0), X), 0.01))
    >>> near, far = variance(np.array([[0.0, 0.0], [9.0, 9.0]]))
    >>> bool(near < 0.01), bool(far > 0.99)
    (True, True)
    """

    def __init__(self, factor: ULVFactor) -> None:
        if not factor.matrix.projection:
            raise ValueError("this compressor does not extend to new points")
        self.factor = factor
        self._levels = factored_levels(factor)
        self._links = self._link()
        leaves = factor.matrix.levels[-1]
        sizes = np.diff(leaves.skeleton_offsets) * self._levels[-1].ranks
        self._expansion_ends = running_sum(sizes)

    def _link(self) -> list[list[_Link]]:
        """Return the links of all nodes above the leaves, root first."""
        leaves, links = self._levels[-1], list[list[_Link]]()
        R = [leaves.W(i).T @ leaves.basis(i) for i in range(leaves.n)]
        for level in reversed(range(len(self._levels) - 1)):
            nodes = self._levels[level]
            couplings = self.factor.matrix.levels[level].coupling.astype(np.float64, copy=False)
            ends = running_sum(
                np.array([len(a) * len(b) for a, b in zip(R[::2], R[1::2], strict=True)])
            )
            here = [
                _Link(
                    (R[2 * i], R[2 * i + 1]),
                    couplings[ends[i] : ends[i + 1]].reshape(len(R[2 * i + 1]), len(R[2 * i])).T,
                    nodes.basis(i),
                )
                for i in range(nodes.n)
            ]
            R = [nodes.W(i).T @ link.scaled(link.V) for i, link in enumerate(here)]
            links.append(here)
        return links[::-1]

    @with_serial_blas
    def __call__(self, X: Rows) -> NDArray[np.float64]:
        """Return the variances at the rows of `X`, (m,)."""
        matrix = self.factor.matrix
        X = rows_like(X, matrix.X)
        leaves = matrix.tree.route(matrix.kernel.coordinates(X))
        order, ends = sort_groups(leaves, matrix.tree.n_leaves)
        variances = matrix.kernel.diag(X).astype(np.float64)
        for leaf in np.unique(leaves):
            for begin in range(ends[leaf], ends[leaf + 1], NEW_ROWS):
                rows = order[begin : min(begin + NEW_ROWS, ends[leaf + 1])]
                variances[rows] -= self._explained(X[rows], leaf)
        return np.maximum(variances, 0)

    def _explained(self, X: Rows, leaf: int) -> NDArray[np.float64]:
        """``k~(t)' (K~ + diag(shift))^-1 k~(t)`` for new points of one leaf, (m,)."""
        matrix, node = self.factor.matrix, leaf
        offsets = matrix.tree.offsets(matrix.tree.depth)
        own = matrix.tree.perm[offsets[leaf] : offsets[leaf + 1]]
        u = self._basis_at(X, leaf)
        a = matrix.kernel.block(matrix.X[own], X) - self._levels[-1].basis(leaf) @ u
        g, explained = _eliminate(self._levels[-1], leaf, a)
        for level in reversed(range(len(self._links))):
            side, node = node % 2, node // 2
            u, a = self._links[level][node].up(side, u, g)
            g, more = _eliminate(self._levels[level], node, a)
            explained += more
        return explained

    def _basis_at(self, X: Rows, leaf: int) -> NDArray[np.float64]:
        """The basis of a leaf at new points, (rank, m)."""
        matrix = self.factor.matrix
        leaves = matrix.levels[-1]
        begin, end = leaves.skeleton_offsets[leaf : leaf + 2]
        first, last = self._expansion_ends[leaf : leaf + 2]
        rank = int(self._levels[-1].ranks[leaf])
        P = leaves.expansion[first:last].reshape(rank, end - begin)  # transposed
        values = matrix.kernel.block(matrix.X[leaves.skeleton[begin:end]], X)
        return (P @ values).astype(np.float64, copy=False)


def _eliminate(
    nodes: FactoredNodes, i: int, a: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return g for the parent, (rank, m), and what the node explains, (m,)."""
    y, g = solve_triangular(nodes.cholesky(i), a, lower=True), nodes.W(i).T @ a
    return g, np.einsum("ij,ij->j", y, y) - np.einsum("ij,ij->j", g, g)
