"""Weighted quantiles: where a convex, piecewise linear function has its minimum."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hssvm.problems.parts import ALONE, Parts

FEW = 2048
"""So many points are sorted; more are narrowed down first."""

SAMPLE = 512
"""Points that mark the bins of one narrowing."""


def weighted_quantiles(
    points: Sequence[NDArray[np.float64]],
    weights: Sequence[NDArray[np.float64]],
    mass: NDArray[np.float64],
    parts: Parts = ALONE,
) -> NDArray[np.float64]:
    """Where the weight of the points below reaches `mass`, for several sets of points.

    A function whose slope is ``-mass`` on the far left, and rises by the weight at every point, has
    its minimum here. Where a whole interval is best, its middle is taken; where the minimum is
    beyond the last point on either side, that point.

    Parameters
    ----------
    points, weights : sequences of k arrays, (n,) each
        Of this part.
    mass : (k,)
        Of all parts.
    parts : Parts

    Returns
    -------
    (k,) array
        0 where no weight is positive.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.problems.quantile import weighted_quantiles
    >>> three = [np.array([3.0, 1.0, 7.0])] * 2
    >>> weighted_quantiles(three, [np.ones(3)] * 2, np.array([1.5, 2.0]))
    array([3., 5.])
    """
    sets = [_Points(p[w > 0], w[w > 0]) for p, w in zip(points, weights, strict=True)]
    counts = parts.sum(np.array([s.points.size for s in sets]))
    while (counts > FEW).any():
        samples = parts.gather([s.sample(c) for s, c in zip(sets, counts, strict=True)])
        ends = [np.concatenate([[-np.inf], np.unique(s), [np.inf]]) for s in samples]
        histograms = parts.sum(
            np.concatenate([s.histogram(e) for s, e in zip(sets, ends, strict=True)])
        )
        starts = np.cumsum([e.size - 1 for e in ends])[:-1]
        for s, e, h, m in zip(sets, ends, np.split(histograms, starts), mass, strict=True):
            s.narrow(e, h, m)
        before, counts = counts, parts.sum(np.array([s.points.size for s in sets]))
        if not ((before > FEW) & (counts <= before / 2)).any():  # the same point many times
            break
    for s in sets:
        s.unite()
    all_points = parts.gather([s.points for s in sets])
    all_weights = parts.gather([s.weights for s in sets])
    found = [
        _find(p, w, s.below, float(m))
        for p, w, s, m in zip(all_points, all_weights, sets, mass, strict=True)
    ]
    return np.array(found)


class _Points:
    """Points of one set that may still be the answer."""

    def __init__(self, points: NDArray[np.float64], weights: NDArray[np.float64]) -> None:
        self.points, self.weights = points, weights
        self.below = 0.0
        """Weight of the points below these, over all parts."""

    def sample(self, count: int) -> NDArray[np.float64]:
        return self.points[:: max(1, int(count) // SAMPLE)]

    def histogram(self, ends: NDArray[np.float64]) -> NDArray[np.float64]:
        bins = np.searchsorted(ends, self.points) - 1  # ends[bin] < point <= ends[bin + 1]
        return np.bincount(bins, self.weights, ends.size - 1).astype(np.float64)

    def narrow(
        self, ends: NDArray[np.float64], histogram: NDArray[np.float64], mass: float
    ) -> None:
        masses = self.below + np.concatenate([[0.0], np.cumsum(histogram)])
        # mass may be above the whole of them by rounding
        crossing = min(int(np.searchsorted(masses, mass)), ends.size - 1)
        first, last = max(crossing - 2, 0), min(crossing + 2, ends.size - 1)
        inside = (self.points > ends[first]) & (self.points <= ends[last])
        self.below = float(masses[first])
        self.points, self.weights = self.points[inside], self.weights[inside]

    def unite(self) -> None:
        """Keep equal points once, with their weights together."""
        if self.points.size > FEW:
            self.points, where = np.unique(self.points, return_inverse=True)
            self.weights = np.bincount(where, self.weights).astype(np.float64)


def _find(
    points: NDArray[np.float64], weights: NDArray[np.float64], below: float, mass: float
) -> float:
    if points.size == 0:
        return 0.0
    order = np.argsort(points, kind="stable")  # the same on every machine
    points = points[order]
    masses = below + np.cumsum(weights[order])
    last = points.size - 1
    i = min(int(np.searchsorted(masses, mass * (1 - 1e-12))), last)
    flat = masses[i] <= mass * (1 + 1e-12)
    return float((points[i] + points[min(i + flat, last)]) / 2)
