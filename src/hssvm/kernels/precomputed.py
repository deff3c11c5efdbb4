"""A kernel given by its matrix."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from hssvm import _core, costs
from hssvm.kernels.base import LAYOUT, Floats, Rows
from hssvm.kernels.indexed import IndexedKernel, as_points, choose_landmarks, point_indices

READ_BYTES = 2**26
"""Number of bytes that are read from the matrix at a time."""

CHECKED_ROWS = 256
"""Number of rows whose block is checked for symmetry and definiteness."""

INDEFINITE = 1e-5
"""Accepted asymmetry, and negative eigenvalues, relative to the largest: rounding errors."""


@dataclass(frozen=True)
class Precomputed(IndexedKernel):
    """A kernel whose values are given, scikit-learn's ``precomputed``.

    Points are the indices of the rows and columns of the matrix. Memory maps are read in blocks of
    rows, and their pages are released after each, so that the matrix may be larger than memory.

    Parameters
    ----------
    landmarks : tuple of int
        Training points whose values with a new point determine its leaf.
    n_training : int
        Number of training points.
    K : (n, m) array, optional
        Kernel values of n points with the m training points.
    symmetric : bool
        Whether the n points are the training points.
    """

    landmarks: tuple[int, ...] = ()
    n_training: int = 0
    K: Floats | None = field(default=None, repr=False, compare=False)
    symmetric: bool = field(default=False, repr=False, compare=False)

    def bind(self, X: Any) -> Precomputed:
        """Return the kernel of the training points, whose kernel matrix is `X`.

        Symmetry and definiteness are checked on a sample of the rows.
        """
        if np.ndim(X) == 2 and np.shape(X)[0] != np.shape(X)[1]:
            n, m = np.shape(X)
            raise ValueError(
                f"Precomputed matrix must be a square matrix. Input is a {n}x{m} matrix."
            )
        # A symmetric matrix in Fortran order need not be copied.
        fortran = isinstance(X, np.ndarray) and X.flags.f_contiguous
        matrix = _as_matrix(X.T if fortran else X)
        n = matrix.shape[0]
        kernel = Precomputed(choose_landmarks(n), n, matrix, symmetric=True)
        kernel._check_sample()
        return kernel

    def at(self, X: Any) -> Precomputed:
        """Return the kernel of new points, whose values with the training points are `X`."""
        matrix = _as_matrix(X)
        if matrix.shape[1] != self.n_training:
            raise ValueError(
                f"X.shape[1] = {matrix.shape[1]} should be equal to {self.n_training}, the number "
                "of samples at training time"
            )
        return replace(self, K=matrix, symmetric=False)

    def select(self, rows: NDArray[np.int64]) -> Floats:
        """Return the matrix of some of the training points."""
        return self.values(rows, rows)

    def without_points(self) -> Precomputed:
        """Return the kernel without its matrix."""
        return Precomputed(self.landmarks, self.n_training)

    @property
    def _values(self) -> Floats:
        assert self.K is not None, "the kernel has no matrix"
        return self.K

    def points(self) -> Floats:
        """Indices of the rows of the matrix, (n, 1)."""
        return as_points(np.arange(self._values.shape[0]), self._values.dtype)

    def values(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> Floats:
        """``K[rows][:, columns]``."""
        if self.symmetric and columns.size < rows.size:
            return self.values(columns, rows).T
        out: Floats = np.empty((rows.size, columns.size), self._values.dtype)
        for begin, block in self._read(rows):
            out[begin : begin + block.shape[0]] = block[:, columns]
        return out

    def product(self, X: Rows, Y: Rows, W: Floats) -> Floats:
        """``k(X, Y) W``, (m, k); every row of the matrix is read at most once."""
        rows, columns = point_indices(X), point_indices(Y)
        out: Floats = np.zeros((rows.size, W.shape[1]), W.dtype)
        if not self.symmetric or rows.size <= columns.size:
            for begin, block in self._read(rows):
                used = np.require(block[:, columns], W.dtype, LAYOUT)
                out[begin : begin + block.shape[0]] = used @ W
            return out
        for begin, block in self._read(columns):
            used = np.require(block[:, rows], W.dtype, LAYOUT)
            _core.add_transposed_product(used, W[begin : begin + block.shape[0]].copy(), out)
        return out

    def diag(self, X: Rows) -> Floats:
        """``K[i, i]`` for every point i of `X`."""
        values: Floats = np.empty(X.shape[0], self._values.dtype)
        for begin, rows in self._chunks(point_indices(X)):
            values[begin : begin + rows.size] = self._values[rows, rows]
        return values

    def value_cost(self, X: Rows) -> float:
        """Nominal seconds to read a value."""
        cost = costs.SECONDS_PER_VALUE * X.dtype.itemsize / 4
        return cost if self._mapped is None else costs.FILE_SLOWDOWN * cost

    def _read(self, rows: NDArray[np.int64]) -> Iterator[tuple[int, Floats]]:
        """Yield blocks of rows of the matrix, each with the position of its first row."""
        for begin, chunk in self._chunks(rows):
            whole = bool(np.all(np.diff(chunk) == 1))
            block = self._values[chunk[0] : chunk[-1] + 1] if whole else self._values[chunk]
            if self._mapped is not None:
                _require_finite(block)
            yield begin, block

    def _chunks(self, rows: NDArray[np.int64]) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """Yield chunks of `rows`, and release the pages of a file that were read since."""
        matrix, mapped = self._values, self._mapped
        step = max(1, READ_BYTES // (matrix.shape[1] * matrix.itemsize))
        for begin in range(0, rows.size, step):
            yield begin, rows[begin : begin + step]
            if mapped is not None and hasattr(mmap, "MADV_DONTNEED"):
                mapped.madvise(mmap.MADV_DONTNEED)

    @property
    def _mapped(self) -> mmap.mmap | None:
        """The file that the matrix is read from, if any."""
        return _mapped_file(self._values)

    def _check_sample(self) -> None:
        """Raise ValueError if the block of a sample is not symmetric or not positive definite."""
        n = self._values.shape[0]
        sample = np.sort(np.random.default_rng(1).choice(n, min(n, CHECKED_ROWS), replace=False))
        block = self.values(sample, sample).astype(np.float64)
        difference, largest = np.abs(block - block.T).max(), np.abs(block).max()
        if difference > INDEFINITE * largest:
            raise ValueError(
                "the precomputed matrix is not symmetric: two entries that should be equal differ "
                f"by {difference:.2g}; pass (K + K.T) / 2 if that is what you mean"
            )
        eigenvalues = np.linalg.eigvalsh(block)
        if eigenvalues[0] < -INDEFINITE * eigenvalues[-1]:
            raise ValueError(
                "the precomputed matrix is not positive semi-definite: the block of "
                f"{sample.size} rows has the eigenvalue {eigenvalues[0]:.2g}; use a kernel that "
                f"is, or add {-eigenvalues[0]:.2g} or more to the diagonal of the matrix"
            )


def _mapped_file(array: Any) -> mmap.mmap | None:
    """Return the file that an array is read from; None if it is in memory."""
    while isinstance(array, np.ndarray):
        file = getattr(array, "_mmap", None)
        if isinstance(file, mmap.mmap):
            # In mode 'c', released pages would lose what was written to them.
            return None if getattr(array, "mode", "c") == "c" else file
        array = array.base
    return None


def _as_matrix(X: Any) -> Floats:
    """Return kernel values as float32 or float64 in C order, without reading a memory map."""
    if scipy.sparse.issparse(X):
        raise TypeError("a sparse precomputed matrix is not supported; pass a dense array")
    matrix = np.asarray(X)
    if matrix.ndim != 2 or matrix.shape[0] == 0:
        raise ValueError(
            "a precomputed matrix must have two dimensions and at least one row, got the shape "
            f"{matrix.shape}"
        )
    if np.iscomplexobj(matrix):
        raise TypeError("the precomputed matrix is complex; pass real kernel values")
    if matrix.dtype in (np.float32, np.float64) and matrix.flags.c_contiguous:
        if _mapped_file(matrix) is None:
            _require_finite(matrix)
        return matrix
    matrix = np.require(matrix, np.float32 if matrix.dtype == np.float32 else np.float64, LAYOUT)
    _require_finite(matrix)
    return matrix


def _require_finite(block: Floats) -> None:
    if not np.isfinite(block).all():
        raise ValueError("the precomputed matrix contains NaN or infinity")
