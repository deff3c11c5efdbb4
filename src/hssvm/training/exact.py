"""Exact solutions without a start on the compressed kernel.

::

    few rows            SMO on all rows, then active-set steps; given up if ADMM would be faster
    more rows           the working-set solver, from coefficients of 0
    pairs of classes    a problem for each pair, on the rows of its classes

Pairs are independent of each other: they are solved at the same time, one thread each, after those
that are too large for that.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

import numpy as np

from hssvm import _core
from hssvm.kernels.base import CoreKernel, Floats, Kernel, Rows
from hssvm.kernels.lazy import LazyKernelMatrix
from hssvm.problems import PairsProblem, Problem
from hssvm.solvers import Solution, Status, WorkingSet, polish, solve_small
from hssvm.solvers.equality import nearest_feasible
from hssvm.training.checks import check_features, check_kernel
from hssvm.training.monitor import Monitor
from hssvm.training.plan import TrainingPlan
from hssvm.training.report import FitReport
from hssvm.training.result import TrainingResult
from hssvm.training.side_by_side import train_at_once
from hssvm.training.solve import exact_goal

logger = logging.getLogger(__name__)

SMALL_ROWS = 3000
"""Number of rows up to which SMO uses all of them."""

MIN_WORK = 1.0
"""Smallest work limit of a pair, in nominal seconds."""

POLISH_TOL = 1e-4
"""Gap at which SMO has found the bounds of most problems, so that active-set steps are exact."""

ADMM_WORK = 1e-10
"""Nominal seconds of ADMM on a single leaf, for a column, divided by the cube of the number of
rows. With a large C, it can be faster than SMO."""


def train_exact(
    problem: Problem | PairsProblem,
    kernel: Kernel,
    X: Rows,
    plan: TrainingPlan,
    report: FitReport,
    monitor: Monitor,
    start: Floats | None = None,
) -> TrainingResult | None:
    """Solve a problem, or every pair of classes, on the exact kernel.

    Parameters
    ----------
    problem : Problem or PairsProblem
    kernel, X, plan, report, monitor
        See `hssvm.training.train`.
    start : (n, k), optional
        Initial coefficients, packed for a `PairsProblem`; else 0.

    Returns
    -------
    TrainingResult or None
        None if ADMM is likely to be faster: the rows form a single leaf, and SMO has not converged
        in the time that ADMM needs.
    """
    tol, max_work = exact_goal(plan, problem.dtype)
    gives_up = not isinstance(problem, PairsProblem) and not plan.refine
    if gives_up:
        max_work = problem.k * ADMM_WORK * problem.n**3
    solver = ExactSolver(kernel, tol, plan.cache(X, problem.k), max_work)
    LazyKernelMatrix(kernel, X).mean_diagonal()  # a kernel that overflows is named
    Z: Floats = np.zeros((problem.n, problem.k), problem.dtype)
    with report.stage("solve", goal=None if isinstance(problem, PairsProblem) else tol):
        if isinstance(problem, PairsProblem):
            solutions = _solve_pairs(problem, X, solver, monitor, start)
            for pair, solution in zip(problem.pairs(), solutions, strict=True):
                pair.put(solution.Z, Z)
        else:
            solutions = [solver.solve(problem, X, Z if start is None else start, monitor)]
            Z = solutions[0].Z
    if gives_up and not {Status.CONVERGED, Status.STOPPED, Status.MAX_TIME}.issuperset(
        solutions[0].status
    ):
        return None
    monitor.advise(check_features(X, kernel), report)
    monitor.stage_done("solve")
    for solution in solutions:
        solution.accept(plan.tol)
    report.add_exact(Z, X.shape[1], solutions, plan.tol)
    monitor.advise(check_kernel(X, kernel, plan.seed), report)
    intercept = np.concatenate([solution.intercept for solution in solutions])
    return TrainingResult(problem, kernel, X, Z, intercept, None, report, first_Z=Z)


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
    """

    kernel: Kernel
    tol: float
    memory: float
    max_work: float

    def solve(self, problem: Problem, X: Rows, start: Floats, monitor: Monitor) -> Solution:
        """Solve all columns of a problem, from coefficients that need not be feasible."""
        Z = nearest_feasible(problem, start, np.ones(problem.n, problem.dtype))
        K = LazyKernelMatrix(self.kernel, X)
        status = monitor.stop()
        if status is not None:
            return _stopped(problem, K, Z, status)
        if problem.n <= SMALL_ROWS and problem.n**2 * X.dtype.itemsize <= self.memory:
            small = self._solve_small(problem, K, Z, monitor)
            if not {Status.PRECISION, Status.STALLED}.intersection(small.status):
                return small
            Z = small.Z  # the working-set solver has smaller rounding errors
        solver = WorkingSet(
            self.tol, self.memory, monitor.seconds_left, monitor.after_check, self.max_work
        )
        return solver.solve(problem, K, Solution.empty(Z))

    def _solve_small(
        self, problem: Problem, K: LazyKernelMatrix, Z: Floats, monitor: Monitor
    ) -> Solution:
        """Use SMO until the active set is likely to be known, then active-set steps."""
        solution = Solution.empty(Z)
        goals = [POLISH_TOL, self.tol] if self.tol < POLISH_TOL else [self.tol]
        for goal in goals:
            solve_small(
                problem, self.kernel, K.X, solution, goal, monitor.after_check, self.max_work
            )
            if solution.stopped is not None:
                break
            if self.tol < POLISH_TOL:
                polish(problem, K, solution)
                solution.n_iter += 1
                solution.remember(int(solution.n_iter.sum()))
        solution.accept(self.tol)
        return solution


def _stopped(problem: Problem, K: LazyKernelMatrix, Z: Floats, status: Status) -> Solution:
    """Return the start as the solution."""
    every_row, support = np.arange(problem.n), np.flatnonzero(Z.any(axis=1))
    solution = Solution.at(problem, Z, K.product(every_row, support, Z[support]))
    solution.end(np.arange(problem.k), status)
    return solution


def _solve_pairs(
    problem: PairsProblem, X: Rows, solver: ExactSolver, monitor: Monitor, start: Floats | None
) -> list[Solution]:
    pairs = list(problem.pairs())
    work = np.array([float(pair.rows.size) ** 2 for pair in pairs])
    # Functions of the user are called by one thread at a time.
    n_threads = _core.thread_count() if isinstance(solver.kernel, CoreKernel) else 1

    def solve(number: int, monitor: Monitor, memory: float) -> Solution:
        pair = pairs[number]
        Z: Floats = np.zeros((pair.rows.size, 1), problem.dtype)
        limit = max(MIN_WORK, solver.max_work * work[number] / work.sum())
        own = ExactSolver(solver.kernel, solver.tol, memory, limit)
        return own.solve(
            pair.problem, X[pair.rows], Z if start is None else pair.pick(start), monitor
        )

    # A pair with more than a thread's share of the work gets all threads.
    large = work > work.sum() / n_threads
    at_once = np.flatnonzero(~large)[np.argsort(-work[~large], kind="stable")].tolist()
    solutions: dict[int, Solution] = {}
    for number in np.flatnonzero(large).tolist():
        solutions[number] = solve(number, monitor, solver.memory)
        _log_progress(len(solutions), len(pairs))
    solved = train_at_once(
        lambda number, shared: solve(number, shared, solver.memory / n_threads),
        at_once, monitor, n_threads, 1,
    )  # fmt: skip
    for number, solution in zip(at_once, solved, strict=True):
        solutions[number] = solution
        _log_progress(len(solutions), len(pairs))
    return [solutions[number] for number in range(len(pairs))]


def _log_progress(solved: int, total: int) -> None:
    logger.debug("%d of %d pairs of classes", solved, total, extra={"done": solved / total})
