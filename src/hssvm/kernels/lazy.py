"""The exact kernel matrix of a set of rows, computed on demand."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm.comm import SERIAL, Communicator
from hssvm.kernels.base import LAYOUT, Floats, Kernel, Rows, require_no_overflow

CONVERTED_ROWS = 8192
"""Number of rows that are converted to float64 at a time."""

DIAGONAL_ROWS = 1000
"""Number of rows from which the mean of the diagonal is estimated."""


@dataclass(eq=False)
class LazyKernelMatrix:
    """``K[i, j] = kernel(X[i], X[j])``, never stored as a whole.

    The rows of K correspond to the rows of X. So do the columns, unless several ranks hold the
    rows: see `hssvm.kernels.part`.

    Parameters
    ----------
    kernel : Kernel
    X : (n, p) array or CSR matrix

    Attributes
    ----------
    communicator : Communicator
        Connects the ranks that hold the rows.
    n_values : int
        Kernel values computed so far.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.kernels import Linear
    >>> from hssvm.kernels.lazy import LazyKernelMatrix
    >>> K = LazyKernelMatrix(Linear(), np.array([[1.0], [2.0], [3.0]]))
    >>> K.block(np.array([0, 1]), np.array([2]))
    array([[3.],
           [6.]])
    >>> K.product(np.array([2]), np.array([0, 1]), np.ones((2, 1)))
    array([[9.]])
    """

    kernel: Kernel
    X: Rows
    communicator: Communicator = field(default=SERIAL, init=False)
    n_values: int = field(default=0, init=False)

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    @property
    def dtype(self) -> np.dtype[Any]:
        """Precision of the values."""
        return np.dtype(self.X.dtype)

    @property
    def columns(self) -> Rows:
        """The rows of X that the columns stand for."""
        return self.X

    def share(self, rows: NDArray[np.int64], W: Floats) -> tuple[NDArray[np.int64], Floats]:
        """Make columns of some rows of every rank.

        Parameters
        ----------
        rows : (m,) int64
            Different rows of this rank.
        W : (m, k)
            Their coefficients.

        Returns
        -------
        columns : (M,) int64
            The columns that stand for the rows of all ranks, in rank order.
        W : (M, k)
            Their coefficients.
        """
        return rows, W

    def columns_of(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Make columns of some rows of every rank, without coefficients; see `share`."""
        return self.share(rows, np.empty((rows.size, 0), self.dtype))[0]

    @property
    def shared_rows(self) -> NDArray[np.int64]:
        """Row of this rank for every column that `share` has made, -1 for rows of other ranks."""
        return np.empty(0, np.int64)

    def share_again(self, shared_rows: NDArray[np.int64]) -> None:
        """Make the columns of an earlier matrix of the same rows."""

    def own(self, columns: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return which of the columns stand for rows of this rank, and these rows."""
        return np.arange(columns.size), columns

    def block(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> Floats:
        """Kernel values of the rows that two sets of columns stand for."""
        self.n_values += rows.size * columns.size
        return self.kernel.block(self.columns[rows], self.columns[columns])

    def product(self, rows: NDArray[np.int64], columns: NDArray[np.int64], W: Floats) -> Floats:
        """``K[rows, columns] @ W``, without storing the block."""
        if columns.size == 0 or rows.size == 0:
            return np.zeros((rows.size, W.shape[1]), W.dtype)
        self.n_values += rows.size * columns.size
        return self.kernel.product(self.X[rows], self.columns[columns], np.ascontiguousarray(W))

    def product_in_float64(
        self, rows: NDArray[np.int64], columns: NDArray[np.int64], W: Floats
    ) -> NDArray[np.float64]:
        """``K[rows, columns] @ W`` in float64, whatever the precision of X."""
        out = np.zeros((rows.size, W.shape[1]))
        if columns.size == 0:
            return out
        self.n_values += rows.size * columns.size * 8 // self.dtype.itemsize
        Y, W = self.columns[columns].astype(np.float64), np.require(W, np.float64, LAYOUT)
        for begin in range(0, rows.size, CONVERTED_ROWS):
            chunk = slice(begin, begin + CONVERTED_ROWS)
            out[chunk] = self.kernel.product(self.X[rows[chunk]].astype(np.float64), Y, W)
        return out

    def mean_diagonal(self) -> float:
        """Mean of the diagonal, estimated from a sample of rows, or 1 if that is 0."""
        total, count = diagonal_sum(self.kernel, self.X)
        require_no_overflow(total, self.kernel, self.dtype)
        return total / count if total > 0 else 1.0

    @property
    def value_cost(self) -> float:
        """Nominal seconds per kernel value; see `Kernel.value_cost`."""
        return self.kernel.value_cost(self.X)


def diagonal_sum(kernel: Kernel, X: Rows) -> tuple[float, int]:
    """Sum of the diagonal of the kernel matrix over a sample of the rows, and the sample size."""
    with np.errstate(over="ignore"):
        diagonal = kernel.diag(X[:: max(1, X.shape[0] // DIAGONAL_ROWS)])
        return float(diagonal.sum(dtype=np.float64)), diagonal.size
