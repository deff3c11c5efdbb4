"""The determinant of ``K~ + diag(shift)``, and the diagonal of its inverse, from the ULV factor.

A node is eliminated by its block ``A = Lc Lc'``, which leaves the system of its parent. So the
determinant is the product of the determinants of all blocks. With G the inverse of the parent's
system, restricted to a node, the inverse of the whole system restricted to the node is
``A^-1 + W (G - I) W'``.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from hssvm._threads import with_serial_blas
from hssvm.hss.nodes import FactoredNodes, factored_levels
from hssvm.hss.ulv import ULVFactor


def log_determinant(factor: ULVFactor) -> float:
    """Return the logarithm of the determinant of ``K~ + diag(shift)``.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.hss import compress, factor, log_determinant
    >>> from hssvm.kernels import Gaussian
    >>> X, kernel = np.random.default_rng(0).standard_normal((1000, 2)), Gaussian(0.5)
    >>> dense = np.linalg.slogdet(kernel.block(X) + np.eye(1000))[1]
    >>> found = log_determinant(factor(compress(kernel, X), 1.0))
    >>> bool(abs(found - dense) < 1e-3 * dense)
    True
    """
    return sum(
        2 * float(np.log(np.diagonal(nodes.cholesky(i))).sum())
        for nodes in factored_levels(factor)
        for i in range(nodes.n)
    )


@with_serial_blas
def inverse_diagonal(factor: ULVFactor) -> NDArray[np.float64]:
    """Return the diagonal of ``(K~ + diag(shift))^-1``, (n,)."""
    tree, levels = factor.matrix.tree, factored_levels(factor)
    outer = [np.empty((0, 0))]  # G of every node of the level; nothing is above the root
    for nodes, below in pairwise(levels):
        outer = [
            part
            for i in range(nodes.n)
            for part in _diagonal_blocks(_inverse(nodes, i, outer[i]), below.ranks[2 * i])
        ]
    leaves, offsets = levels[-1], tree.offsets(tree.depth)
    diagonal = np.empty(tree.n)
    for i in range(leaves.n):
        inverse, W = _inverse_cholesky(leaves, i), leaves.W(i)
        change = np.einsum("ij,ij->i", W @ _minus_identity(outer[i]), W)
        rows = tree.perm[offsets[i] : offsets[i + 1]]
        diagonal[rows] = np.einsum("ij,ij->j", inverse, inverse) + change
    return diagonal


def _inverse(nodes: FactoredNodes, i: int, outer: NDArray[np.float64]) -> NDArray[np.float64]:
    """Inverse of the system of a level, restricted to one of its nodes."""
    inverse, W = _inverse_cholesky(nodes, i), nodes.W(i)
    return inverse.T @ inverse + W @ _minus_identity(outer) @ W.T


def _inverse_cholesky(nodes: FactoredNodes, i: int) -> NDArray[np.float64]:
    Lc = nodes.cholesky(i)
    inverse: NDArray[np.float64] = solve_triangular(Lc, np.eye(len(Lc)), lower=True)
    return inverse


def _minus_identity(G: NDArray[np.float64]) -> NDArray[np.float64]:
    return G - np.eye(len(G))


def _diagonal_blocks(
    matrix: NDArray[np.float64], size: np.int64
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return matrix[:size, :size], matrix[size:, size:]
