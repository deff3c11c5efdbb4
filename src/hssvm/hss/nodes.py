"""The blocks of single nodes of a factored matrix, unpacked from the flat arrays of their level."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import get_lapack_funcs

from hssvm.hss.ulv import ULVFactor
from hssvm.kernels.base import Floats


class FactoredNodes:
    """The nodes of one level of a factor, in float64.

    Parameters
    ----------
    factor : ULVFactor
    level : int
    """

    def __init__(self, factor: ULVFactor, level: int) -> None:
        matrix = factor.matrix
        here, factors = matrix.levels[level], factor.levels[level]
        self.ranks = np.diff(here.ranks)
        self._sizes = np.diff(matrix.row_offsets(level))
        self._packed, self._W, self._basis = factors.packed, factors.W, here.basis
        self._packed_ends = running_sum(self._sizes * (self._sizes + 1) // 2)
        self._ends = running_sum(self._sizes * self.ranks)

    @property
    def n(self) -> int:
        """Number of nodes."""
        return int(self.ranks.size)

    def cholesky(self, i: int) -> NDArray[np.float64]:
        """Lc, the lower Cholesky factor of the block of a node, (m, m)."""
        packed = self._packed[self._packed_ends[i] : self._packed_ends[i + 1]]
        unpack = get_lapack_funcs("tfttr", (packed,))
        lower: NDArray[np.float64] = unpack(int(self._sizes[i]), packed, uplo="L")[0]
        return lower.astype(np.float64, copy=False)

    def W(self, i: int) -> NDArray[np.float64]:
        """``Lc^-T Q``, (m, rank)."""
        return self._block(self._W, i)

    def basis(self, i: int) -> NDArray[np.float64]:
        """U of a leaf, or V of a node above them, (m, rank)."""
        return self._block(self._basis, i)

    def _block(self, values: Floats, i: int) -> NDArray[np.float64]:
        block = values[self._ends[i] : self._ends[i + 1]].astype(np.float64, copy=False)
        return block.reshape(int(self.ranks[i]), int(self._sizes[i])).T


def factored_levels(factor: ULVFactor) -> list[FactoredNodes]:
    """Return the nodes of all levels, root first."""
    return [FactoredNodes(factor, level) for level in range(len(factor.levels))]


def running_sum(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the ends of consecutive blocks of these sizes, starting with 0."""
    return np.concatenate([[0], np.cumsum(sizes)])
