"""Weighted quantiles: where a convex, piecewise linear function has its minimum."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def weighted_quantile(
    points: NDArray[np.float64], weight: NDArray[np.float64], mass: float
) -> float:
    """Where the weight of the points below reaches `mass`.

    A function whose slope is ``-mass`` on the far left, and rises by the weight at every point, has
    its minimum here. Where a whole interval is best, its middle is taken; where the minimum is
    beyond the last point on either side, that point.

    Parameters
    ----------
    points, weight : (n,)
    mass : float

    Returns
    -------
    float
        0 if no weight is positive.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.problems.quantile import weighted_quantile
    >>> weighted_quantile(np.array([3.0, 1.0, 7.0]), np.ones(3), 1.5)
    3.0
    >>> weighted_quantile(np.array([3.0, 1.0, 7.0]), np.ones(3), 2.0)
    5.0
    """
    taken = weight > 0
    if not taken.any():
        return 0.0
    points, weight = points[taken], weight[taken]
    # Few points are near the answer: narrow them down by a sample before sorting.
    below, step = 0.0, max(1, points.size // 512)
    if step > 1:
        ends = np.concatenate([[-np.inf], np.unique(points[::step]), [np.inf]])
        bins = np.searchsorted(ends, points) - 1  # ends[bin] < point <= ends[bin + 1]
        masses = np.concatenate([[0.0], np.cumsum(np.bincount(bins, weight, ends.size - 1))])
        # mass may be above the whole of them by rounding
        crossing = min(int(np.searchsorted(masses, mass)), ends.size - 1)
        first, last = max(crossing - 2, 0), min(crossing + 2, ends.size - 1)
        inside = (points > ends[first]) & (points <= ends[last])
        below = float(masses[first])
        points, weight = points[inside], weight[inside]
    order = np.argsort(points)
    points = points[order]
    masses = below + np.cumsum(weight[order])
    last = points.size - 1
    i = min(int(np.searchsorted(masses, mass * (1 - 1e-12))), last)
    flat = masses[i] <= mass * (1 + 1e-12)
    return float((points[i] + points[min(i + flat, last)]) / 2)
