"""Stopping criteria of ADMM."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hssvm.solvers.solution import Solution, Status

PATIENCE, NEAR = 300, 0.1
"""A column that runs alone has stagnated if its gap is below NEAR and has not decreased by a tenth
in PATIENCE iterations."""


class Stopping:
    """Compares the gaps of k columns with `tol`, which may differ by column; detects stagnation."""

    def __init__(self, tol: float | NDArray[np.float64], k: int) -> None:
        self.tol = np.broadcast_to(tol, (k,))
        self.best = np.full(k, np.inf)
        self.best_at = np.zeros(k, np.int64)

    def restart(self, column: NDArray[np.int64], iteration: int) -> None:
        """Reset the stagnation test of a column that continues alone."""
        self.best_at[column] = iteration

    def active(
        self, iteration: int, active: NDArray[np.int64], solution: Solution
    ) -> NDArray[np.bool_]:
        """Return a mask of the columns that stay active; set the status of the others."""
        gap = solution.gap[active]
        improved = gap < 0.9 * self.best[active]
        self.best[active[improved]] = gap[improved]
        self.best_at[active[improved]] = iteration
        done = gap <= self.tol[active]
        patient = active.size > 1 or iteration - self.best_at[active] < PATIENCE
        stuck = (gap < NEAR) & ~done & ~np.asarray(patient)
        for j in active[done]:
            solution.status[j] = Status.CONVERGED
        for j in active[stuck]:
            solution.status[j] = Status.stalled(solution.Z.dtype)
        solution.n_iter[active] = iteration
        return ~(done | stuck)
