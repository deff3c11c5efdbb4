"""Normal scores of features: ranks among the training rows, as quantiles of a normal distribution.

A value that occurs c times among n training rows, after r smaller ones, has the normal score::

    Phi^-1((r + c / 2) / n)                 c / 2: the middle of the ranks of equal values

All scores are finite, and the values of a rare category are not farther from the others than its
frequency suggests. Features with only two values have no quantiles to speak of; their scores are
-1/2 and 1/2. Between the knots, which are values of the training rows, the scores are linear;
beyond the first and the last, constant.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special
from numpy.typing import NDArray

from hssvm import _core
from hssvm.kernels.base import Floats

MAX_KNOTS = 64
"""Maximum number of knots of a feature. If it has no more values than that, the scores of the
training rows are exact. Otherwise, if values are left out between two knots, the scores of these
differ by at most ``1 / (MAX_KNOTS / 2 - 1)`` of the range of all scores. Models with more knots are
not more accurate."""


def quantiles_of(X: Floats) -> NDArray[np.float64]:
    """Return the knots of every feature, and their normal scores.

    Parameters
    ----------
    X : (n, p) array

    Returns
    -------
    (2, p, m) array
        Values, ascending, and their scores; m is at most `MAX_KNOTS`. Features with fewer knots
        repeat the last one.
    """
    knots = [_knots(column) for column in X.T]
    m = max((values.size for values, _ in knots), default=1)
    padded = [np.pad(pair, ((0, 0), (0, m - pair[0].size)), mode="edge") for pair in knots]
    return np.stack(padded, axis=1) if padded else np.zeros((2, 0, m))


def to_normal_scores(X: Floats, quantiles: NDArray[np.float64]) -> Floats:
    """Return the normal scores of rows (m, p), in their precision."""
    X = np.ascontiguousarray(X)
    values, scores = np.ascontiguousarray(quantiles, X.dtype)
    mapped: Floats = np.empty_like(X)
    _core.interpolate_columns(X, values, scores, mapped)
    return mapped


def score_slopes(X: Floats, quantiles: NDArray[np.float64]) -> NDArray[np.float64]:
    """Derivatives of the normal scores of rows, (m, p); to the right at knots, 0 beyond them."""
    slopes = np.zeros(X.shape)
    for j, (values, scores) in enumerate(zip(*quantiles, strict=True)):
        place = np.searchsorted(values, X[:, j], side="right")
        inside = (place > 0) & (place < values.size)
        after = place[inside]
        rise, run = (array[after] - array[after - 1] for array in (scores, values))
        slopes[inside, j] = rise / run
    return slopes


def are_quantiles(array: NDArray[Any], n_features: int) -> bool:
    """Whether an array may be a result of `quantiles_of`."""
    return bool(
        array.dtype == np.float64
        and array.ndim == 3
        and array.shape[:2] == (2, n_features)
        and array.shape[2] > 0
        and np.isfinite(array).all()
        and (np.diff(array) >= 0).all()
    )


def _knots(column: Floats) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the knots of a feature, and their scores."""
    values, counts = np.unique(column, return_counts=True)
    if values.size == 2:
        return values.astype(np.float64), np.array([-0.5, 0.5])
    scores = scipy.special.ndtri((np.cumsum(counts) - counts / 2) / column.size)
    if values.size > MAX_KNOTS:
        # On either side of each score of the grid: knots between which values are left out have
        # about the same score, even if one of them is frequent.
        grid = np.linspace(scores[0], scores[-1], MAX_KNOTS // 2)
        above = np.searchsorted(scores, grid, side="left")
        below = np.searchsorted(scores, grid, side="right") - 1
        kept = np.unique(np.concatenate([above, below]))
        values, scores = values[kept], scores[kept]
    return values.astype(np.float64), scores
