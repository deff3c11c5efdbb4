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
        At these rows; see `Problem.gradient`.
    solved : (q,) int64, optional
        Positions, among these rows, of rows for which the problem has been solved. They determine
        b: a single row with a large violation would otherwise shift b so far that thousands of
        rows seem to violate the conditions.

    Returns
    -------
    violation : (m, k)
        Positive if z can move to reduce the objective, negative if the gradient holds it in place.
    max_violation : (k,)
        The violation of the maximal violating pair of all ranks: at most 0 at a solution, -inf if
        no pair of rows can move.
    pair : (r, 2) int64
        Positions of the rows of these pairs that this rank holds, and their columns.
    """
    lower, upper = problem.box(rows)
    rise = np.where(upper > Z, -gradient - np.where(Z >= 0, 1, -1) * problem.l1_weight, -np.inf)
    fall = np.where(lower < Z, gradient - np.where(Z <= 0, 1, -1) * problem.l1_weight, -np.inf)
    inner = np.empty(0, np.int64) if solved is None else solved
    here = [
        values.max(axis=0, initial=-np.inf) for values in (rise, fall, rise[inner], fall[inner])
    ]
    most = problem.communicator.allreduce(np.stack(here), "max")
    b = _middle(most[2], most[3], _middle(most[0], most[1], np.zeros(problem.k)))
    pair = [
        (values[:, j].argmax(), j)
        for values, own, largest in zip((rise, fall), here, most, strict=False)
        for j in np.flatnonzero((own == largest) & np.isfinite(own))
    ]
    violation = np.maximum(rise - b, fall + b)
    return violation, most[0] + most[1], np.array(pair, np.int64).reshape(-1, 2)


def _middle(
    rise: NDArray[np.float64], fall: NDArray[np.float64], default: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the b at which the largest violations of both kinds are equal, where there are any."""
    both = np.isfinite(rise) & np.isfinite(fall)
    return np.subtract(rise, fall, out=2 * default, where=both) / 2


def optimal_scale(
    problem: Problem, rows: NDArray[np.int64], Z: Floats, F: Floats
) -> NDArray[np.float64]:
    """Factor in [0, 1] on each column that maximizes the dual value; 1 if the sum of z is fixed."""
    linear = np.einsum("ij,ij->j", problem.linear[rows], Z, dtype=np.float64)
    linear -= problem.l1_weight * np.abs(Z).sum(axis=0, dtype=np.float64)
    quadratic = np.einsum("ij,ij->j", Z, F, dtype=np.float64)
    quadratic += problem.ridge_at(rows) @ Z.astype(np.float64) ** 2
    linear, quadratic = problem.communicator.allreduce(np.stack([linear, quadratic]))
    factor = np.clip(linear / np.where(quadratic > 0, quadratic, 1), 0, 1)
    return np.where(problem.equality_rhs == 0, factor, 1.0)
