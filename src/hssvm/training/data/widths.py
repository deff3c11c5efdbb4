"""The default width of a kernel: gamma='scale'.

A Gaussian kernel has scikit-learn's value, ``1 / (p * variance)``. Kernels that are functions of
the distance itself have ``1 / median distance`` of the rows.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from hssvm.kernels import Gaussian, Laplacian
from hssvm.kernels.base import Floats, Rows
from hssvm.kernels.radial import RadialKernel
from hssvm.training.data.moments import overall_variance

N_PAIRS = 2**12
"""Number of random pairs of rows: the error of the median distance is about 1 %."""

PAIR_ENTRIES = 2**22
"""Number of entries of pairs that are subtracted at a time."""


def scale_gamma(kernel: type[RadialKernel] | None, X: Rows, weight: Floats) -> float:
    """Return the value of gamma='scale'; the kernel is None if it is not radial.

    It accounts for the sample weights: a weight of 2 is equivalent to repeating the row.
    """
    if uses_moments(kernel):
        return moments_gamma(X.shape[1], overall_variance(X, weight))
    assert kernel is not None
    return median_gamma(kernel, X, weight)


def uses_moments(kernel: type[RadialKernel] | None) -> bool:
    """Whether gamma='scale' depends on moments of the rows instead of distances."""
    return kernel is None or issubclass(kernel, Gaussian)


def moments_gamma(n_features: int, variance: float) -> float:
    """scikit-learn's value, from the variance over all entries of X."""
    return 1.0 / (n_features * variance) if variance > 0 else 1.0


def median_gamma(kernel: type[RadialKernel], X: Rows, weight: Floats) -> float:
    """Gamma at which the kernel has ``gamma * d = 1`` at the median distance of the rows.

    d is the squared distance for Gaussian kernels. The median is over `N_PAIRS` pairs of rows,
    drawn in proportion to their weights; equal rows do not count.
    """
    ends = np.cumsum(weight, dtype=np.float64)
    places = np.random.default_rng(0).random((N_PAIRS, 2)) * ends[-1]
    first, second = np.searchsorted(ends, places, side="right").clip(max=ends.size - 1).T
    step = max(1, PAIR_ENTRIES // max(X.shape[1], 1))
    distance = np.concatenate(
        [
            _distances(kernel, X[first[i : i + step]], X[second[i : i + step]])
            for i in range(0, N_PAIRS, step)
        ]
    )
    distance = distance[distance > 0]
    return float(1 / np.median(distance)) if distance.size else 1.0


def _distances(kernel: type[RadialKernel], X: Rows, Y: Rows) -> NDArray[np.float64]:
    """Distance of every row of X from the row of Y, (m,), as the kernel measures it."""
    difference = (X - Y).astype(np.float64)
    if scipy.sparse.issparse(difference):
        absolute, squares = abs(difference), difference.multiply(difference)
    else:
        absolute, squares = np.abs(difference), difference**2
    if issubclass(kernel, Laplacian):
        return np.asarray(absolute.sum(axis=1), np.float64).ravel()
    squared = np.asarray(squares.sum(axis=1), np.float64).ravel()
    return squared if issubclass(kernel, Gaussian) else np.sqrt(squared)
