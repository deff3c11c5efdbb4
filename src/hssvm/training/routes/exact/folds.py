"""Out-of-fold decision values on the exact kernel.

The models that leave out a fold are solved after the model of all rows, and less accurately. The
model of all rows saves most of the work:

- Rows far outside the margin are not support vectors of the others either, and are left out.
- Rows far inside the margin are at their bounds in the others, too, and start there.
- The working set starts with the other support vectors.

Removing the rows of a fold from the coefficients of all rows does not give a better start than 0:
near the removed rows, the others would have to replace them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hssvm.comm import SERIAL, Communicator
from hssvm.kernels.base import Floats, Kernel, Rows
from hssvm.kernels.part import exact_kernel_matrix
from hssvm.problems import BaseProblem, Problem
from hssvm.solvers import Solution, WorkingSet
from hssvm.solvers.optimality import violations
from hssvm.training.out_of_fold import assign_folds, decisions_without_fold
from hssvm.training.plan import TrainingPlan
from hssvm.training.reports.monitor import Monitor
from hssvm.training.reports.report import FitReport
from hssvm.training.result import TrainingResult
from hssvm.training.routes.exact.parts import solve_parts
from hssvm.training.routes.exact.solver import ExactSolver

FOLD_GAP, FOLD_VIOLATION = 0.05, 0.5
"""Gap and largest violation, relative to the size of the decision values, at which models that
leave out a fold are done. Smaller ones do not change the calibration of probabilities."""

NEAR_MARGIN, MIN_NEAR_ROWS = 0.5, 400
"""Rows are far outside or inside the margin if their distance exceeds NEAR_MARGIN; but the
MIN_NEAR_ROWS rows of every class that are nearest to the margin always count."""


def exact_decisions(
    problem: BaseProblem,
    kernel: Kernel,
    X: Rows,
    solution: Solution,
    plan: TrainingPlan,
    report: FitReport,
    monitor: Monitor,
) -> Floats | None:
    """Out-of-fold decision values on the exact kernel.

    Parameters
    ----------
    problem, kernel, X, plan, report, monitor
        See `hssvm.training.train`.
    solution : Solution
        Solution for all rows, with F.

    Returns
    -------
    (n, k) array or None
        With n_classes columns for pairs of classes, and NaN at rows that were not held out; None if
        the fit was stopped.
    """
    if monitor.stop() is not None:
        return None
    fold = assign_folds(problem.strata, plan.seed, problem.communicator.rank)
    with report.stage("folds", goal=FOLD_GAP):
        if problem.n_parts > 1:
            return _part_decisions(problem, kernel, X, solution, fold, plan, report, monitor)
        single = problem.part(0).problem
        return _decisions(single, kernel, X, solution, fold, plan, monitor)


def _decisions(
    problem: Problem,
    kernel: Kernel,
    X: Rows,
    solution: Solution,
    fold: NDArray[np.int64],
    plan: TrainingPlan,
    monitor: Monitor,
) -> Floats | None:
    """Solve for all folds at once on the rows near the margin, and predict the others."""
    gradient = problem.gradient(solution.Z, solution.F)
    violation, _, _ = violations(problem, np.arange(problem.n), solution.Z, gradient)
    violation = violation / problem.decision_size()
    inside = (solution.Z != 0) & (violation < -NEAR_MARGIN)
    used = (solution.Z != 0) | _near(-violation, problem.strata)
    rows = np.flatnonzero(used.any(axis=1))
    folds = problem.rows(rows).excluding(fold[rows, None] == np.arange(plan.n_folds))
    solver = WorkingSet(
        FOLD_GAP,
        plan.cache(X, folds.k),
        monitor.seconds_left,
        first_violation=FOLD_VIOLATION,
        stop=monitor.stop,
    )
    at_bound = np.tile(np.where(inside[rows], solution.Z[rows], 0), plan.n_folds)
    at_bound[folds.reach == 0] = 0
    balanced = _balanced(at_bound, np.tile(violation[rows], plan.n_folds), problem.communicator)
    start = Solution.empty(balanced)
    first = np.flatnonzero(((solution.Z != 0) & ~inside)[rows].any(axis=1))
    K = exact_kernel_matrix(kernel, X[rows], problem.communicator)
    solved = solver.solve(folds, K, start, first)
    if solved.stopped is not None:
        return None
    values: Floats = np.full((problem.n, problem.k), np.nan, problem.dtype)
    F = solved.F.astype(problem.dtype)
    values[rows] = decisions_without_fold(F, solved.intercept, fold[rows], problem.k)
    far = np.setdiff1d(np.arange(problem.n), rows, assume_unique=True)
    for f in range(plan.n_folds):
        columns, held_out = slice(problem.k * f, problem.k * (f + 1)), far[fold[far] == f]
        Z, intercept = solved.Z[:, columns], solved.intercept[columns]
        support = np.flatnonzero(Z.any(axis=1))
        support, Z = K.share(support, np.ascontiguousarray(Z[support]))
        product = kernel.product(X[held_out], K.columns[support], Z)
        values[held_out] = product + intercept.astype(product.dtype)
    return values


def _part_decisions(
    problem: BaseProblem,
    kernel: Kernel,
    X: Rows,
    solution: Solution,
    fold: NDArray[np.int64],
    plan: TrainingPlan,
    report: FitReport,
    monitor: Monitor,
) -> Floats | None:
    """Solve for one fold after the other, each part on the rows near its margin, and predict."""
    decisions = solution.F + solution.intercept[problem.column_of]
    distance = np.sign(problem.bound) * decisions - 1
    near = problem.using((solution.Z != 0) | _near(distance, problem.strata))
    values: Floats | None = None
    solver = ExactSolver(kernel, FOLD_GAP, plan.cache(X, problem.k), np.inf)
    for f in range(plan.n_folds):
        rows, held_out = np.flatnonzero(fold != f), np.flatnonzero(fold == f)
        part, part_X = near.rows(rows), X[rows]
        solved = solve_parts(part, part_X, solver, monitor)
        if solved.stopped is not None:
            return None
        model = TrainingResult(part, kernel, part_X, solved.Z, solved.intercept, None, report)
        decided = model.decisions(X[held_out])
        if values is None:
            values = np.full((problem.n, decided.shape[1]), np.nan, problem.dtype)
        values[held_out] = decided
    return values


def _near(distance: Floats, strata: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Mask (n, k) of the rows near the margin, or among the nearest ones of their class."""
    near = distance < NEAR_MARGIN
    for stratum in range(strata.max() + 1):
        rows = np.flatnonzero(strata == stratum)
        if rows.size <= MIN_NEAR_ROWS:
            near[rows] = True
        elif near[rows].sum(axis=0).min() < MIN_NEAR_ROWS:
            nearest = np.partition(distance[rows], MIN_NEAR_ROWS, axis=0)[MIN_NEAR_ROWS]
            near[rows] |= distance[rows] < nearest
    return near


def _balanced(
    Z: Floats, violation: NDArray[np.float64], communicator: Communicator = SERIAL
) -> Floats:
    """Reduce coefficients, starting nearest to the margin, so that columns sum to 0."""
    excess = communicator.allreduce(Z.sum(axis=0, dtype=np.float64))
    for j in range(Z.shape[1]):
        side = np.flatnonzero(Z[:, j] * excess[j] > 0)
        counts, size, near = communicator.allgather(
            [np.array([side.size]), np.abs(Z[side, j]), violation[side, j]]
        )
        order = np.argsort(-near, kind="stable")
        total = np.empty(size.size)
        total[order] = np.cumsum(size[order], dtype=np.float64)
        left = np.clip(total - abs(excess[j]), 0, size)
        begin = int(counts[: communicator.rank].sum())
        Z[side, j] = np.sign(excess[j]) * left[begin : begin + side.size]
    return Z
