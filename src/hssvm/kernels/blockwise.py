"""Kernels that only compute blocks of values in Python."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hssvm import _core
from hssvm.kernels.base import Floats, Kernel, Rows, as_rows, sort_groups

DIAGONAL_BLOCK = 64
"""Number of rows at a time from whose block the diagonal is taken."""

BLOCK_VALUES = 2**22
"""Number of values of a block at a time in products."""


class BlockwiseKernel(Kernel):
    """Base class of kernels for which everything is computed from blocks.

    The core calls `block` one thread at a time, so these are slower than the kernels of the core.
    """

    def diag(self, X: Rows) -> Floats:
        """Kernel value of every row of `X` with itself, (n,)."""
        X = as_rows(X)
        values: Floats = np.empty(X.shape[0], dtype=X.dtype)
        for begin in range(0, X.shape[0], DIAGONAL_BLOCK):
            chunk = slice(begin, begin + DIAGONAL_BLOCK)
            values[chunk] = self.block(X[chunk]).diagonal()
        return values

    def grouped_product(
        self,
        X: Rows,
        groups: NDArray[np.int64],
        Y: Rows,
        y_rows: NDArray[np.int64],
        y_ends: NDArray[np.int64],
        W: Floats,
    ) -> Floats:
        """``k(x, Y_g) W_g`` for every row x of `X`; see `Kernel.grouped_product`.

        Empty groups have no blocks, as functions of the user may refuse them.
        """
        order, x_ends = sort_groups(groups, y_ends.size - 1)
        out: Floats = np.zeros((X.shape[0], W.shape[1]), dtype=W.dtype)
        for g in np.flatnonzero((np.diff(x_ends) > 0) & (np.diff(y_ends) > 0)):
            group = slice(y_ends[g], y_ends[g + 1])
            points = Y[y_rows[group]]
            step = max(1, BLOCK_VALUES // max(1, points.shape[0]))
            for begin in range(x_ends[g], x_ends[g + 1], step):
                rows = order[begin : min(begin + step, x_ends[g + 1])]
                out[rows] = self.block(X[rows], points) @ W[group]
        return out

    def matrix(self, X: Rows) -> _core.KernelMatrix:
        """Return the kernel matrix of `X`; see `Kernel.matrix`."""
        X = as_rows(X)

        def entries(rows: NDArray[np.int64], columns: NDArray[np.int64], dtype: str) -> Floats:
            return self.block(X[rows].astype(dtype), X[columns].astype(dtype))

        return _core.KernelMatrix(entries, X.shape[0])
