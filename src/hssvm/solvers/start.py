"""The start of the working-set solver: coefficients, and the rows to watch at first."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hssvm.kernels.base import Floats
from hssvm.kernels.lazy import LazyKernelMatrix
from hssvm.problems.base import Problem
from hssvm.solvers.optimality import optimal_scale, violations
from hssvm.solvers.solution import Solution

WATCH_FIRST = 0.3
"""Rows are watched if their violation on K~, relative to the size of the decision values, exceeds
minus this value."""

MIN_START_SCALE, SCALE_TRIAL_ROWS = 0.5, 512
"""A column whose optimal scale is below MIN_START_SCALE starts at 0, as K~ is too far from K. The
scale is estimated from SCALE_TRIAL_ROWS rows."""

MIN_WATCHED, WATCHED_FRACTION = 5000, 5
"""If a column starts at 0, at least MIN_WATCHED rows, or one row in WATCHED_FRACTION, are
watched."""


def choose_start(
    problem: Problem,
    kernel_matrix: LazyKernelMatrix,
    start: Solution,
    shuffle: np.random.Generator,
) -> tuple[Floats, NDArray[np.int64]]:
    """Start from a solution on another kernel, or at 0 in columns for which it is poor.

    Returns
    -------
    Z : (n, k)
    watched : (a,) int64
        Rows of this rank to watch, ascending.
    """
    Z = start.Z.copy()
    support = np.flatnonzero(Z.any(axis=1))
    rows = shuffle.permutation(support)[:SCALE_TRIAL_ROWS]
    trial = kernel_matrix.product(rows, *kernel_matrix.share(support, Z[support]))
    poor = optimal_scale(problem, rows, Z[rows], trial) < MIN_START_SCALE
    Z[:, poor] = 0
    gradient = problem.gradient(start.Z, start.F + start.intercept)
    violation, _, _ = violations(problem, np.arange(problem.n), start.Z, gradient)
    violation = violation / problem.decision_size()
    near = violation[:, ~poor].max(axis=1, initial=-np.inf) > -WATCH_FIRST
    near[Z.any(axis=1)] = True
    if poor.any():
        n_watched = max(MIN_WATCHED, problem.n // WATCHED_FRACTION)
        near[shuffle.permutation(problem.n)[:n_watched]] = True
    return Z, np.flatnonzero(near)
