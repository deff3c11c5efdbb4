"""The kernel interface and the arrays that kernels accept."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from hssvm import _core, costs
from hssvm._threads import with_serial_blas
from hssvm.kernels.sparse_format import require_valid_sparse
from hssvm.kernels.wide import occurring_columns
from hssvm.messages import api, value_error

Floats: TypeAlias = NDArray[np.floating[Any]]
Rows: TypeAlias = Any
"""A dense (n, p) array or a scipy CSR matrix or array."""


LAYOUT: tuple[Literal["C"], Literal["A"]] = ("C", "A")
"""`numpy.require` flags of arrays passed to the core: C-contiguous and aligned."""


def as_rows(X: Rows) -> Rows:
    """Convert `X` for the core: C-contiguous and aligned, or canonical CSR; float32 or float64.

    Other dtypes become float64. `X` is copied only if something has to change.
    """
    if np.iscomplexobj(X):
        raise TypeError("X is complex; convert it to real features")
    if scipy.sparse.issparse(X):
        require_valid_sparse(X)
        X = X.tocsr()
        if X.dtype not in (np.float32, np.float64):
            X = X.astype(np.float64)
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        if X.shape[1] > np.iinfo(np.int32).max:
            raise ValueError(f"X has {X.shape[1]} columns; at most 2**31 - 1 are supported")
        return X
    X = np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions, (rows, features), got shape {X.shape}")
    dtype = X.dtype if X.dtype in (np.float32, np.float64) else np.float64
    return np.require(X, dtype, LAYOUT)


def require_finite(X: Rows) -> None:
    """Raise ValueError if `X` has NaN or infinite entries, naming the first such row."""
    values = X.data if scipy.sparse.issparse(X) else X
    finite = np.isfinite(values)
    if not finite.all():
        first = np.unravel_index(int(np.argmin(finite)), finite.shape)[0]
        if scipy.sparse.issparse(X):
            first = np.searchsorted(X.indptr, first, side="right") - 1
        raise ValueError(
            f"X has NaN or infinite entries, first in row {first}; impute or drop them"
        )


def core_rows(X: Rows) -> _core.Rows:
    """Wrap rows returned by `as_rows` for the core."""
    if scipy.sparse.issparse(X):
        indptr = np.require(X.indptr, np.int64, LAYOUT)
        indices = np.require(X.indices, np.int32, LAYOUT)
        return _core.Rows(indptr, indices, np.require(X.data, None, LAYOUT), X.shape[1])
    return _core.Rows(X)


def rows_like(X: Rows, other: Rows) -> Rows:
    """Convert `X` to the precision of `other`, and to CSR if `other` is sparse."""
    X = as_rows(X).astype(other.dtype, copy=False)
    if scipy.sparse.issparse(other):
        return X if scipy.sparse.issparse(X) else scipy.sparse.csr_array(X)
    return X.toarray() if scipy.sparse.issparse(X) else X


def stack_rows(blocks: Sequence[Rows]) -> Rows:
    """Stack blocks of rows, which must be all dense or all sparse."""
    if scipy.sparse.issparse(blocks[0]):
        return scipy.sparse.vstack(blocks, format="csr")
    return np.concatenate(blocks)


def match_formats(X: Rows, Y: Rows) -> tuple[Rows, Rows]:
    """Convert both to the wider precision, and to CSR if either is sparse."""
    if X.shape[1] != Y.shape[1]:
        raise ValueError(f"X has {X.shape[1]} features, Y has {Y.shape[1]}")
    dtype = np.result_type(X.dtype, Y.dtype)
    if scipy.sparse.issparse(X) != scipy.sparse.issparse(Y):
        X, Y = scipy.sparse.csr_array(X), scipy.sparse.csr_array(Y)
    return as_rows(X.astype(dtype, copy=False)), as_rows(Y.astype(dtype, copy=False))


def sort_groups(
    groups: NDArray[np.int64], n_groups: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the row indices sorted by group, (m,), and the group offsets, (n_groups + 1,)."""
    small = n_groups <= 2**16  # NumPy sorts integers of 16 bits in linear time
    order = np.argsort(groups.astype(np.uint16) if small else groups, kind="stable")
    ends = np.searchsorted(groups[order], np.arange(n_groups + 1))
    return order, ends


def value_cost(
    X: Rows,
    per_feature: float = costs.SECONDS_PER_FEATURE,
    per_nonzero: float = costs.SECONDS_PER_NONZERO,
) -> float:
    """Nominal seconds per value of a kernel of the core."""
    n, p = X.shape
    row = per_nonzero * X.nnz / n if scipy.sparse.issparse(X) else per_feature * p
    cost: float = (costs.SECONDS_PER_VALUE + row) * X.dtype.itemsize / 4
    return cost


class Kernel(ABC):
    """A positive semi-definite function of two points."""

    scale_sensitive: ClassVar[bool] = True
    """Whether features on much larger scales than others dominate the kernel, and should be scaled.
    False if scaling would change the meaning of the features, or if there are none."""

    def __add__(self, other: Any) -> Kernel:
        from hssvm.kernels.composite import SumKernel, combine  # which imports this module

        return combine(SumKernel, self, other)

    def __mul__(self, other: Any) -> Kernel:
        from hssvm.kernels.composite import ProductKernel, combine

        return combine(ProductKernel, self, other)

    __radd__, __rmul__ = __add__, __mul__

    def __getitem__(self, columns: Any) -> Kernel:
        from hssvm.kernels.composite import select_columns

        return select_columns(self, columns)

    __iter__ = None  # columns can be selected, but a kernel is not a sequence

    def check_rows(self, X: Rows) -> None:  # noqa: B027 (most kernels accept all rows)
        """Raise ValueError if the kernel is not defined for such rows."""

    @abstractmethod
    def block(self, X: Rows, Y: Rows | None = None) -> Floats:
        """Kernel values of every row of `X` with every row of `Y` (`X` itself if None).

        Parameters
        ----------
        X, Y : (n, p) and (m, p) array or CSR matrix

        Returns
        -------
        (n, m) array, float32 if both inputs are, else float64
        """

    @abstractmethod
    def diag(self, X: Rows) -> Floats:
        """Kernel value of every row of `X` with itself, (n,)."""

    @abstractmethod
    def grouped_product(
        self,
        X: Rows,
        groups: NDArray[np.int64],
        Y: Rows,
        y_rows: NDArray[np.int64],
        y_ends: NDArray[np.int64],
        W: Floats,
    ) -> Floats:
        """``k(x, Y_g) W_g`` for every row x of `X`, where g is the group of x.

        The rows of Y in group g are ``Y[y_rows[y_ends[g] : y_ends[g + 1]]]``.

        Parameters
        ----------
        X : (m, p)
        groups : (m,) int64
            Group of each row of X.
        Y : (n, p)
        y_rows : (m_y,) int64
            Indices of rows of Y, sorted by group.
        y_ends : (n_groups + 1,) int64
            Offsets of the groups in `y_rows`.
        W : (m_y, k)

        Returns
        -------
        (m, k) array with the common dtype of W, X and Y
        """

    def product(self, X: Rows, Y: Rows, W: Floats) -> Floats:
        """``k(X, Y) W``, (m, k), without storing the kernel block."""
        one_group, n = np.zeros(X.shape[0], np.int64), Y.shape[0]
        return self.grouped_product(X, one_group, Y, np.arange(n), np.array([0, n]), W)

    def coordinates(self, X: Rows) -> Rows:
        """Rows of numbers on which trees are built and new points are routed; (n, q)."""
        return X

    def value_cost(self, X: Rows) -> float:
        """Nominal seconds per kernel value: from a formula, not from a clock."""
        return costs.PYTHON_SLOWDOWN * value_cost(X)

    @abstractmethod
    def matrix(self, X: Rows) -> _core.KernelMatrix:
        """Return the kernel matrix of `X`, whose entries the core computes on demand."""


class CoreKernel(Kernel):
    """A kernel that is implemented in the core."""

    @property
    @abstractmethod
    def core(self) -> _core.Kernel:
        """The kernel as an object of the core."""

    @with_serial_blas
    def block(self, X: Rows, Y: Rows | None = None) -> Floats:
        """Kernel values of every row of `X` with every row of `Y`; see `Kernel.block`."""
        X = as_rows(X)
        X, Y = (X, X) if Y is None else match_formats(X, as_rows(Y))
        X, Y = occurring_columns(X, Y)
        out: Floats = np.empty((X.shape[0], Y.shape[0]), dtype=X.dtype)
        _core.kernel_block(self.core, core_rows(X), core_rows(Y), out)
        return out

    @with_serial_blas
    def grouped_product(
        self,
        X: Rows,
        groups: NDArray[np.int64],
        Y: Rows,
        y_rows: NDArray[np.int64],
        y_ends: NDArray[np.int64],
        W: Floats,
    ) -> Floats:
        """``k(x, Y_g) W_g`` for every row x of `X`; see `Kernel.grouped_product`."""
        X, Y = occurring_columns(*match_formats(as_rows(X), as_rows(Y)))
        order, x_ends = sort_groups(groups, y_ends.size - 1)
        out: Floats = np.empty((X.shape[0], W.shape[1]), dtype=W.dtype)
        _core.grouped_product(
            self.core, core_rows(X), order, x_ends, core_rows(Y), y_rows, y_ends, W, out
        )
        return out

    def value_cost(self, X: Rows) -> float:
        """Nominal seconds per kernel value; see `Kernel.value_cost`."""
        return value_cost(X)

    def matrix(self, X: Rows) -> _core.KernelMatrix:
        """Return the kernel matrix of `X`; see `Kernel.matrix`."""
        (X,) = occurring_columns(as_rows(X))
        return _core.KernelMatrix(self.core, core_rows(X))


def unit_diagonal(X: Rows) -> Floats:
    """Diagonal of a kernel with ``k(x, x) = 1``, (n,)."""
    X = as_rows(X)
    return np.ones(X.shape[0], dtype=X.dtype)


def require_positive(**values: float | Floats) -> None:
    """Raise ValueError unless each number, or each entry of an array, is positive and finite."""
    for name, value in values.items():
        if not (np.all(value > 0) and np.all(np.isfinite(value))):
            raise ValueError(f"{name} must be a positive number, got {value!r}")


def require_no_overflow(total: float, kernel: Kernel, dtype: np.dtype[Any]) -> None:
    """Raise ValueError unless a sum of values of the kernel is finite."""
    if not np.isfinite(total):
        raise value_error(
            f"values of {kernel!r} overflow {dtype}; lower its {api:degree} or {api:gamma}, or "
            "scale the features"
        )
