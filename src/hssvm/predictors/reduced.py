"""Fewer support vectors for nearly the same function: matching pursuit in the space of the kernel.

`Reduction` divides the support vectors of ``f = sum_i k(., x_i) z_i`` into leaves of a cluster
tree. In each leaf, it projects the part of f there onto ``k(., x_s)`` for rows s chosen one after
another. Each new row lowers ``|f - projection|`` the most, in the norm of the reproducing kernel
Hilbert space. With

    r_s = (f - projection)(x_s),    d_s = |k(., x_s) - its projection|**2,

this is the row with the largest gain ``|r_s|**2 / d_s``. Both follow from the columns of a Cholesky
factor. All leaves stop at the same gain, the best way to divide a number of rows among them.

The coefficients w of the chosen rows S then solve ``K_SS w = f(x_S)``: f is projected onto all of
them together. Conjugate gradients do that, with the leaves as preconditioner. They lower
``|f - projection|`` in every iteration, so it does no harm to stop early.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from hssvm.hss.tree import ClusterTree
from hssvm.kernels.base import Floats, Kernel, Rows

REDUCTION_LEAF_SIZE = 512
"""Maximum number of support vectors of a leaf, whose kernel matrix is dense."""

DEPENDENT = 1e-6
"""A row depends on the chosen ones if d_s is below this fraction of its initial value."""

MAX_CG_ITER, RESIDUAL = 30, 1e-3
"""Conjugate gradients stop after MAX_CG_ITER iterations, or at this relative residual."""


@dataclass(frozen=True, eq=False)
class Choice:
    """Rows of a leaf, in the order in which they are chosen.

    Attributes
    ----------
    rows : (m,) int64
    gains : (m,)
        Nonincreasing: each is bounded by its predecessor.
    """

    rows: NDArray[np.int64]
    gains: NDArray[np.float64]


class Reduction:
    """Expansions with fewer of the rows of ``f = sum_i k(., x_i) z_i``.

    Parameters
    ----------
    kernel : Kernel
    X : (n, p) array or CSR matrix
    Z : (n, k)

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.kernels import Gaussian
    >>> from hssvm.predictors import ExpansionPredictor
    >>> from hssvm.predictors.reduced import Reduction
    >>> rng = np.random.default_rng(0)
    >>> X, Z = rng.uniform(size=(500, 2)), rng.standard_normal((500, 1))
    >>> rows, W = Reduction(Gaussian(1.0), X, Z).expansion(50)
    >>> reduced = ExpansionPredictor(Gaussian(1.0), X[rows], W)
    >>> bool(np.allclose(reduced(X), ExpansionPredictor(Gaussian(1.0), X, Z)(X), atol=0.01))
    True
    """

    def __init__(self, kernel: Kernel, X: Rows, Z: Floats) -> None:
        self._kernel, self._X, self._Z = kernel, X, np.ascontiguousarray(Z)
        tree = ClusterTree.build(kernel.coordinates(X), leaf_size=REDUCTION_LEAF_SIZE)
        leaves = np.split(tree.perm, tree.offsets(tree.depth)[1:-1])
        self._choices = [self._choose(leaf) for leaf in leaves]
        self._gains = np.sort(np.concatenate([choice.gains for choice in self._choices]))[::-1]
        self._values = kernel.product(X, X, self._Z)

    @property
    def n_rows(self) -> int:
        """Largest number of rows of an expansion; the others depend on them."""
        return int(self._gains.size)

    def expansion(self, n_rows: int) -> tuple[NDArray[np.int64], Floats]:
        """Return about `n_rows` rows, leaf by leaf, and their coefficients, (m, k)."""
        least = self._gains[min(n_rows, self.n_rows) - 1]
        parts = [choice.rows[: np.sum(choice.gains >= least)] for choice in self._choices]
        rows = np.concatenate(parts)
        W = self._project([part for part in parts if part.size], self._values[rows])
        return rows, W.astype(self._Z.dtype)

    def _choose(self, leaf: NDArray[np.int64]) -> Choice:
        """Choose rows of a leaf until all others depend on them."""
        K = self._kernel.block(self._X[leaf]).astype(np.float64)
        r, d = K @ self._Z[leaf].astype(np.float64), K.diagonal().copy()
        limit = DEPENDENT * d
        factor = np.empty((leaf.size, leaf.size))  # row j is column j of the Cholesky factor
        chosen: list[int] = []
        gains: list[float] = []
        for j in range(leaf.size):
            gain = np.divide(np.sum(r**2, axis=1), d, out=np.zeros(leaf.size), where=d > limit)
            s = int(np.argmax(gain))
            if gain[s] == 0:
                break
            factor[j] = (K[s] - factor[:j, s] @ factor[:j]) / np.sqrt(d[s])
            r -= np.outer(factor[j], r[s] / np.sqrt(d[s]))
            d -= factor[j] ** 2
            d[s] = 0.0
            chosen.append(s)
            gains.append(float(gain[s]))
        return Choice(leaf[chosen], np.minimum.accumulate(np.array(gains)))

    def _project(self, parts: list[NDArray[np.int64]], values: Floats) -> NDArray[np.float64]:
        """Solve ``K_SS W = values`` for all columns at once."""
        X, ends = self._X[np.concatenate(parts)], np.cumsum([part.size for part in parts])
        factors = [
            scipy.linalg.cho_factor(self._kernel.block(self._X[part]).astype(np.float64))
            for part in parts
        ]

        def precondition(R: NDArray[np.float64]) -> NDArray[np.float64]:
            blocks = np.split(R, ends[:-1])
            pairs = zip(factors, blocks, strict=True)
            return np.concatenate([scipy.linalg.cho_solve(f, block) for f, block in pairs])

        def product(V: NDArray[np.float64]) -> NDArray[np.float64]:
            V = np.ascontiguousarray(V, X.dtype)
            return self._kernel.product(X, X, V).astype(np.float64)

        B = values.astype(np.float64)
        W, R = np.zeros_like(B), B
        S = P = precondition(R)
        target = RESIDUAL * np.linalg.norm(B, axis=0)
        for _ in range(MAX_CG_ITER):
            active = np.linalg.norm(R, axis=0) > target
            if not active.any():
                break
            KP, inner = product(P), np.einsum("ij,ij->j", R, S)
            step = np.where(active, inner / np.einsum("ij,ij->j", P, KP), 0)
            W, R = W + step * P, R - step * KP
            S = precondition(R)
            P = S + np.where(active, np.einsum("ij,ij->j", R, S) / inner, 0) * P
        return W
