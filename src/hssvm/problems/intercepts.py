"""The intercepts with the smallest sums of losses."""

from __future__ import annotations

from copy import copy
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hssvm.kernels.base import Floats
from hssvm.problems.shift import find_shift
from hssvm.problems.weighted_quantiles import MASS_ROUNDING, weighted_quantiles

if TYPE_CHECKING:
    from hssvm.problems.base import Problem

QUANTILE_COLUMNS = 64
"""Number of columns whose intercepts are computed together if there are several ranks. A single
rank computes them one at a time, to save memory."""

SUM_ROUNDING = 1e-12
"""Rounding error of a sum of coefficients, relative to the sum of their sizes."""


def optimal_intercepts(problem: Problem, F: Floats) -> NDArray[np.float64]:
    """Minimize ``b equality_rhs`` plus the losses at ``F + b``, with ``F = K Z``, over b; (k,).

    Without a ridge, this function is piecewise linear.
    """
    if problem.ridge is not None:
        return _smooth(problem, problem.ridge.astype(np.float64), F)
    intercept = np.empty(problem.k)
    step = 1 if problem.communicator.size == 1 else QUANTILE_COLUMNS
    for begin in range(0, problem.k, step):
        columns = list(range(begin, min(begin + step, problem.k)))
        breakpoints = [_breakpoints(problem, j, F[:, j].astype(np.float64)) for j in columns]
        points, weights, mass = zip(*breakpoints, strict=True)
        total_mass = problem.communicator.allreduce(np.array(mass))
        total_mass = total_mass - problem.equality_rhs[columns]
        # with costs rounded to float32, sums in float64 would miss a flat minimum
        rtol = max(MASS_ROUNDING, 4 * float(np.finfo(problem.dtype).eps))
        found = weighted_quantiles(points, weights, total_mass, problem.communicator, rtol)
        intercept[columns] = found
    return intercept


def _breakpoints(
    problem: Problem, j: int, f: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Breakpoints of the piecewise linear function of a column.

    Parameters
    ----------
    problem : Problem
    j : int
        Column.
    f : (n,)

    Returns
    -------
    points, weight : (m,)
        At each point, the slope increases by the weight.
    mass : float
        The contribution of these rows to minus the slope as b goes to minus infinity, without
        `equality_rhs`.
    """
    middle, l1_weight = problem.linear[:, j] - f, problem.l1_weight[j]
    lower, upper = (side[:, j].astype(np.float64) for side in (problem.lower, problem.upper))
    up, down = np.flatnonzero(upper), np.flatnonzero(lower)
    points = np.concatenate([middle[up] - l1_weight, middle[down] + l1_weight])
    return points, np.concatenate([upper[up], -lower[down]]), float(upper.sum())


def _smooth(problem: Problem, ridge: NDArray[np.float64], F: Floats) -> NDArray[np.float64]:
    """Intercepts at which the coefficients that the losses ask for have the required sums."""
    wide = copy(problem)
    wide.lower, wide.upper = (side.astype(np.float64) for side in (problem.lower, problem.upper))
    V = (problem.linear - F.astype(np.float64)) / ridge[:, None]
    prox = partial(wide.plain_prox, V, ridge)
    return find_shift(prox, problem.equality_rhs, np.zeros(problem.k), SUM_ROUNDING)[1]
