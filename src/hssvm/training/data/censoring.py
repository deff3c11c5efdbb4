"""Targets that are known only up to a bound.

A censored target is a pair of ends, (low, high), between which it is; one of them is infinite.
Row i is *surely before* row j if every value that its target can have is smaller.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm.kernels.base import Floats

Ends = NDArray[Any]
"""(n, 2) of float64: the low and the high end of every target, equal if it is known."""


def known_ends(ends: Ends) -> NDArray[np.float64]:
    """Return the finite end of every target, (n,).

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.training.data.censoring import known_ends
    >>> known_ends(np.array([[1.0, 1.0], [2.0, np.inf], [-np.inf, 3.0]]))
    array([1., 2., 3.])
    """
    low, high = ends.T
    return np.where(np.isfinite(low), low, high)


def ranked_ends(ends: Ends) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Ranks (low, high) of all ends, such that i is surely before j if ``high[i] < low[j]``.

    A target that is censored at the value of another one is beyond it, as is usual for times.
    """
    low, high = ends.T
    ranks = np.unique(np.concatenate([low, high]), return_inverse=True)[1]
    low_ranks, high_ranks = np.split(3 * ranks.astype(np.int64), 2)
    return low_ranks + np.isinf(high), high_ranks - np.isinf(low)


def gehan_scores(ends: Ends) -> NDArray[np.float64]:
    """Number of rows surely before a row, minus the number of those surely after it, (n,).

    Gehan (1965): the ranks of targets that may be censored.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.training.data.censoring import gehan_scores
    >>> gehan_scores(np.array([[1.0, 1.0], [2.0, np.inf], [3.0, 3.0]]))
    array([-2.,  1.,  1.])
    """
    low, high = ranked_ends(ends)
    before = np.searchsorted(np.sort(high), low, side="left")
    after = low.size - np.searchsorted(np.sort(low), high, side="right")
    return (before - after).astype(np.float64)


def concordance_index(ends: Ends, predicted: Floats, weight: Floats) -> float:
    """Share of the pairs with a sure order that the predictions order alike.

    Equal predictions count one half, a pair counts with the product of its weights, and the result
    is NaN if no order is sure. It is Harrell's index for targets of which only some are censored on
    the right, like `sksurv.metrics.concordance_index_censored`, which is quadratic in n, knows no
    other censoring, and has the GPL.

    Parameters
    ----------
    ends : (n, 2)
    predicted, weight : (n,)

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.training.data.censoring import concordance_index
    >>> ends = np.array([[1.0, 1.0], [2.0, np.inf], [3.0, 3.0]])
    >>> concordance_index(ends, np.array([0.0, 5.0, 0.0]), np.ones(3))
    0.75
    """
    low, high = ranked_ends(ends)
    order = np.argsort(high)
    sums = np.concatenate([[0.0], np.cumsum(weight[order])])
    n_pairs = float(weight @ sums[np.searchsorted(high[order], low)])  # those surely before each
    if n_pairs == 0:
        return np.nan
    alike = [_paired_weight(high, low, predicted, weight, ties=ties) for ties in (False, True)]
    return sum(alike) / 2 / n_pairs


def _paired_weight(
    high: NDArray[np.int64],
    low: NDArray[np.int64],
    predicted: Floats,
    weight: Floats,
    *,
    ties: bool,
) -> float:
    """Weight of the pairs (i, j) with ``high[i] < low[j]`` and ``predicted[i] < predicted[j]``.

    With `ties`, equal predictions count too. The ends are sorted, with the low ones before equal
    high ones. Then the pairs whose ends are in neighboring blocks of 1, 2, 4, ... ends are counted
    together: sums over the high ends of the left block, in the order of the predictions.
    """
    n = low.size
    is_high = np.repeat([False, True], n)
    place = np.empty(2 * n, np.int64)
    place[np.lexsort([is_high, np.concatenate([low, high])])] = np.arange(2 * n)
    values, weights = np.tile(predicted, 2), np.tile(weight, 2)
    order = np.lexsort([is_high != ties, values])
    place, is_high, weights = place[order], is_high[order], weights[order]
    total, size = 0.0, 1
    while size < 2 * n:
        pair, left = np.divmod(place // size, 2)
        left = left == 0
        by_pair = np.argsort(pair, kind="stable")
        added = np.where(is_high & left, weights, 0)[by_pair]
        found = np.where(~is_high & ~left, weights, 0)[by_pair]
        first = np.flatnonzero(np.diff(pair[by_pair], prepend=-1))
        sums = np.cumsum(added)
        before = np.repeat((sums - added)[first], np.diff(first, append=2 * n))
        total += float(found @ (sums - before))
        size *= 2
    return total
