"""Kernels that are functions of the inner product."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse

from hssvm import _core
from hssvm.kernels.base import CoreKernel, Floats, Rows, as_rows, require_positive


@dataclass(frozen=True)
class Polynomial(CoreKernel):
    """``(gamma <x, y> + coef0) ** degree``, scikit-learn's ``poly``.

    Parameters
    ----------
    gamma : float
    coef0 : float
        At least 0; the kernel is not positive semi-definite for negative values.
    degree : int

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.kernels import Polynomial
    >>> Polynomial(gamma=1.0, coef0=1.0, degree=2).block(np.array([[0.0], [2.0]]))
    array([[ 1.,  1.],
           [ 1., 25.]])
    """

    gamma: float
    coef0: float = 0.0
    degree: int = 3

    def __post_init__(self) -> None:
        require_positive(gamma=self.gamma, degree=self.degree)
        if self.degree != int(self.degree) or self.degree >= 2**31:
            raise ValueError(f"degree must be an integer below 2**31, got {self.degree!r}")
        if not self.coef0 >= 0:
            raise ValueError(
                f"coef0 must be at least 0 for a positive semi-definite kernel, got {self.coef0!r}"
            )

    @property
    def core(self) -> _core.Kernel:
        """The kernel as an object of the core."""
        return _core.Kernel("polynomial", self.gamma, self.coef0, int(self.degree))

    def diag(self, X: Rows) -> Floats:
        """``(gamma |x|**2 + coef0) ** degree``, (n,)."""
        return (self.gamma * squared_norms(X) + self.coef0) ** int(self.degree)


@dataclass(frozen=True)
class Linear(CoreKernel):
    """``<x, y>``.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.kernels import Linear
    >>> Linear().block(np.array([[1.0], [2.0]]))
    array([[1., 2.],
           [2., 4.]])
    """

    @property
    def core(self) -> _core.Kernel:
        """The kernel as an object of the core."""
        return _core.Kernel("polynomial", 1.0)

    def diag(self, X: Rows) -> Floats:
        """``|x|**2``, (n,)."""
        return squared_norms(X)


def squared_norms(X: Rows) -> Floats:
    """``|x|**2`` of every row, (n,)."""
    X = as_rows(X)
    if scipy.sparse.issparse(X):
        squares: Floats = np.asarray(X.multiply(X).sum(axis=1)).ravel()
    else:
        squares = np.einsum("ij,ij->i", X, X)
    return squares
