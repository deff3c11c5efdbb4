"""Sums over the points of a kernel expansion, of which its gradients consist."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from hssvm import _core
from hssvm.kernels.base import LAYOUT, Floats, Rows

BLOCK_VALUES = 2**22
"""Number of values of the largest arrays at a time."""


def sum_differences(V: Floats, X: Rows, Y: Rows) -> Floats:
    """``sum_i V[x, i] (x - y_i)`` for every row x of `X`, (m, p).

    Parameters
    ----------
    V : (m, n)
    X, Y : (m, p) and (n, p) array or CSR matrix
    """
    if not scipy.sparse.issparse(X):
        center = Y.mean(axis=0)  # around which the difference of the two terms cancels least
        X, Y = X - center, Y - center
    own = V.sum(axis=1)[:, None] * _dense(X)
    sums: Floats = own - V @ Y
    return sums


def sum_signs(V: Floats, X: Rows, Y: Rows) -> NDArray[np.float64]:
    """``sum_i V[x, i] sign(x - y_i)`` for every row x of `X`, (m, p).

    Parameters
    ----------
    V : (m, n)
    X, Y : (m, p) and (n, p) array or CSR matrix
    """
    X, Y = X.astype(np.float64, copy=False), Y.astype(np.float64, copy=False)
    sums = np.empty(X.shape)
    weights: NDArray[np.float64] = np.require(V, np.float64, LAYOUT)
    features, own = Y.T, X.T
    if scipy.sparse.issparse(X):
        features, own = features.tocsr(), own.tocsr()
    for some in blocks(X.shape[1], X.shape[0] + Y.shape[0]):
        rows = np.require(_dense(own[some]).T, None, LAYOUT)
        points = np.require(_dense(features[some]), None, LAYOUT)
        part = np.empty_like(rows)
        _core.sign_sums(weights, rows, points, part)
        sums[:, some] = part
    return sums


def blocks(length: int, values: int) -> Iterator[slice]:
    """Cut a range, each place of which needs so many values, into blocks that fit in memory."""
    step = max(1, BLOCK_VALUES // max(1, values))
    for begin in range(0, length, step):
        yield slice(begin, min(begin + step, length))


def _dense(X: Any) -> NDArray[np.float64]:
    dense: NDArray[np.float64] = X.toarray() if scipy.sparse.issparse(X) else X
    return dense
