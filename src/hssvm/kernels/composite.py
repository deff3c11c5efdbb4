"""Sums and products of kernels, and kernels of some of the columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from numbers import Real
from operator import index
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from hssvm import _core
from hssvm.kernels.base import Floats, Kernel, Rows, as_rows
from hssvm.kernels.blockwise import BlockwiseKernel
from hssvm.kernels.indexed import IndexedKernel


@dataclass(frozen=True, repr=False)
class CombinedKernel(BlockwiseKernel):
    """Base class of sums and products.

    Parameters
    ----------
    kernels : tuple of Kernel
    """

    kernels: tuple[Kernel, ...]

    def __post_init__(self) -> None:
        for kernel in self.kernels:
            _require_kernel_of_rows(kernel)

    @property
    def scale_sensitive(self) -> bool:  # type: ignore[override]
        """Whether features on much larger scales than others dominate all parts."""
        return all(kernel.scale_sensitive for kernel in self.kernels)

    def check_rows(self, X: Rows) -> None:
        """Raise ValueError if a part is not defined for such rows."""
        for kernel in self.kernels:
            kernel.check_rows(X)

    def value_cost(self, X: Rows) -> float:
        """Nominal seconds per kernel value; see `Kernel.value_cost`."""
        return sum(kernel.value_cost(X) for kernel in self.kernels)


class SumKernel(CombinedKernel):
    """The sum of kernels, written ``kernel + kernel``.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.kernels import Linear, Polynomial
    >>> kernel = Linear() + Polynomial(1.0, degree=2)
    >>> kernel.block(np.array([[2.0], [3.0]]))
    array([[20., 42.],
           [42., 90.]])
    """

    def __repr__(self) -> str:
        return " + ".join(map(repr, self.kernels))

    def block(self, X: Rows, Y: Rows | None = None) -> Floats:
        """Sum of the kernel values; see `Kernel.block`."""
        return reduce(np.add, (kernel.block(X, Y) for kernel in self.kernels))

    def diag(self, X: Rows) -> Floats:
        """Kernel value of every row of `X` with itself, (n,)."""
        return reduce(np.add, (kernel.diag(X) for kernel in self.kernels))

    def matrix(self, X: Rows) -> _core.KernelMatrix:
        """Return the kernel matrix of `X`; see `Kernel.matrix`."""
        return _core.KernelMatrix([kernel.matrix(X) for kernel in self.kernels], False)


class ProductKernel(CombinedKernel):
    """The product of kernels, written ``kernel * kernel``.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.kernels import Gaussian, Linear
    >>> kernel = Gaussian(1.0)[:1] * Linear()[1:]
    >>> kernel.block(np.array([[0.0, 2.0], [0.0, 3.0]]))
    array([[4., 6.],
           [6., 9.]])
    """

    def __repr__(self) -> str:
        return " * ".join(map(_in_parentheses, self.kernels))

    def block(self, X: Rows, Y: Rows | None = None) -> Floats:
        """Product of the kernel values; see `Kernel.block`."""
        return reduce(np.multiply, (kernel.block(X, Y) for kernel in self.kernels))

    def diag(self, X: Rows) -> Floats:
        """Kernel value of every row of `X` with itself, (n,)."""
        return reduce(np.multiply, (kernel.diag(X) for kernel in self.kernels))

    def matrix(self, X: Rows) -> _core.KernelMatrix:
        """Return the kernel matrix of `X`; see `Kernel.matrix`."""
        return _core.KernelMatrix([kernel.matrix(X) for kernel in self.kernels], True)


@dataclass(frozen=True, repr=False)
class Constant(BlockwiseKernel):
    """The same value for all pairs; ``2.0 * kernel`` is a product with it.

    Parameters
    ----------
    value : float
    """

    value: float

    def __post_init__(self) -> None:
        if not (np.isfinite(self.value) and self.value >= 0):
            raise ValueError(f"a kernel can only be multiplied by a number >= 0, got {self.value}")

    def __repr__(self) -> str:
        return repr(self.value)

    def block(self, X: Rows, Y: Rows | None = None) -> Floats:
        """Kernel values of every row of `X` with every row of `Y`; see `Kernel.block`."""
        X = as_rows(X)
        Y = X if Y is None else as_rows(Y)
        dtype = np.result_type(X.dtype, Y.dtype)
        return np.full((X.shape[0], Y.shape[0]), self.value, dtype)

    def diag(self, X: Rows) -> Floats:
        """Kernel value of every row of `X` with itself, (n,)."""
        X = as_rows(X)
        return np.full(X.shape[0], self.value, X.dtype)

    def value_cost(self, X: Rows) -> float:
        """Nominal seconds per kernel value: none."""
        return 0.0

    def matrix(self, X: Rows) -> _core.KernelMatrix:
        """Return the kernel matrix of `X`; see `Kernel.matrix`."""
        X = as_rows(X)
        ones = np.full((X.shape[0], 1), np.sqrt(self.value), X.dtype)
        return _core.KernelMatrix(_core.Kernel("polynomial"), _core.Rows(ones))


@dataclass(frozen=True, repr=False)
class ColumnsKernel(BlockwiseKernel):
    """A kernel of some of the columns, written ``kernel[columns]``.

    Parameters
    ----------
    kernel : Kernel
    columns : tuple
        Column indices, or the start, stop and step of a slice, which may be None.
    is_slice : bool
    """

    kernel: Kernel
    columns: tuple[int | None, ...]
    is_slice: bool = False

    def __post_init__(self) -> None:
        _require_kernel_of_rows(self.kernel)

    def __repr__(self) -> str:
        text = f"[{list(self.columns)}]"
        if self.is_slice:
            start, stop, step = ("" if bound is None else str(bound) for bound in self.columns)
            text = f"[{start}:{stop}" + (f":{step}]" if step else "]")
        combined = isinstance(self.kernel, CombinedKernel)
        return (f"({self.kernel!r})" if combined else repr(self.kernel)) + text

    @property
    def scale_sensitive(self) -> bool:  # type: ignore[override]
        """Whether features on much larger scales than others dominate the kernel."""
        return self.kernel.scale_sensitive

    def selected(self, n_features: int) -> NDArray[np.int64]:
        """Indices of the columns among `n_features`."""
        every, columns = np.arange(n_features), self.columns
        return every[slice(*columns)] if self.is_slice else every[np.array(columns, np.int64)]

    def _select(self, X: Rows) -> Rows:
        selected: Any = slice(*self.columns) if self.is_slice else list(self.columns)
        try:
            X = X[:, selected]
        except IndexError:
            raise ValueError(
                f"{self.kernel!r} is for the columns {selected}, but X has {X.shape[1]} columns"
            ) from None
        if X.shape[1] == 0:
            raise ValueError(f"X has none of the columns {selected}, which {self.kernel!r} needs")
        return X if scipy.sparse.issparse(X) else np.ascontiguousarray(X)

    def check_rows(self, X: Rows) -> None:
        """Raise ValueError if the kernel is not defined for the columns."""
        self.kernel.check_rows(self._select(X))

    def block(self, X: Rows, Y: Rows | None = None) -> Floats:
        """Kernel values of every row of `X` with every row of `Y`; see `Kernel.block`."""
        other = None if Y is None else self._select(as_rows(Y))
        return self.kernel.block(self._select(as_rows(X)), other)

    def diag(self, X: Rows) -> Floats:
        """Kernel value of every row of `X` with itself, (n,)."""
        return self.kernel.diag(self._select(as_rows(X)))

    def value_cost(self, X: Rows) -> float:
        """Nominal seconds per kernel value; see `Kernel.value_cost`."""
        return self.kernel.value_cost(X if scipy.sparse.issparse(X) else self._select(X[:1]))

    def matrix(self, X: Rows) -> _core.KernelMatrix:
        """Return the kernel matrix of `X`; see `Kernel.matrix`."""
        return self.kernel.matrix(self._select(as_rows(X)))


def _in_parentheses(kernel: Kernel) -> str:
    return f"({kernel!r})" if isinstance(kernel, SumKernel) else repr(kernel)


def combine(kind: type[CombinedKernel], first: Any, second: Any) -> CombinedKernel:
    """Return the sum or product of two kernels, or of a kernel and a number."""
    parts: list[Kernel] = []
    for part in (first, second):
        if isinstance(part, Real):
            part = Constant(float(part))
        parts += part.kernels if type(part) is kind else [part]
    return kind(tuple(parts))


def select_columns(kernel: Kernel, columns: slice | Sequence[int]) -> ColumnsKernel:
    """Return a kernel of some of the columns."""
    if isinstance(columns, slice):
        return ColumnsKernel(kernel, (columns.start, columns.stop, columns.step), is_slice=True)
    if isinstance(columns, np.ndarray) and columns.dtype.kind == "b":
        columns = np.flatnonzero(columns).tolist()
    try:
        indices = tuple(index(column) for column in columns)
    except TypeError:
        raise TypeError(
            f"columns of a kernel must be a slice, a list of indices or a mask, got {columns!r}"
        ) from None
    if any(isinstance(column, bool) for column in columns):
        raise TypeError("pass a mask of columns as a NumPy array")
    return ColumnsKernel(kernel, indices)


def _require_kernel_of_rows(kernel: Any) -> None:
    if not isinstance(kernel, Kernel):
        raise TypeError(f"{kernel!r} is neither a number nor a kernel of hssvm.kernels")
    if isinstance(kernel, IndexedKernel):
        raise TypeError(f"{kernel!r} cannot be combined; combine its values yourself")
