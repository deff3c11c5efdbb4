"""Kernels given by Python functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hssvm.kernels.base import LAYOUT, Floats, Rows, as_rows
from hssvm.kernels.blockwise import BlockwiseKernel


@dataclass(frozen=True)
class CallableKernel(BlockwiseKernel):
    """A kernel given by a function of two sets of rows.

    The core calls the function once per block, one thread at a time, so it is slower than the
    built-in kernels. For points that are not rows of numbers, see `ObjectKernel`.

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

    scale_sensitive: ClassVar[bool] = False  # it may scale the features itself

    def block(self, X: Rows, Y: Rows | None = None) -> Floats:
        """Kernel values of every row of `X` with every row of `Y`; see `Kernel.block`."""
        X = as_rows(X)
        Y = X if Y is None else as_rows(Y)
        values = checked_values(self.function(X, Y), X.shape[0], Y.shape[0])
        return np.require(values, np.result_type(X.dtype, Y.dtype), LAYOUT)


def checked_values(values: Any, n: int, m: int) -> Floats:
    """Return what a kernel function returned as an array; raise ValueError if it is not (n, m)."""
    values = np.asarray(values)
    if values.shape != (n, m):
        raise ValueError(
            f"the kernel function returned an array of shape {values.shape} for {n} and {m} rows; "
            "it must return one value per pair"
        )
    if values.dtype.kind not in "fiub" or not np.isfinite(values).all():
        raise ValueError("the kernel function returned values that are not finite real numbers")
    return values
