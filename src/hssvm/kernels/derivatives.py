"""Gradients of kernels with respect to their first argument.

Everything follows from ``sum_i V[x, i] grad_x k(x, y_i)``, with weights V that depend on the row x:
the gradient of a product of kernels is the sum of those of its factors, weighted by the values of
the other factors. Where a kernel has no derivative in a feature, the term counts as 0.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hssvm.kernels.base import Floats, Kernel, Rows, as_rows, match_formats
from hssvm.kernels.composite import ColumnsKernel, Constant, ProductKernel, SumKernel
from hssvm.kernels.factors import dense
from hssvm.kernels.gradients import blocks
from hssvm.kernels.inner import Linear, Polynomial, squared_norms
from hssvm.kernels.radial import RadialKernel
from hssvm.kernels.similarities import (
    ChiSquared,
    Cosine,
    HistogramIntersection,
    MinMax,
    Tanimoto,
)


def expansion_gradients(kernel: Kernel, X: Rows, Y: Rows, W: Floats) -> NDArray[np.float64]:
    """Gradients of the functions ``f(x) = sum_i W_i k(x, y_i)`` at the rows of `X`.

    Parameters
    ----------
    kernel : Kernel
    X, Y : (m, p) and (n, p) array or CSR matrix
    W : (n, k)
        Weights of k functions.

    Returns
    -------
    (m, k, p) array of float64

    Raises
    ------
    ValueError
        If the kernel has no gradient.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.kernels import Gaussian, Linear
    >>> from hssvm.kernels.derivatives import expansion_gradients
    >>> X, Y = np.array([[0.0, 1.0]]), np.array([[0.0, 2.0]])
    >>> expansion_gradients(Gaussian(1.0)[:1] * Linear()[1:], X, Y, np.ones((1, 1)))
    array([[[0., 2.]]])
    """
    X, Y = match_formats(*(as_rows(Z).astype(np.float64, copy=False) for Z in (X, Y)))
    gradients = np.empty((X.shape[0], W.shape[1], X.shape[1]))
    for some in blocks(X.shape[0], max(Y.shape[0], X.shape[1])):
        n_rows = X[some].shape[0]
        for column, weights in enumerate(W.T.astype(np.float64)):
            V = np.tile(weights, (n_rows, 1))
            gradients[some, column] = weighted_gradients(kernel, V, X[some], Y)
    return gradients


def weighted_gradients(kernel: Kernel, V: Floats, X: Rows, Y: Rows) -> NDArray[np.float64]:
    """``sum_i V[x, i] grad_x k(x, y_i)`` for every row x of `X`, (m, p).

    Parameters
    ----------
    kernel : Kernel
    V : (m, n)
    X, Y : (m, p) and (n, p) array or CSR matrix of float64
    """
    if isinstance(kernel, RadialKernel):
        directions = kernel.weighted_directions(V * kernel.slopes(X, Y), X, Y)
        return directions.astype(np.float64, copy=False)
    if isinstance(kernel, SumKernel):
        parts = [weighted_gradients(part, V, X, Y) for part in kernel.kernels]
        return np.sum(parts, axis=0)
    if isinstance(kernel, ProductKernel):
        return _of_product(kernel, V, X, Y)
    if isinstance(kernel, ColumnsKernel):
        return _of_columns(kernel, V, X, Y)
    if isinstance(kernel, Constant):
        return np.zeros(X.shape)
    if type(kernel) not in SIMPLE:
        raise ValueError(
            f"{kernel!r} has no gradient; fit with a kernel that is a smooth function of numbers, "
            "such as kernel='rbf'"
        )
    return SIMPLE[type(kernel)](kernel, V, X, Y)


def _of_product(kernel: ProductKernel, V: Floats, X: Rows, Y: Rows) -> NDArray[np.float64]:
    values = [part.block(X, Y) for part in kernel.kernels]
    total = np.zeros(X.shape)
    for i, part in enumerate(kernel.kernels):
        others = np.prod(np.stack([V, *values[:i], *values[i + 1 :]]), axis=0)
        total += weighted_gradients(part, others, X, Y)
    return total


def _of_columns(kernel: ColumnsKernel, V: Floats, X: Rows, Y: Rows) -> NDArray[np.float64]:
    columns = kernel.selected(X.shape[1])
    part = weighted_gradients(kernel.kernel, V, as_rows(X[:, columns]), as_rows(Y[:, columns]))
    total = np.zeros(X.shape)
    for j, column in enumerate(columns):  # which may be selected twice
        total[:, column] += part[:, j]
    return total


def _linear(kernel: Linear, V: Floats, X: Rows, Y: Rows) -> NDArray[np.float64]:
    return np.asarray(V @ Y)


def _polynomial(kernel: Polynomial, V: Floats, X: Rows, Y: Rows) -> NDArray[np.float64]:
    inner = kernel.gamma * Linear().block(X, Y) + kernel.coef0
    slopes = kernel.degree * kernel.gamma * inner ** (kernel.degree - 1)
    return np.asarray((V * slopes) @ Y)


def _cosine(kernel: Cosine, V: Floats, X: Rows, Y: Rows) -> NDArray[np.float64]:
    lengths = [np.sqrt(squared_norms(Z)) for Z in (X, Y)]
    one, other = (np.divide(1, n, out=np.zeros_like(n), where=n > 0) for n in lengths)
    own = (V * kernel.block(X, Y)).sum(axis=1) * one**2
    gradients: NDArray[np.float64] = (V * one[:, None] * other) @ Y - own[:, None] * dense(X)
    return gradients


def _tanimoto(kernel: Tanimoto, V: Floats, X: Rows, Y: Rows) -> NDArray[np.float64]:
    inner = Linear().block(X, Y)
    total = squared_norms(X)[:, None] + squared_norms(Y) - inner
    V = np.divide(V, total**2, out=np.zeros_like(total), where=total > 0)
    own = 2 * (V * inner).sum(axis=1)
    gradients: NDArray[np.float64] = (V * (total + inner)) @ Y - own[:, None] * dense(X)
    return gradients


def _chi_squared(kernel: ChiSquared, V: Floats, X: Rows, Y: Rows) -> NDArray[np.float64]:
    def slopes(x: Floats, S: Floats) -> Floats:
        total = x + S
        ratio = np.divide(x - S, total, out=np.zeros_like(S), where=total > 0)
        return np.divide(ratio * (x + 3 * S), total, out=np.zeros_like(S), where=total > 0)

    return -kernel.gamma * _row_by_row(V * kernel.block(X, Y), X, Y, slopes)


def _below(x: Floats, S: Floats) -> Floats:
    """Where the minimum of x and s grows with x."""
    return (x < S).astype(np.float64)


def _above(x: Floats, S: Floats) -> Floats:
    """Where the maximum of x and s grows with x."""
    return (x > S).astype(np.float64)


def _intersection(
    kernel: HistogramIntersection, V: Floats, X: Rows, Y: Rows
) -> NDArray[np.float64]:
    return _row_by_row(V, X, Y, _below)


def _min_max(kernel: MinMax, V: Floats, X: Rows, Y: Rows) -> NDArray[np.float64]:
    least = HistogramIntersection().block(X, Y)
    most = HistogramIntersection().diag(X)[:, None] + HistogramIntersection().diag(Y) - least
    V = np.divide(V, most, out=np.zeros_like(most), where=most > 0)
    ratio = np.divide(least, most, out=np.zeros_like(most), where=most > 0)
    return _row_by_row(V, X, Y, _below) - _row_by_row(V * ratio, X, Y, _above)


def _row_by_row(
    V: Floats, X: Rows, Y: Rows, slopes: Callable[[Floats, Floats], Floats]
) -> NDArray[np.float64]:
    """``sum_i V[x, i] slope(x_j, y_ij)`` for every row x of `X`, (m, p)."""
    X, Y = dense(X), dense(Y)
    return np.stack([v @ slopes(x, Y) for v, x in zip(V, X, strict=True)])


SIMPLE: dict[type[Kernel], Callable[..., NDArray[np.float64]]] = {
    Linear: _linear,
    Polynomial: _polynomial,
    Cosine: _cosine,
    Tanimoto: _tanimoto,
    ChiSquared: _chi_squared,
    HistogramIntersection: _intersection,
    MinMax: _min_max,
}
"""Gradients of the kernels that are neither radial nor composed of others."""
