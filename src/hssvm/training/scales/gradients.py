"""Squared gradients of a function ``f = sum_i w_i k(., x_i)`` at its own rows.

::

    df/dx_j = sum_i w_i m(x, x_i) (x_j - x_ij)

    Gaussian       m = -2 gamma k
    exponential    m =   -gamma k / d                  0 at d = 0
    Matern 3/2     m = -3 gamma^2 exp(-a)              a = sqrt(3) gamma d
    Matern 5/2     m = -5/3 gamma^2 (1 + a) exp(-a)    a = sqrt(5) gamma d
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hssvm.kernels import Exponential, Gaussian, Matern32
from hssvm.kernels.base import Floats, Rows
from hssvm.kernels.radial import RadialKernel

GRADIENT_ENTRIES = 2**22
"""Number of partial derivatives, or of kernel values, that are computed at a time."""

SAME_ROW = 1e-6
"""Distance times gamma below which rows count as equal: their difference is a rounding error."""


def squared_gradients(
    kernel: RadialKernel, X: Rows, W: Floats, weight: Floats
) -> NDArray[np.float64]:
    """Sum over rows and columns of weighted squared partial derivatives, (p,).

    Parameters
    ----------
    kernel : RadialKernel
    X : (n, p) array or CSR matrix
    W : (n, k)
    weight : (n,)
    """
    n, p = X.shape
    total, step = np.zeros(p), max(1, GRADIENT_ENTRIES // max(n, p))
    for begin in range(0, n, step):
        rows = slice(begin, begin + step)
        M = _slopes(kernel, X[rows], X)
        own = X[rows].toarray() if hasattr(X, "toarray") else X[rows]
        for w in W.T:
            V = M * w
            gradients = V.sum(axis=1)[:, None] * own - V @ X
            total += weight[rows] @ gradients.astype(np.float64) ** 2
    return total


def _slopes(kernel: RadialKernel, X: Rows, Y: Rows) -> Floats:
    """Return the factors m for all pairs of rows, (n, m)."""
    gamma = kernel.gamma
    if isinstance(kernel, Gaussian):
        return -2 * gamma * kernel.block(X, Y)
    a = -np.log(np.maximum(Exponential(gamma).block(X, Y), np.finfo(X.dtype).tiny))  # gamma * d
    if isinstance(kernel, Exponential):
        return np.where(a > SAME_ROW, -(gamma**2) * np.exp(-a) / np.maximum(a, SAME_ROW), 0)
    if isinstance(kernel, Matern32):
        return -3 * gamma**2 * np.exp(-(3**0.5) * a)
    a = 5**0.5 * a
    return -5 / 3 * gamma**2 * (1 + a) * np.exp(-a)
