"""The solver on the exact kernel, for problems without a start on the compressed one.

::

    few rows     SMO on all rows and active-set steps; if they fail, an interior-point method
    more rows    the working-set solver
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hssvm import costs
from hssvm.kernels.base import CoreKernel, Floats, Kernel, Rows
from hssvm.kernels.lazy import LazyKernelMatrix
from hssvm.problems import Problem
from hssvm.solvers import (
    Solution,
    Status,
    WorkingSet,
    polish,
    polish_rounded,
    solve_interior,
    solve_small,
)
from hssvm.solvers.equality import nearest_feasible
from hssvm.training.reports.monitor import Monitor

SMO_ROWS = 3000
"""Default number of rows up to which SMO uses all of them."""

POLISH_TOL = 1e-4
"""Gap at which SMO has found the bounds of most problems, so that active-set steps are exact."""

INTERIOR_ROWS = 2000
"""Maximum number of rows for the interior-point method: a factorization takes 0.2 s."""

INTERIOR_BYTES = 3 * 8
"""Memory of the interior-point method, divided by the square of the number of rows: K, and at most
two more matrices of its size."""


@dataclass(frozen=True)
class ExactSolver:
    """Solver on the exact kernel that is chosen by the number of rows.

    Attributes
    ----------
    kernel : Kernel
    tol : float
    memory : float
        Bytes for kernel values.
    max_work : float
        See `WorkingSet`.
    small_rows : int
        Number of rows up to which SMO uses all of them.
    active_set : bool
        Whether active-set steps follow SMO if `tol` is small. They are accurate to rounding error,
        but take more time than SMO does for few digits.
    max_iter : float
        Maximum number of iterations of a column; see `Solution.n_iter`.
    """

    kernel: Kernel
    tol: float
    memory: float
    max_work: float
    small_rows: int = SMO_ROWS
    active_set: bool = True
    max_iter: float = np.inf

    @property
    def polishes(self) -> bool:
        """Whether active-set steps follow SMO.

        User-defined functions are slow, and active-set steps need many kernel values.
        """
        return self.active_set and self.tol < POLISH_TOL and isinstance(self.kernel, CoreKernel)

    def solve(self, problem: Problem, X: Rows, start: Floats, monitor: Monitor) -> Solution:
        """Solve all columns of a problem, from coefficients that need not be feasible."""
        n_iter = np.zeros(problem.k, np.int64)
        Z = nearest_feasible(problem, start, np.ones(problem.n, problem.dtype))
        K = LazyKernelMatrix(self.kernel, X)
        status = monitor.stop()
        if status is not None:
            return _stopped(problem, K, Z, status)
        if problem.n <= self.small_rows and problem.n**2 * X.dtype.itemsize <= self.memory:
            small, final = self._solve_small(problem, K, Z, monitor)
            if final or not {Status.PRECISION, Status.STALLED}.intersection(small.status):
                return small
            # the working-set solver has smaller rounding errors
            Z, n_iter = small.Z, small.n_iter
        solver = WorkingSet(
            self.tol, self.memory, monitor.seconds_left, self.max_work,
            max_iter=self.max_iter - n_iter, stop=monitor.stop,
        )  # fmt: skip
        solution = solver.solve(problem, K, Solution.empty(Z))
        polish_rounded(problem, K, solution, self.tol, self.memory)
        solution.n_iter += n_iter
        return solution

    def _solve_small(
        self, problem: Problem, K: LazyKernelMatrix, Z: Floats, monitor: Monitor
    ) -> tuple[Solution, bool]:
        """Use SMO until the active set is likely to be known, then active-set steps.

        Also return whether the solution is as good as rounding errors permit.
        """
        solution = Solution.empty(Z)
        interior = problem.n <= INTERIOR_ROWS and INTERIOR_BYTES * problem.n**2 <= self.memory
        max_work = self.max_work
        cube = costs.SECONDS_PER_INTERIOR_CUBE * problem.n**3
        enough = problem.k * (costs.SECONDS_PER_INTERIOR_POINT + cube)
        interior = interior and enough <= self.max_work
        if interior:  # SMO gets the same time first
            max_work = min(max_work, enough)
        for goal in [POLISH_TOL, self.tol] if self.polishes else [self.tol]:
            solve_small(
                problem, self.kernel, K.X, solution, goal, max_work, monitor.stop,
                self.max_iter,
            )  # fmt: skip
            if self.polishes and solution.stopped is None:
                polish(problem, K, solution, self.max_iter)
                solution.n_rounds += 1
                solution.remember(int(solution.n_rounds.sum()))
            if np.all(solution.gap <= self.tol):
                break
            ended = solution.stopped
            if ended is None and Status.MAX_WORK in solution.status:
                ended = Status.MAX_WORK
            if ended is not None:  # columns that have reached POLISH_TOL have not converged
                solution.end(np.flatnonzero(solution.gap > self.tol), ended)
                break
        final = False
        if interior and solution.stopped is None:
            final = solve_interior(problem, K, solution, self.tol, monitor.stop, self.max_iter)
        if solution.stopped is None:
            solution.end(np.flatnonzero(solution.n_iter >= self.max_iter), Status.MAX_ITER)
        solution.accept(self.tol)
        return solution, final


def _stopped(problem: Problem, K: LazyKernelMatrix, Z: Floats, status: Status) -> Solution:
    """Return the start as the solution."""
    every_row, support = np.arange(problem.n), np.flatnonzero(Z.any(axis=1))
    solution = Solution.at(problem, Z, K.product(every_row, support, Z[support]))
    solution.end(np.arange(problem.k), status)
    return solution
