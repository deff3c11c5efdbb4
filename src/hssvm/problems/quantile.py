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

ROUNDING = 1e-12
"""Of sums of weights, relative to the mass."""


def weighted_quantiles(
    points: Sequence[NDArray[np.float64]],
    weights: Sequence[NDArray[np.float64]],
    mass: NDArray[np.float64],
    parts: Parts = ALONE,
    rtol: float = ROUNDING,
) -> NDArray[np.float64]:
    """Where the weight of the points below reaches `mass`, for several sets of points.

    A function whose slope is ``-mass`` on the far left, and rises by the weight at every point, has
    its minimum here. Where a whole interval is best, its middle is taken; where the
    minimum is beyond the last point on either side, that point.

    Parameters
    ----------
    points, weights : sequences of k arrays, (n,) each
        Of this part.
    mass : (k,)
        Of all parts.
    parts : Parts
    rtol : float
        Rounding error of the weights: a slope of up to this share of the mass counts as 0.

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
    sets = [
        _Points(p[w > 0], w[w > 0], float(m) - rtol * abs(m), float(m) + rtol * abs(m))
        for p, w, m in zip(points, weights, mass, strict=True)
    ]
    counts = parts.sum(np.array([s.points.size for s in sets]))
    while (counts > FEW).any():
        samples = parts.gather([s.sample(c) for s, c in zip(sets, counts, strict=True)])
        ends = [np.concatenate([[-np.inf], np.unique(s), [np.inf]]) for s in samples]
        histograms = parts.sum(
            np.concatenate([s.histogram(e) for s, e in zip(sets, ends, strict=True)])
        )
        starts = np.cumsum([e.size - 1 for e in ends])[:-1]
        for s, e, h in zip(sets, ends, np.split(histograms, starts), strict=True):
            s.narrow(e, h)
        before, counts = counts, parts.sum(np.array([s.points.size for s in sets]))
        if not ((before > FEW) & (counts <= before / 2)).any():  # the same point many times
            break
    for s in sets:
        s.unite()
    all_points = parts.gather([s.points for s in sets])
    all_weights = parts.gather([s.weights for s in sets])
    return np.array([s.middle(p, w) for s, p, w in zip(sets, all_points, all_weights, strict=True)])


class _Points:
    """Points of one set that may still be the answer.

    The weight up to the answer is between `least` and `most`, which differ by rounding.
    """

    def __init__(
        self,
        points: NDArray[np.float64],
        weights: NDArray[np.float64],
        least: float,
        most: float,
    ) -> None:
        self.points, self.weights = points, weights
        self.least, self.most = least, most
        self.below = 0.0
        """Weight of the points below these, over all parts."""

    def sample(self, count: int) -> NDArray[np.float64]:
        return self.points[:: max(1, int(count) // SAMPLE)]

    def histogram(self, ends: NDArray[np.float64]) -> NDArray[np.float64]:
        bins = np.searchsorted(ends, self.points) - 1  # ends[bin] < point <= ends[bin + 1]
        return np.bincount(bins, self.weights, ends.size - 1).astype(np.float64)

    def narrow(self, ends: NDArray[np.float64], histogram: NDArray[np.float64]) -> None:
        masses = self.below + np.concatenate([[0.0], np.cumsum(histogram)])
        # least may be above all of them, and the last bin is empty where the sample has its end
        crossing = min(int(np.searchsorted(masses, self.least)), ends.size - 1)
        beyond = int(np.searchsorted(masses, self.most, "right"))
        # one bin more on either side, as other sums round otherwise
        first, last = max(crossing - 2, 0), min(beyond + 1, ends.size - 1)
        inside = (self.points > ends[first]) & (self.points <= ends[last])
        self.below = float(masses[first])
        self.points, self.weights = self.points[inside], self.weights[inside]

    def unite(self) -> None:
        """Keep equal points once, with their weights together."""
        if self.points.size > FEW:
            self.points, where = np.unique(self.points, return_inverse=True)
            self.weights = np.bincount(where, self.weights).astype(np.float64)

    def middle(self, points: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
        """Middle of the interval in which the weight below is between `least` and `most`."""
        if points.size == 0:
            return 0.0
        order = np.argsort(points, kind="stable")  # the same on every machine
        masses = self.below + np.cumsum(weights[order])
        left = int(np.searchsorted(masses, self.least))
        right = int(np.searchsorted(masses, self.most, "right"))
        ends = points[order[np.minimum([left, right], points.size - 1)]]
        return float(ends.sum() / 2)
