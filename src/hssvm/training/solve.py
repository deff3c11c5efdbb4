"""Solution of a problem, on the compressed kernel and then on the exact one.

::

    nothing compressed (one leaf)     ADMM to rounding error, polish; working set if necessary
    refine                            a few iterations of ADMM as a start, then the working set
    otherwise                         ADMM on the compressed kernel

`hssvm.training.exact` is for exact solutions without a compressed kernel, which is most of those
with few rows, and all pairs of classes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hssvm.kernels.base import Floats
from hssvm.kernels.lazy import LazyKernelMatrix
from hssvm.kernels.part import exact_kernel_matrix
from hssvm.operators import HSSOperator
from hssvm.problems import Problem
from hssvm.solvers import ADMM, Solution, WorkingSet, WorkingSetState, polish
from hssvm.training.config import REFINE_BUDGET
from hssvm.training.monitor import Monitor
from hssvm.training.plan import TrainingPlan
from hssvm.training.report import FitReport

EXACT_TOL = 1e-7
"""Gap of an exact solution in float64; in float32 it is the square root of this."""

EXACT_WORK = 10.0
"""Work limit, in nominal seconds, of the working-set solver for a fit without compression; a tenth
of it if the gap is already below tol."""

REFINE_SHARE = 0.1
"""Refinement stops at this fraction of `tol`: it hardly costs more, and with the default tol the
dual objective then agrees with LIBSVM's to five digits."""

REFINE_PASSES = 5.0
"""refine='auto' stops after this many times `REFINE_BUDGET`. On the data sets of the benchmarks,
refinement cost between a tenth of a pass over the kernel matrix and five passes."""


def solve(
    problem: Problem,
    operator: HSSOperator,
    plan: TrainingPlan,
    report: FitReport,
    monitor: Monitor,
    start: Floats | None = None,
    *,
    warm_start: bool = False,
    state: WorkingSetState | None = None,
) -> tuple[Solution, bool]:
    """Solve all columns of a problem, and add the results to the report.

    Parameters
    ----------
    problem : Problem
    operator : HSSOperator
    plan : TrainingPlan
    report : FitReport
    monitor : Monitor
    start : (n, k), optional
        Initial coefficients.
    warm_start : bool
        Whether `start` comes from an earlier fit, so that refinement can start from it directly.
    state : WorkingSetState, optional
        Of an interrupted refinement, which is resumed.

    Returns
    -------
    Solution
    refined : bool
        Whether the fit was refined; False if it was stopped before.
    """
    report.tol = plan.tol
    nothing_compressed = operator.matrix.tree.depth == 0 and operator.top is None
    exact = nothing_compressed and plan.solver != "paper"
    goal = exact_tol(problem.dtype) if exact else None
    solver = plan.first_solver(monitor, problem.k, exact_tol=goal)
    with report.stage("solve", goal=np.min(solver.tol) if isinstance(solver, ADMM) else None):
        if state is not None:
            solution = state.start
        elif plan.refine and warm_start and start is not None:
            solution = Solution.at(problem, start, operator.matmul(start))
        else:
            solution = solver.solve(problem, operator, start)
        stopped = solution.stopped
        if exact and stopped is None:
            matrix = operator.matrix
            K = LazyKernelMatrix(matrix.kernel, matrix.X)
            polish(problem, K, solution, plan.max_iter or np.inf)
    report.add_start(operator, solution)
    monitor.stage_done("solve")
    if stopped is not None:
        # A start counts as converged at START_TOL, which is not enough without refinement.
        solution.end(np.flatnonzero(solution.gap > plan.tol), stopped)
    elif plan.refine:
        tol = plan.tol * REFINE_SHARE
        with report.stage("refine", goal=tol):
            work = REFINE_BUDGET * REFINE_PASSES
            solution = _refine(problem, operator, solution, plan, monitor, tol, work, state)
    elif exact:
        _finish_exact(problem, operator, solution, plan, report, monitor)
    refined = plan.refine and stopped is None
    if plan.solver != "paper":
        solution.accept(plan.tol)
    exact_kernel = refined or nothing_compressed
    report.add_solution(solution, exact_kernel=exact_kernel, refined=refined)
    return solution, refined


def exact_tol(dtype: np.dtype[Any]) -> float:
    """Gap of an exact solution in the given precision."""
    return EXACT_TOL if dtype == np.float64 else EXACT_TOL**0.5


def exact_goal(plan: TrainingPlan, dtype: np.dtype[Any]) -> tuple[float, float]:
    """Gap, and work limit, of a solution on the exact kernel, without a start."""
    if plan.refine:
        tol, work = plan.tol * REFINE_SHARE, REFINE_BUDGET * REFINE_PASSES
    else:
        tol, work = min(plan.tol, exact_tol(dtype)), EXACT_WORK
    return tol, work if plan.limit_work else np.inf


def _refine(
    problem: Problem,
    operator: HSSOperator,
    start: Solution,
    plan: TrainingPlan,
    monitor: Monitor,
    tol: float,
    max_work: float,
    state: WorkingSetState | None = None,
) -> Solution:
    """Solve on the exact kernel; `max_work` applies if the configuration limits the work."""
    kernel, X, communicator = operator.matrix.kernel, operator.matrix.X, operator.communicator
    K = exact_kernel_matrix(kernel, X, communicator)
    solver = WorkingSet(
        tol,
        plan.cache(X, problem.k),
        monitor.seconds_left,
        monitor.after_check,
        max_work if plan.limit_work else np.inf,
        max_iter=float(plan.max_iter or np.inf) - start.n_iter,
        checkpoint=monitor.refine_checkpoint,
        stop=monitor.stop,
    )
    return solver.solve(problem, K, start, state=state)


def _finish_exact(
    problem: Problem,
    operator: HSSOperator,
    solution: Solution,
    plan: TrainingPlan,
    report: FitReport,
    monitor: Monitor,
) -> None:
    """Finish columns for which ADMM has not found an exact solution with the working-set solver."""
    tol = min(plan.tol, exact_tol(problem.dtype))
    left = np.flatnonzero(solution.gap > tol)
    if left.size:
        with report.stage("refine", goal=tol):
            start = solution.columns(left)
            work = EXACT_WORK if (start.gap > plan.tol).any() else EXACT_WORK / 10
            refined = _refine(problem.columns(left), operator, start, plan, monitor, tol, work)
        report.n_rounds[left], report.n_steps[left] = refined.n_rounds, refined.n_iter
        solution.improve(left, refined)
