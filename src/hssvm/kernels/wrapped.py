"""Kernels given by Python functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm import _core
from hssvm.kernels.base import LAYOUT, Floats, Kernel, Rows, as_rows, sort_groups


@dataclass(frozen=True)
class CallableKernel(Kernel):
    """A kernel given by a function of two sets of rows.

    The core calls the function once per block, one thread at a time, so it is slower than the
    built-in kernels.

    Parameters
    ----------
    function : callable
        ``function(X, Y)`` returns the (n, m) kernel values of the rows of X and Y, and must be
        symmetric and positive semi-definite. scikit-learn's pairwise kernels have this form.
        It must not use compressed matrices itself.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.kernels import CallableKernel
    >>> kernel = CallableKernel(lambda X, Y: np.minimum(X, Y.T))
    >>> kernel.block(np.array([[1.0], [2.0]]))
    array([[1., 1.],
           [1., 2.]])
    """

    function: Callable[[Any, Any], Any]

    def block(self, X: Rows, Y: Rows | None = None) -> Floats:
        """Kernel values of every row of `X` with every row of `Y`; see `Kernel.block`."""
        X = as_rows(X)
        Y = X if Y is None else as_rows(Y)
        values = np.asarray(self.function(X, Y))
        if values.shape != (X.shape[0], Y.shape[0]):
            raise ValueError(
                f"the kernel function returned an array of shape {values.shape} for "
                f"{X.shape[0]} and {Y.shape[0]} rows; it must return one value per pair"
            )
        return np.require(values, np.result_type(X.dtype, Y.dtype), LAYOUT)

    def diag(self, X: Rows) -> Floats:
        """Kernel value of every row of `X` with itself, (n,)."""
        X = as_rows(X)
        values: Floats = np.empty(X.shape[0], dtype=X.dtype)
        for begin in range(0, X.shape[0], 64):
            values[begin : begin + 64] = self.block(X[begin : begin + 64]).diagonal()
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
        """``k(x, Y_g) W_g`` for every row x of `X`; see `Kernel.grouped_product`."""
        order, x_ends = sort_groups(groups, y_ends.size - 1)
        out: Floats = np.zeros((X.shape[0], W.shape[1]), dtype=W.dtype)
        for g in np.flatnonzero(np.diff(x_ends)):
            group = slice(y_ends[g], y_ends[g + 1])
            points = Y[y_rows[group]]
            for begin in range(x_ends[g], x_ends[g + 1], 1024):
                rows = order[begin : min(begin + 1024, x_ends[g + 1])]
                out[rows] = self.block(X[rows], points) @ W[group]
        return out

    def matrix(self, X: Rows) -> _core.KernelMatrix:
        """Return the kernel matrix of `X`; see `Kernel.matrix`."""
        X = as_rows(X)

        def entries(rows: NDArray[np.int64], columns: NDArray[np.int64], dtype: str) -> Floats:
            return self.block(X[rows].astype(dtype), X[columns].astype(dtype))

        return _core.KernelMatrix(entries, X.shape[0])
