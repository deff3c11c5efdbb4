"""The dual of the C-support vector classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm import _core
from hssvm.kernels.base import Floats
from hssvm.problems.base import Problem, Sums, Values


class SVCProblem(Problem):
    """``min 1/2 z'Kz - |z|_1`` with z between 0 and ``bound``, and ``sum z = 0``.

    The primal is ``1/2 |w|^2 + sum_i |bound_i| max(0, 1 - sign(bound_i) (f_i + b))``.

    Parameters
    ----------
    bound : (n, k)
        Sign: the label of the row. Size: the C of the row, with all its weights. 0 takes a row out
        (as for cross-validation), and its z stays 0.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.problems import SVCProblem
    >>> y = np.array([1.0, -1.0, -1.0])
    >>> problem = SVCProblem(y[:, None] * [0.1, 10.0])  # two values of C
    >>> problem.n, problem.k
    (3, 2)
    """

    def __init__(self, bound: Floats) -> None:
        self.bound = np.ascontiguousarray(bound)
        self.linear = np.sign(bound)
        self.total = np.zeros(bound.shape[1])

    def columns(self, index: NDArray[Any]) -> SVCProblem:
        """Return the problem of some of the columns."""
        return SVCProblem(self.bound[:, index])

    def prox(self, V: Floats, beta: Floats, tau: NDArray[np.float64]) -> tuple[Floats, Sums]:
        """Clip ``v - tau / beta`` to the box."""
        Z, sums = np.empty_like(V), np.empty((3, self.k))
        _core.shifted_clip(V, beta, tau, self.bound, Z, sums)
        return Z, Sums(*sums)

    def free(self, Z: Floats) -> NDArray[np.bool_]:
        """Where z is neither 0 nor at its bound."""
        return (Z != 0) & (self.bound != Z)

    def box(self, rows: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Between 0 and the bound."""
        bound = self.bound[rows]
        return np.minimum(bound, 0), np.maximum(bound, 0)

    def scale(self) -> NDArray[np.float64]:
        """Largest |bound|, (k,)."""
        return np.abs(self.bound).max(axis=0).astype(np.float64)

    def losses(
        self, rows: NDArray[np.int64], F: Floats, intercept: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Hinge loss times cost."""
        cost = np.abs(self.bound[rows].astype(np.float64))
        return cost * np.maximum(0, 1 - self.linear[rows] * (F + intercept))

    def evaluate(self, Z: Floats, F: Floats) -> Values:
        """Objective values at a feasible `Z`, with ``F = K Z``."""
        primal, dual, intercept = np.empty((3, self.k))
        for j in range(self.k):
            z, f = Z[:, j].astype(np.float64), F[:, j].astype(np.float64)
            cost, sign = np.abs(self.bound[:, j].astype(np.float64)), self.linear[:, j]
            intercept[j] = best_intercept(f, sign, cost)
            half_norm = z @ f / 2
            slack = np.maximum(0, 1 - sign * (f + intercept[j]))
            primal[j] = half_norm + cost @ slack
            dual[j] = np.abs(z).sum() - half_norm
        return Values(primal, dual, intercept)


def best_intercept(f: Floats, sign: Floats, cost: Floats) -> float:
    """Minimise ``sum cost max(0, 1 - sign (f + b))`` over b, exactly.

    The sum is convex and piecewise linear, with breakpoints ``sign - f`` where the slope rises by
    the cost: b is a weighted quantile of these. Where a whole interval is best, its middle is
    taken; where no cost has one of the signs, the end of the interval.

    Parameters
    ----------
    f, sign, cost : (n,)

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.problems.svc import best_intercept
    >>> best_intercept(np.array([3.0, 1.0]), np.array([1, -1]), np.ones(2))
    -2.0
    """
    taken = cost > 0
    if not taken.any():
        return 0.0
    breakpoints, weight = (sign - f)[taken], cost[taken]
    rise = float(weight[sign[taken] > 0].sum())
    # Few breakpoints are near the answer: narrow them down by a sample before sorting.
    below, step = 0.0, max(1, breakpoints.size // 512)
    if step > 1:
        ends = np.concatenate([[-np.inf], np.unique(breakpoints[::step]), [np.inf]])
        bins = np.searchsorted(ends, breakpoints) - 1  # ends[bin] < breakpoint <= ends[bin + 1]
        mass = np.concatenate([[0.0], np.cumsum(np.bincount(bins, weight, ends.size - 1))])
        # rise may be above the whole mass by rounding
        crossing = min(int(np.searchsorted(mass, rise)), ends.size - 1)
        first, last = max(crossing - 2, 0), min(crossing + 2, ends.size - 1)
        inside = (breakpoints > ends[first]) & (breakpoints <= ends[last])
        below = float(mass[first])
        breakpoints, weight = breakpoints[inside], weight[inside]
    order = np.argsort(breakpoints)
    breakpoints = breakpoints[order]
    mass = below + np.cumsum(weight[order])
    last = breakpoints.size - 1
    i = min(int(np.searchsorted(mass, rise * (1 - 1e-12))), last)
    flat = mass[i] <= rise * (1 + 1e-12)
    return float((breakpoints[i] + breakpoints[min(i + flat, last)]) / 2)
