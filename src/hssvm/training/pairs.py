"""Exact one-vs-one classifiers.

A pair of classes has few of the rows, so it needs no compressed kernel as a start. Small pairs are
solved by SMO on all of their rows, larger ones by the working-set solver. Pairs are independent of
each other: they are solved at the same time, one thread each, after those that are too large for
that.
"""

from __future__ import annotations

import logging

import numpy as np

from hssvm import _core
from hssvm.kernels.base import CoreKernel, Floats, Kernel, Rows
from hssvm.kernels.lazy import LazyKernelMatrix
from hssvm.problems import Pair, PairsProblem
from hssvm.solvers import Solution, Status, WorkingSet, solve_small
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
"""Number of rows up to which a pair is solved by SMO on all of its rows."""

MIN_WORK = 1.0
"""Smallest work limit of a pair, in nominal seconds."""


def train_pairs(
    problem: PairsProblem,
    kernel: Kernel,
    X: Rows,
    plan: TrainingPlan,
    report: FitReport,
    monitor: Monitor,
    start: Floats | None = None,
) -> TrainingResult:
    """Solve every pair on the exact kernel; see `hssvm.training.train`.

    Parameters
    ----------
    problem : PairsProblem
    kernel, X, plan, report, monitor
        See `hssvm.training.train`.
    start : (n, n_classes - 1), optional
        Initial coefficients, packed.
    """
    monitor.advise(check_features(X, kernel), report)
    tol, max_work = exact_goal(plan, problem.dtype)
    pairs = list(problem.pairs())
    work = np.array([float(pair.rows.size) ** 2 for pair in pairs])
    # Functions of the user are called by one thread at a time.
    n_threads = _core.thread_count() if isinstance(kernel, CoreKernel) else 1
    memory = plan.cache(X, problem.k)

    def solve(number: int, monitor: Monitor, memory: float) -> Solution:
        pair = pairs[number]
        rows = X[pair.rows]
        Z: Floats = np.zeros((pair.rows.size, 1), problem.dtype)
        if start is not None:
            Z = nearest_feasible(pair.problem, pair.pick(start), np.ones(len(Z), Z.dtype))
        status = monitor.stop()
        if status is not None:
            return _stopped(pair, kernel, rows, Z, status)
        limit = max(MIN_WORK, max_work * work[number] / work.sum())
        if pair.rows.size <= SMALL_ROWS and pair.rows.size**2 * X.dtype.itemsize <= memory:
            small = solve_small(pair.problem, kernel, rows, Z, tol, monitor.stop, limit)
            if small.status[0] not in (Status.PRECISION, Status.STALLED):
                return small
            Z = small.Z  # the working-set solver has smaller rounding errors
        solver = WorkingSet(tol, memory, monitor.seconds_left, monitor.after_check, limit)
        return solver.solve(pair.problem, LazyKernelMatrix(kernel, rows), Solution.empty(Z))

    # A pair with more than a thread's share of the work gets all threads.
    large = work > work.sum() / n_threads
    at_once = np.flatnonzero(~large)[np.argsort(-work[~large], kind="stable")].tolist()
    solutions: dict[int, Solution] = {}
    with report.stage("solve"):
        for number in np.flatnonzero(large).tolist():
            solutions[number] = solve(number, monitor, memory)
            _log_progress(len(solutions), len(pairs))
        solved = train_at_once(
            lambda number, shared: solve(number, shared, memory / n_threads),
            at_once, monitor, n_threads, 1,
        )  # fmt: skip
        for number, solution in zip(at_once, solved, strict=True):
            solutions[number] = solution
            _log_progress(len(solutions), len(pairs))
    monitor.stage_done("solve")
    Z: Floats = np.zeros((problem.n, problem.k), problem.dtype)
    for number, pair in enumerate(pairs):
        solutions[number].accept(plan.tol)
        pair.put(solutions[number].Z, Z)
    ordered = [solutions[number] for number in range(len(pairs))]
    report.add_pairs(Z, X.shape[1], ordered, plan.tol)
    monitor.advise(check_kernel(X, kernel, plan.seed), report)
    intercept = np.concatenate([solution.intercept for solution in ordered])
    return TrainingResult(problem, kernel, X, Z, intercept, None, report, first_Z=Z)


def _stopped(pair: Pair, kernel: Kernel, X: Rows, Z: Floats, status: Status) -> Solution:
    """Return the start as the solution of a pair."""
    K, every_row, support = LazyKernelMatrix(kernel, X), np.arange(len(Z)), np.flatnonzero(Z)
    solution = Solution.at(pair.problem, Z, K.product(every_row, support, Z[support]))
    solution.end(np.arange(1), status)
    return solution


def _log_progress(solved: int, total: int) -> None:
    logger.debug("%d of %d pairs of classes", solved, total, extra={"done": solved / total})
