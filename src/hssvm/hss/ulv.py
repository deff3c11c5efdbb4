"""Factorisation of ``K~ + diag(shift)`` and solves with it."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

import numpy as np

from hssvm import _core
from hssvm._threads import with_serial_blas
from hssvm.hss.matrix import HSSMatrix, as_block
from hssvm.kernels.base import Floats, require_positive

logger = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class FactorLevel:
    """Factors of the nodes of one level, node after node in flat arrays.

    Attributes
    ----------
    packed :
        Lc, the Cholesky factor of the node's diagonal block, in LAPACK's rectangular full packed
        format: m (m + 1) / 2 numbers per node.
    W :
        ``Lc^-T Q``, (m, rank) per node, in column order.
    """

    packed: Floats
    W: Floats


class ULVFactor:
    """``K~ + diag(shift)``, factored; made by `factor`.

    Parameters
    ----------
    matrix : HSSMatrix
    shift : float or (n,) array
    levels : list of FactorLevel
        Root first.
    """

    def __init__(self, matrix: HSSMatrix, shift: float | Floats, levels: list[FactorLevel]) -> None:
        self.matrix = matrix
        self.shift = shift
        self.levels = levels

    def __reduce__(self) -> tuple[Any, ...]:
        return ULVFactor, (self.matrix, self.shift, self.levels)

    @property
    def nbytes(self) -> int:
        """Bytes held, without the matrix."""
        return sum(level.packed.nbytes + level.W.nbytes for level in self.levels)

    @with_serial_blas
    def solve(self, B: Any) -> Floats:
        """Solve ``(K~ + diag(shift)) X = B``.

        Parameters
        ----------
        B : (n,) or (n, k)

        Returns
        -------
        X : array of the shape of B, in the precision of the matrix
        """
        block = as_block(B, self.matrix.tree.n, self.matrix.dtype)
        X = np.empty_like(block)
        depth, levels, shapes = self.matrix.tree.depth, self.levels, self.matrix.shapes
        with self.matrix.coefficients.borrow(block.shape[1]) as c:
            leaves = levels[depth]
            _core.solve_up_leaves(shapes[depth], leaves.packed, leaves.W, block, X, c[depth])
            for i in reversed(range(depth)):
                _core.solve_up(shapes[i], levels[i].packed, levels[i].W, c[i + 1], c[i])
            for i in range(depth):
                _core.solve_down(shapes[i], levels[i].W, c[i], c[i + 1])
            _core.solve_down(shapes[depth], leaves.W, c[depth], X)
        return X.reshape(np.shape(B))

    @with_serial_blas
    def __matmul__(self, B: Any) -> Floats:
        """Product ``(K~ + diag(shift)) B``, by the factors and without evaluating the kernel."""
        block = as_block(B, self.matrix.tree.n, self.matrix.dtype)
        Y = np.empty_like(block)
        shape, basis = self.matrix.shapes[-1], self.matrix.levels[-1].basis
        with self.matrix.far_field(block) as delta:
            _core.multiply_down_leaves(
                shape, self.levels[-1].packed, basis, self.matrix.projection, delta, block, Y
            )
        return Y.reshape(np.shape(B))

    def __repr__(self) -> str:
        shift = self.shift if np.ndim(self.shift) == 0 else "per row"
        return f"ULVFactor(shift={shift}, {self.nbytes / 1e6:.1f} MB, of {self.matrix!r})"


@with_serial_blas
def factor(matrix: HSSMatrix, shift: float | Floats) -> ULVFactor:
    """Factor ``K~ + diag(shift)``; another shift needs another factor but no new compression.

    Parameters
    ----------
    matrix : HSSMatrix
    shift : float or (n,) array
        Positive: one number, or one per row. In float32 a shift far below 1e-6 of the largest
        eigenvalue is lost in rounding.

    Returns
    -------
    ULVFactor

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.hss import compress, factor
    >>> from hssvm.kernels import Gaussian
    >>> X = np.random.default_rng(0).standard_normal((2000, 3))
    >>> H = compress(Gaussian(gamma=0.1), X)
    >>> b = np.ones(2000)
    >>> x = factor(H, shift=1.0).solve(b)
    >>> bool(np.allclose(H @ x + 1.0 * x, b))
    True
    """
    depth, dtype = matrix.tree.depth, matrix.dtype
    shifts = np.ascontiguousarray(np.broadcast_to(shift, (matrix.tree.n,)), dtype=dtype)
    require_positive(shift=shifts)
    R: Floats | None = None
    levels: list[FactorLevel] = []
    for i in reversed(range(depth + 1)):
        level = matrix.levels[i]
        m, ranks = np.diff(matrix.row_ends(i)), np.diff(level.ranks)
        packed: Floats = np.empty(int((m * (m + 1) // 2).sum()), dtype)
        W = np.empty_like(level.basis)
        R_here: Floats = np.empty(int((ranks**2).sum()), dtype)
        K, D = (matrix.kernel_matrix, shifts) if i == depth else (None, None)
        _core.factor_level(
            matrix.shapes[i],
            K,
            D,
            level.basis,
            level.coupling,
            matrix.projection,
            R,
            packed,
            W,
            R_here,
        )
        logger.debug("factor: level %d of %d", i, depth)
        levels.append(FactorLevel(packed, W))
        R = R_here
    return ULVFactor(matrix, shift, levels[::-1])
