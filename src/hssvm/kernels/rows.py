"""The true kernel matrix of a set of rows, in pieces."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm.kernels.base import Floats, Kernel, Rows

TRIAL = 8192, 512
"""Rows and columns of a trial: as many rows as it takes to reach the speed of a large product."""


@dataclass(frozen=True, eq=False)
class KernelRows:
    """``K[i, j] = kernel(X[i], X[j])``, never stored as a whole.

    Parameters
    ----------
    kernel : Kernel
    X : (n, p) array or CSR matrix

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.kernels import Linear
    >>> from hssvm.kernels.rows import KernelRows
    >>> K = KernelRows(Linear(), np.array([[1.0], [2.0], [3.0]]))
    >>> K.block(np.array([0, 1]), np.array([2]))
    array([[3.],
           [6.]])
    >>> K.product(np.array([2]), np.array([0, 1]), np.ones((2, 1)))
    array([[9.]])
    """

    kernel: Kernel
    X: Rows

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    @property
    def dtype(self) -> np.dtype[Any]:
        """Precision of the values."""
        return np.dtype(self.X.dtype)

    def block(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> Floats:
        """``K[rows, columns]``."""
        return self.kernel.block(self.X[rows], self.X[columns])

    def product(self, rows: NDArray[np.int64], columns: NDArray[np.int64], W: Floats) -> Floats:
        """``K[rows, columns] @ W``, without the block in memory."""
        if columns.size == 0 or rows.size == 0:
            return np.zeros((rows.size, W.shape[1]), W.dtype)
        return self.kernel.product(self.X[rows], self.X[columns], np.ascontiguousarray(W))

    def seconds_per_pass(self) -> float:
        """Forecast of the time to compute all of K once, from a trial."""
        rows, columns = (np.linspace(0, self.n - 1, min(self.n, m)).astype(np.int64) for m in TRIAL)
        seconds = []
        for _ in range(3):
            start = time.perf_counter()
            self.product(rows, columns, np.ones((columns.size, 1), self.dtype))
            seconds.append(time.perf_counter() - start)
        return min(seconds) * (self.n / rows.size) * (self.n / columns.size)
