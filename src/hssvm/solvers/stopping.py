"""When a column of a run is done."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hssvm.solvers.solution import Solution, Status

PATIENCE, NEAR = 120, 0.1
"""A gap below NEAR that has not fallen by a tenth in so many iterations will not fall further, if
the weights are those of the column alone."""


class Stopping:
    """Tests the gaps of k columns against `tol`, and notices when they no longer fall."""

    def __init__(self, tol: float, k: int) -> None:
        self.tol = tol
        self.best = np.full(k, np.inf)
        self.best_at = np.zeros(k, np.int64)

    def restart(self, column: NDArray[np.int64], iteration: int) -> None:
        """Give a column that goes on alone its time again."""
        self.best_at[column] = iteration

    def going(
        self, iteration: int, active: NDArray[np.int64], solution: Solution
    ) -> NDArray[np.bool_]:
        """Which of the active columns go on; the others get their status."""
        gap = solution.gap[active]
        improved = gap < 0.9 * self.best[active]
        self.best[active[improved]] = gap[improved]
        self.best_at[active[improved]] = iteration
        done = gap <= self.tol
        patient = active.size > 1 or iteration - self.best_at[active] < PATIENCE
        stuck = (gap < NEAR) & ~done & ~np.asarray(patient)
        for j in active[done]:
            solution.status[j] = Status.CONVERGED
        for j in active[stuck]:
            solution.status[j] = Status.stalled(solution.Z.dtype)
        solution.n_iter[active] = iteration
        return ~(done | stuck)
