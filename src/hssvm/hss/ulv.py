"""Factorization of ``K~ + diag(shift)``, and solves with the factor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm import _core
from hssvm._threads import with_serial_blas
from hssvm.hss.matrix import HSSLevel, HSSMatrix, RootExchange, as_block
from hssvm.hss.scratch import Scratch
from hssvm.kernels.aligned import Aligned
from hssvm.kernels.base import LAYOUT, Floats, require_positive
from hssvm.progress import Share, emit


@dataclass(frozen=True, eq=False)
class FactorLevel(Aligned):
    """Factors of the nodes of one level, concatenated in flat arrays.

    Attributes
    ----------
    packed :
        Lc, the Cholesky factor of the node's diagonal block, in LAPACK's rectangular full packed
        format: m (m + 1) / 2 numbers per node.
    W :
        ``Lc^-T Q``, (m, rank) per node, column-major.
    """

    packed: Floats
    W: Floats


def solve_inner(
    layouts: list[_core.LevelLayout],
    levels: list[FactorLevel],
    c: list[Floats],
    exchange: RootExchange | None = None,
) -> None:
    """Sweep up from the coefficients ``c[-1]`` of the lowest nodes, and down again, in place."""
    inner = range(len(c) - 1)
    for i in reversed(inner):
        _core.solve_up(layouts[i], levels[i].packed, levels[i].W, c[i + 1], c[i])
    if exchange is not None:
        c[0][:] = exchange(c[0])
    for i in inner:
        _core.solve_down(layouts[i], levels[i].W, c[i], c[i + 1])


class ULVFactor:
    """The ULV factorization of ``K~ + diag(shift)``, as returned by `factor`.

    Parameters
    ----------
    matrix : HSSMatrix
    shift : float or (n,) array
    levels : list of FactorLevel
        Root first.
    R : (rank * rank,) array
        Triangular factor of the root, for the level above; empty if there is none.
    """

    def __init__(
        self, matrix: HSSMatrix, shift: float | Floats, levels: list[FactorLevel], R: Floats
    ) -> None:
        self.matrix = matrix
        self.shift = shift
        self.levels = levels
        self.R = np.require(R, None, "A")

    def __reduce__(self) -> tuple[Any, ...]:
        return ULVFactor, (self.matrix, self.shift, self.levels, self.R)

    @property
    def nbytes(self) -> int:
        """Memory in bytes, without the matrix."""
        return sum(level.packed.nbytes + level.W.nbytes for level in self.levels)

    @with_serial_blas
    def solve(self, B: Any, exchange: RootExchange | None = None) -> Floats:
        """Solve ``(K~ + diag(shift)) X = B``.

        Parameters
        ----------
        B : (n,) or (n, k)
        exchange : callable, optional
            Communicates with the levels above if the matrix is a part of a larger one.

        Returns
        -------
        X : array of the shape of B, in the precision of the matrix
        """
        block = as_block(B, self.matrix.tree.n, self.matrix.dtype)
        X = np.empty_like(block)
        layouts, leaves = self.matrix.layouts, self.levels[-1]
        with self.matrix.coefficients.borrow(block.shape[1]) as c:
            _core.solve_up_leaves(layouts[-1], leaves.packed, leaves.W, block, X, c[-1])
            solve_inner(layouts, self.levels, c, exchange)
            _core.solve_down(layouts[-1], leaves.W, c[-1], X)
        return X.reshape(np.shape(B))

    def __matmul__(self, B: Any) -> Floats:
        """Product ``(K~ + diag(shift)) B``; see `multiply`."""
        return self.multiply(B)

    @with_serial_blas
    def multiply(self, B: Any, exchange: RootExchange | None = None) -> Floats:
        """Product ``(K~ + diag(shift)) B`` from the factor, without evaluating the kernel.

        Parameters
        ----------
        B : (n,) or (n, k)
        exchange : callable, optional
            Communicates with the levels above if the matrix is a part of a larger one.

        Returns
        -------
        array of the shape of B
        """
        block = as_block(B, self.matrix.tree.n, self.matrix.dtype)
        Y = np.empty_like(block)
        layout, basis = self.matrix.layouts[-1], self.matrix.levels[-1].basis
        with self.matrix.far_field(block, exchange) as delta:
            _core.matmul_down_leaves_from_factor(
                layout, self.levels[-1].packed, basis, self.matrix.projection, delta, block, Y
            )
        return Y.reshape(np.shape(B))

    def __repr__(self) -> str:
        shift = self.shift if np.ndim(self.shift) == 0 else "per row"
        return f"ULVFactor(shift={shift}, {self.nbytes / 1e6:.1f} MB, of {self.matrix!r})"


@with_serial_blas
def factor(matrix: HSSMatrix, shift: float | Floats) -> ULVFactor:
    """Factor ``K~ + diag(shift)``; a new shift needs a new factor, but no new compression.

    Parameters
    ----------
    matrix : HSSMatrix
    shift : float or (n,) array
        Positive. In float32, a shift far below 1e-6 of the largest eigenvalue is lost to rounding.

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
            matrix.layouts[i],
            matrix.levels[i],
            matrix.row_offsets(i),
            matrix.projection,
            R,
            K,
            D,
            matrix.scratch,
        )
        emit(Share(1 - i / (depth + 1)), "factor: level %d of %d", i, depth)
        levels.append(here)
    assert R is not None
    return ULVFactor(matrix, shift, levels[::-1], R)


def factor_level(
    layout: _core.LevelLayout,
    level: HSSLevel,
    row_offsets: NDArray[np.int64],
    projection: bool,
    child_R: Floats | None,
    K: _core.KernelMatrix | None = None,
    shifts: Floats | None = None,
    scratch: Scratch | None = None,
) -> tuple[FactorLevel, Floats]:
    """Factor the nodes of a level; return their factors, and R for the level above.

    The leaves need K and the shifts, the levels above them the R of the level below. With a
    `scratch`, the factors are in its files.
    """
    m, ranks = np.diff(row_offsets), np.diff(level.ranks)
    dtype = level.basis.dtype
    empty = np.empty if scratch is None else scratch.empty
    packed: Floats = empty(int((m * (m + 1) // 2).sum()), dtype)
    W: Floats = empty(level.basis.size, dtype)
    R: Floats = np.empty(int((ranks**2).sum()), dtype)
    _core.factor_level(
        layout, K, shifts, level.basis, level.coupling, projection, child_R, packed, W, R
    )
    return FactorLevel(packed, W), R
