"""Weighted quantiles: minimizers of convex, piecewise linear functions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hssvm.comm import SERIAL, Communicator

SORTED_POINTS = 2048
"""Maximum number of points to sort; larger sets are narrowed down first."""

PIVOT_SAMPLE = 512
"""Number of points that delimit the bins of one narrowing step."""

MASS_ROUNDING = 1e-12
"""Rounding error of sums of weights, relative to the mass."""


def weighted_quantiles(
    points: Sequence[NDArray[np.float64]],
    weights: Sequence[NDArray[np.float64]],
    mass: NDArray[np.float64],
    communicator: Communicator = SERIAL,
    rtol: float = MASS_ROUNDING,
) -> NDArray[np.float64]:
    """Find where the cumulative weight of the points reaches `mass`, for several sets of points.

    This is the minimizer of a function whose slope is ``-mass`` on the far left and increases by
    the weight at every point. If the minimizers form an interval, the result is its midpoint; if
    the minimum lies beyond the first or last point, the result is that point.

    Parameters
    ----------
    points, weights : sequences of k arrays, (n,) each
        The points of this rank.
    mass : (k,)
        For all ranks together.
    communicator : Communicator
    rtol : float
        Rounding error of the weights: slopes of up to ``rtol * mass`` count as 0.

    Returns
    -------
    (k,) array
        0 if no weight is positive.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.problems.weighted_quantiles import weighted_quantiles
    >>> three = [np.array([3.0, 1.0, 7.0])] * 2
    >>> weighted_quantiles(three, [np.ones(3)] * 2, np.array([1.5, 2.0]))
    array([3., 5.])
    """
    sets = [
        _Points(p[w > 0], w[w > 0], float(m) - rtol * abs(m), float(m) + rtol * abs(m))
        for p, w, m in zip(points, weights, mass, strict=True)
    ]
    counts = communicator.allreduce(np.array([s.points.size for s in sets]))
    while (counts > SORTED_POINTS).any():
        samples = communicator.allgather([s.sample(c) for s, c in zip(sets, counts, strict=True)])
        ends = [np.concatenate([[-np.inf], np.unique(s), [np.inf]]) for s in samples]
        histograms = communicator.allreduce(
            np.concatenate([s.histogram(e) for s, e in zip(sets, ends, strict=True)])
        )
        starts = np.cumsum([e.size - 1 for e in ends])[:-1]
        for s, e, h in zip(sets, ends, np.split(histograms, starts), strict=True):
            s.narrow(e, h)
        before, counts = counts, communicator.allreduce(np.array([s.points.size for s in sets]))
        if not ((before > SORTED_POINTS) & (counts <= before / 2)).any():  # many equal points
            break
    for s in sets:
        s.merge_equal()
    all_points = communicator.allgather([s.points for s in sets])
    all_weights = communicator.allgather([s.weights for s in sets])
    return np.array(
        [s.midpoint(p, w) for s, p, w in zip(sets, all_points, all_weights, strict=True)]
    )


class _Points:
    """Points of one set that can still be the quantile.

    The cumulative weight at the quantile is between `least` and `most`, which differ by rounding.
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
        """Weight of the points below the remaining ones, over all ranks."""

    def sample(self, count: int) -> NDArray[np.float64]:
        return self.points[:: max(1, int(count) // PIVOT_SAMPLE)]

    def histogram(self, ends: NDArray[np.float64]) -> NDArray[np.float64]:
        bins = np.searchsorted(ends, self.points) - 1  # ends[bin] < point <= ends[bin + 1]
        return np.bincount(bins, self.weights, ends.size - 1).astype(np.float64)

    def narrow(self, ends: NDArray[np.float64], histogram: NDArray[np.float64]) -> None:
        masses = self.below + np.concatenate([[0.0], np.cumsum(histogram)])
        # least may exceed all masses, and the last bin is empty if the sample has the largest point
        crossing = min(int(np.searchsorted(masses, self.least)), ends.size - 1)
        beyond = int(np.searchsorted(masses, self.most, "right"))
        # one more bin on either side, as sums in another order round differently
        first, last = max(crossing - 2, 0), min(beyond + 1, ends.size - 1)
        inside = (self.points > ends[first]) & (self.points <= ends[last])
        self.below = float(masses[first])
        self.points, self.weights = self.points[inside], self.weights[inside]

    def merge_equal(self) -> None:
        """Merge equal points, and add their weights."""
        if self.points.size > SORTED_POINTS:
            self.points, where = np.unique(self.points, return_inverse=True)
            self.weights = np.bincount(where, self.weights).astype(np.float64)

    def midpoint(self, points: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
        """Midpoint of the interval with a cumulative weight between `least` and `most`."""
        if points.size == 0:
            return 0.0
        order = np.argsort(points, kind="stable")  # so that all ranks get the same sums
        masses = self.below + np.cumsum(weights[order])
        left = int(np.searchsorted(masses, self.least))
        right = int(np.searchsorted(masses, self.most, "right"))
        ends = points[order[np.minimum([left, right], points.size - 1)]]
        return float(ends.sum() / 2)
