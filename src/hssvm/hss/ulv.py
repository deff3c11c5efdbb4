"""Factorisation of ``K~ + diag(shift)`` and solves with it."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm import _core
from hssvm._threads import with_serial_blas
from hssvm.hss.matrix import Above, HSSMatrix, Level, as_block
from hssvm.kernels.base import LAYOUT, Floats, require_positive

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


def solve_inner(
    shapes: list[_core.Level],
    levels: list[FactorLevel],
    c: list[Floats],
    above: Above | None = None,
) -> None:
    """Up from the coefficients ``c[-1]`` of the lowest nodes, and down to what is added there."""
    inner = range(len(c) - 1)
    for i in reversed(inner):
        _core.solve_up(shapes[i], levels[i].packed, levels[i].W, c[i + 1], c[i])
    if above is not None:
        c[0][:] = above(c[0])
    for i in inner:
        _core.solve_down(shapes[i], levels[i].W, c[i], c[i + 1])


class ULVFactor:
    """``K~ + diag(shift)``, factored; made by `factor`.

    Parameters
    ----------
    matrix : HSSMatrix
    shift : float or (n,) array
    levels : list of FactorLevel
        Root first.
    R : (rank * rank,) array
        Triangular factor that the root leaves for a level above; empty if it has none.
    """

    def __init__(
        self, matrix: HSSMatrix, shift: float | Floats, levels: list[FactorLevel], R: Floats
    ) -> None:
        self.matrix = matrix
        self.shift = shift
        self.levels = levels
        self.R = R

    def __reduce__(self) -> tuple[Any, ...]:
        return ULVFactor, (self.matrix, self.shift, self.levels, self.R)

    @property
    def nbytes(self) -> int:
        """Bytes held, without the matrix."""
        return sum(level.packed.nbytes + level.W.nbytes for level in self.levels)

    @with_serial_blas
    def solve(self, B: Any, above: Above | None = None) -> Floats:
        """Solve ``(K~ + diag(shift)) X = B``.

        Parameters
        ----------
        B : (n,) or (n, k)
        above : callable, optional
            Where the matrix is a part of a larger one: answers for the rest.

        Returns
        -------
        X : array of the shape of B, in the precision of the matrix
        """
        block = as_block(B, self.matrix.tree.n, self.matrix.dtype)
        X = np.empty_like(block)
        shapes, leaves = self.matrix.shapes, self.levels[-1]
        with self.matrix.coefficients.borrow(block.shape[1]) as c:
            _core.solve_up_leaves(shapes[-1], leaves.packed, leaves.W, block, X, c[-1])
            solve_inner(shapes, self.levels, c, above)
            _core.solve_down(shapes[-1], leaves.W, c[-1], X)
        return X.reshape(np.shape(B))

    def __matmul__(self, B: Any) -> Floats:
        """Product ``(K~ + diag(shift)) B``; see `multiply`."""
        return self.multiply(B)

    @with_serial_blas
    def multiply(self, B: Any, above: Above | None = None) -> Floats:
        """Product ``(K~ + diag(shift)) B``, by the factors and without evaluating the kernel.

        Parameters
        ----------
        B : (n,) or (n, k)
        above : callable, optional
            Where the matrix is a part of a larger one: answers for the rest.

        Returns
        -------
        array of the shape of B
        """
        block = as_block(B, self.matrix.tree.n, self.matrix.dtype)
        Y = np.empty_like(block)
        shape, basis = self.matrix.shapes[-1], self.matrix.levels[-1].basis
        with self.matrix.far_field(block, above) as delta:
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
    shifts = np.require(np.broadcast_to(shift, (matrix.tree.n,)), dtype, LAYOUT)
    require_positive(shift=shifts)
    R: Floats | None = None
    levels: list[FactorLevel] = []
    for i in reversed(range(depth + 1)):
        K, D = (matrix.kernel_matrix, shifts) if i == depth else (None, None)
        here, R = factor_level(
            matrix.shapes[i], matrix.levels[i], matrix.row_ends(i), matrix.projection, R, K, D
        )
        logger.debug("factor: level %d of %d", i, depth, extra={"done": 1 - i / (depth + 1)})
        levels.append(here)
    assert R is not None
    return ULVFactor(matrix, shift, levels[::-1], R)


def factor_level(
    shape: _core.Level,
    level: Level,
    row_ends: NDArray[np.int64],
    projection: bool,
    R_below: Floats | None,
    K: _core.KernelMatrix | None = None,
    shifts: Floats | None = None,
) -> tuple[FactorLevel, Floats]:
    """Factor the nodes of a level; return what they keep, and R for the level above.

    At the leaves K and the shifts matter, above them the R of the level below.
    """
    m, ranks = np.diff(row_ends), np.diff(level.ranks)
    dtype = level.basis.dtype
    packed: Floats = np.empty(int((m * (m + 1) // 2).sum()), dtype)
    W = np.empty_like(level.basis)
    R: Floats = np.empty(int((ranks**2).sum()), dtype)
    _core.factor_level(
        shape, K, shifts, level.basis, level.coupling, projection, R_below, packed, W, R
    )
    return FactorLevel(packed, W), R
