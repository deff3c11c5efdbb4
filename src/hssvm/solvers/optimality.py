"""Violations of the optimality conditions, row by row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hssvm.kernels.base import Floats
from hssvm.problems.base import Problem


def violations(
    problem: Problem,
    rows: NDArray[np.int64],
    Z: Floats,
    gradient: Floats,
    solved: NDArray[np.int64] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Compute by how much rows violate the optimality conditions.

    At a solution there is one b per column such that the gradient is ``-b`` where z is inside the
    box, at least ``-b`` at the lower bound, and at most ``-b`` at the upper bound; the subgradient
    of ``l1_weight |z|`` adds to the gradient.

    Parameters
    ----------
    problem : Problem
    rows : (m,) int64
    Z, gradient : (m, k)
        At these rows; ``gradient = K Z - linear``.
    solved : (q,) int64, optional
        Positions, among these rows, of those for which the problem has been solved. They determine
        b: a single row with a large violation would otherwise shift b so far that thousands of
        rows seem to violate the conditions.

    Returns
    -------
    violation : (m, k)
        Positive if z can move to reduce the objective, negative if the gradient holds it in place.
    max_violation : (k,)
        The violation of the maximal violating pair: at most 0 at a solution, -inf if no pair of
        rows can move.
    pair : (2, k) int64
        The maximal violating pair: the row to increase and the row to decrease.
    """
    lower, upper = problem.box(rows)
    rise = np.where(upper > Z, -gradient - np.where(Z >= 0, 1, -1) * problem.l1_weight, -np.inf)
    fall = np.where(lower < Z, gradient - np.where(Z <= 0, 1, -1) * problem.l1_weight, -np.inf)
    pair = np.stack([rise.argmax(axis=0), fall.argmax(axis=0)])
    max_violation = rise.max(axis=0) + fall.max(axis=0)
    b = _middle(rise, fall, np.zeros(max_violation.size))
    if solved is not None:
        b = _middle(rise[solved], fall[solved], b)
    return np.maximum(rise - b, fall + b), max_violation, pair


def _middle(
    rise: NDArray[np.float64], fall: NDArray[np.float64], default: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the b at which the largest violations of both kinds are equal, where there are any."""
    most_rise, most_fall = rise.max(axis=0, initial=-np.inf), fall.max(axis=0, initial=-np.inf)
    both = np.isfinite(most_rise) & np.isfinite(most_fall)
    return np.subtract(most_rise, most_fall, out=2 * default, where=both) / 2


def optimal_scale(
    problem: Problem, rows: NDArray[np.int64], Z: Floats, F: Floats
) -> NDArray[np.float64]:
    """Factor in [0, 1] on each column that maximizes the dual value; 1 if the sum of z is fixed."""
    linear = np.einsum("ij,ij->j", problem.linear[rows], Z, dtype=np.float64)
    linear -= problem.l1_weight * np.abs(Z).sum(axis=0, dtype=np.float64)
    quadratic = np.einsum("ij,ij->j", Z, F, dtype=np.float64)
    factor = np.clip(linear / np.where(quadratic > 0, quadratic, 1), 0, 1)
    return np.where(problem.equality_rhs == 0, factor, 1.0)
