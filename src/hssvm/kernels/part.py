"""The exact kernel matrix of rows that several ranks hold."""

from __future__ import annotations

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from hssvm.comm import Communicator
from hssvm.kernels.base import Floats, Kernel, Rows, stack_rows
from hssvm.kernels.lazy import LazyKernelMatrix


class PartKernelMatrix(LazyKernelMatrix):
    """The rows of K that a rank holds; its columns are the rows that the ranks have shared.

    A row is sent to the other ranks once, with its first coefficients. All ranks number the columns
    in the same way.

    Parameters
    ----------
    kernel : Kernel
    X : (n, p) array or CSR matrix
        The rows of this rank.
    communicator : Communicator
    """

    def __init__(self, kernel: Kernel, X: Rows, communicator: Communicator) -> None:
        super().__init__(kernel, X)
        self.communicator = communicator
        self._columns = X[:0]
        self._index = np.full(self.n, -1)  # index of each row among this rank's shared rows
        self._shared: list[NDArray[np.int64]] = [np.empty(0, np.int64)] * communicator.size
        self._row = np.empty(0, np.int64)  # row of this rank, or -1, for every column

    @property
    def columns(self) -> Rows:
        """The rows of all ranks that the columns stand for."""
        return self._columns

    def share(self, rows: NDArray[np.int64], W: Floats) -> tuple[NDArray[np.int64], Floats]:
        """Make columns of some rows of every rank; see `LazyKernelMatrix.share`."""
        rank, before = self.communicator.rank, self._columns.shape[0]
        new = rows[self._index[rows] < 0]
        self._index[new] = self._shared[rank].size + np.arange(new.size)
        counts = np.array([[new.size, rows.size]])
        counts, indices, W, *arrays = self.communicator.allgather(
            [counts, self._index[rows], W, *_as_arrays(self.X[new])]
        )
        ends = before + np.cumsum(counts[:, 0])
        for other, (end, n_new) in enumerate(zip(ends, counts[:, 0], strict=True)):
            columns = np.arange(end - n_new, end)
            self._shared[other] = np.concatenate([self._shared[other], columns])
        if ends[-1] > before:
            self._columns = stack_rows([self._columns, _as_rows(arrays, self._columns)])
            added = np.full(ends[-1] - before, -1)
            added[self._shared[rank][self._index[new]] - before] = new
            self._row = np.concatenate([self._row, added])
        owners = np.split(indices, np.cumsum(counts[:-1, 1]))
        found = [shared[own] for shared, own in zip(self._shared, owners, strict=True)]
        return np.concatenate(found), W

    @property
    def shared_rows(self) -> NDArray[np.int64]:
        """Row of this rank for every column that `share` has made, -1 for rows of other ranks."""
        return self._row

    def share_again(self, shared_rows: NDArray[np.int64]) -> None:
        """Make the columns of an earlier matrix of the same rows."""
        columns = np.flatnonzero(shared_rows >= 0)
        rows = shared_rows[columns]
        counts, places, *arrays = self.communicator.allgather(
            [np.array([columns.size]), columns, *_as_arrays(self.X[rows])]
        )
        self._columns = _as_rows(arrays, self.X[:0])[np.argsort(places)]
        self._shared = np.split(places, np.cumsum(counts)[:-1])
        self._index[rows] = np.arange(rows.size)
        self._row = shared_rows

    def own(self, columns: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return which of the columns stand for rows of this rank, and these rows."""
        rows = self._row[columns]
        here = np.flatnonzero(rows >= 0)
        return here, rows[here]


def exact_kernel_matrix(kernel: Kernel, X: Rows, communicator: Communicator) -> LazyKernelMatrix:
    """Return the exact kernel matrix of rows that one or several ranks hold."""
    if communicator.size == 1:
        return LazyKernelMatrix(kernel, X)
    return PartKernelMatrix(kernel, X, communicator)


def _as_arrays(X: Rows) -> list[NDArray[np.generic]]:
    """Return the rows as arrays that can be concatenated."""
    if scipy.sparse.issparse(X):
        return [X.data, X.indices, np.diff(X.indptr)]
    return [X]


def _as_rows(arrays: list[NDArray[np.generic]], like: Rows) -> Rows:
    """Return the rows from their joined arrays, in the format of `like`."""
    if not scipy.sparse.issparse(like):
        return arrays[0]
    data, indices, lengths = arrays
    ends = np.concatenate([[0], np.cumsum(lengths)])
    return scipy.sparse.csr_array((data, indices, ends), shape=(lengths.size, like.shape[1]))
