"""Pairs of classes: a problem for each pair, on the exact kernel and the rows of its classes.

Pairs are independent of each other, so they are solved at the same time, one thread each::

    many pairs of few rows    by the core, thousands with one call
    other pairs               in a Python thread each, after those that are too large for that
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from itertools import count

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from hssvm import _core
from hssvm.kernels.base import CoreKernel, Floats, Rows
from hssvm.problems import PairsProblem
from hssvm.problems.base import Objective
from hssvm.solvers import Solution, Status
from hssvm.solvers.equality import nearest_feasible
from hssvm.training.exact_solver import ExactSolver
from hssvm.training.monitor import Monitor
from hssvm.training.side_by_side import train_at_once

logger = logging.getLogger(__name__)

MIN_WORK = 1.0
"""Smallest work limit of a pair, in nominal seconds."""

MANY_PAIRS, FEW_ROWS, FEW_STEPS = 100, 500, 20_000
"""More than MANY_PAIRS pairs of at most FEW_ROWS rows are solved by the core, in FEW_STEPS steps:
the overhead of a pair in Python would exceed the time of its solution."""

BATCH_ROWS = 2**17
"""Number of rows of the pairs of one call, between two tests for Ctrl-C and max_time."""


def solve_pairs(
    problem: PairsProblem, X: Rows, solver: ExactSolver, monitor: Monitor, start: Floats | None
) -> Solution:
    """Solve every pair of classes.

    Parameters
    ----------
    problem : PairsProblem
    X : (n, p) array or CSR matrix
    solver : ExactSolver
        Its memory and work are those of all pairs.
    monitor : Monitor
    start : (n, n_classes - 1), optional
        Initial coefficients, packed; else 0.

    Returns
    -------
    Solution
        With packed coefficients Z, and without F; the other arrays have an entry for each pair.
    """
    solution = Solution.empty(np.zeros((0, problem.n_pairs), problem.dtype))
    solution.Z = np.zeros((problem.n, problem.k), problem.dtype)
    if start is not None:
        _make_feasible(problem, start, solution.Z)
    left = np.arange(problem.n_pairs)
    core = isinstance(solver.kernel, CoreKernel) and not scipy.sparse.issparse(X)
    few = problem.pair_sizes <= FEW_ROWS
    if core and np.count_nonzero(few) > MANY_PAIRS:
        for numbers in _batches(problem, np.flatnonzero(few)):
            _solve_batch(problem, X, solver, monitor, numbers, solution)
            _log_progress(int((solution.gap <= solver.tol).sum()), problem.n_pairs)
        stopped = np.array([status is not Status.MAX_ITER for status in solution.status])
        solution.accept(solver.tol)
        left = np.flatnonzero((solution.gap > solver.tol) & ~stopped)
    _solve_one_by_one(problem, X, solver, monitor, left, solution)
    return solution


def _make_feasible(problem: PairsProblem, start: Floats, Z: Floats) -> None:
    for pair in problem.pairs():
        weights = np.ones(pair.rows.size, problem.dtype)
        pair.put(nearest_feasible(pair.problem, pair.pick(start), weights), Z)


def _batches(problem: PairsProblem, numbers: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    batch = np.cumsum(problem.pair_sizes[numbers]) // BATCH_ROWS
    return iter(np.split(numbers, np.flatnonzero(np.diff(batch)) + 1))


def _solve_batch(
    problem: PairsProblem,
    X: Rows,
    solver: ExactSolver,
    monitor: Monitor,
    numbers: NDArray[np.int64],
    solution: Solution,
) -> None:
    """Solve the pairs with the given numbers, or only evaluate them if the fit should stop."""
    assert isinstance(solver.kernel, CoreKernel)
    status = monitor.stop()
    batch = problem.batch(numbers)
    z = solution.Z[batch.rows, batch.columns]
    values, steps = np.empty((3, numbers.size)), np.empty(numbers.size, np.int64)
    solver.kernel.solve_pairs(
        X, batch.offsets, batch.rows, batch.bound, solver.tol, 0 if status else FEW_STEPS, z,
        *values, steps,
    )  # fmt: skip
    primal, dual, intercept = values
    gap = Objective(primal, dual, intercept, np.zeros(numbers.size)).gap
    finite = np.isfinite(gap)  # others are left for the solver of single pairs
    rows = np.repeat(finite, np.diff(batch.offsets))
    solution.Z[batch.rows[rows], batch.columns[rows]] = z[rows]
    solved = numbers[finite]
    solution.primal[solved], solution.dual[solved] = primal[finite], dual[finite]
    solution.intercept[solved], solution.gap[solved] = intercept[finite], gap[finite]
    solution.n_iter[solved] = steps[finite] > 0
    if status is not None:
        solution.end(numbers[solution.gap[numbers] > solver.tol], status)


def _solve_one_by_one(
    problem: PairsProblem,
    X: Rows,
    solver: ExactSolver,
    monitor: Monitor,
    numbers: NDArray[np.int64],
    solution: Solution,
) -> None:
    work = problem.pair_sizes.astype(np.float64) ** 2
    share = work / work.sum()
    # Functions of the user are called by one thread at a time.
    n_threads = _core.thread_count() if isinstance(solver.kernel, CoreKernel) else 1

    def solve(number: int, monitor: Monitor, memory: float) -> Solution:
        pair = problem.pair(number)
        limit = max(MIN_WORK, solver.max_work * share[number])
        own = ExactSolver(solver.kernel, solver.tol, memory, limit)
        return own.solve(pair.problem, X[pair.rows], pair.pick(solution.Z), monitor)

    counter = count(problem.n_pairs - numbers.size + 1)

    def keep(number: int, solved: Solution) -> None:
        problem.pair(number).put(solved.Z, solution.Z)
        for name in ("primal", "dual", "intercept", "gap", "n_iter"):
            getattr(solution, name)[number] = getattr(solved, name)[0]
        solution.status[number] = solved.status[0]
        solution.n_working = max(solution.n_working, solved.n_working)
        _log_progress(next(counter), problem.n_pairs)

    # A pair with more than a thread's share of the work gets all threads.
    large = share[numbers] > 1 / n_threads
    for number in numbers[large].tolist():
        keep(number, solve(number, monitor, solver.memory))
    others = numbers[~large]
    at_once = others[np.argsort(-work[others], kind="stable")].tolist()
    solved = train_at_once(
        lambda number, shared: solve(number, shared, solver.memory / n_threads),
        at_once, monitor, n_threads, 1,
    )  # fmt: skip
    for number, one in zip(at_once, solved, strict=True):
        keep(number, one)


def _log_progress(solved: int, total: int) -> None:
    logger.debug("%d of %d pairs of classes", solved, total, extra={"done": solved / total})
