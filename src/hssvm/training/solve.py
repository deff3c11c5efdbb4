"""Solution of a problem on the compressed kernel and, if the plan is to refine, on the exact one.

`hssvm.training.exact` is for exact solutions without a compressed kernel.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hssvm import costs
from hssvm.kernels.base import Floats
from hssvm.kernels.part import exact_kernel_matrix
from hssvm.operators import HSSOperator
from hssvm.problems import BaseProblem, Problem
from hssvm.solvers import ADMM, Solution, WorkingSet, WorkingSetState
from hssvm.training.monitor import Monitor
from hssvm.training.plan import TrainingPlan
from hssvm.training.report import FitReport

EXACT_TOL = 1e-7
"""Gap of an exact solution in float64; in float32 it is the square root of this."""

REFINE_SHARE = 0.1
"""Refinement stops at this fraction of `tol`: it hardly costs more, and with the default tol the
dual objective then agrees with LIBSVM's to five digits."""


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
    solver = plan.first_solver(monitor, problem.k)
    with report.stage("solve", goal=np.min(solver.tol) if isinstance(solver, ADMM) else None):
        if state is not None:
            solution = state.start
        elif plan.exact and warm_start and start is not None:
            solution = Solution.at(problem, start, operator.matmul(start))
        else:
            solution = solver.solve(problem, operator, start)
    stopped = solution.stopped
    report.add_start(operator, solution)
    refined = plan.exact and stopped is None
    if stopped is not None:
        # A start counts as converged at START_TOL, which is not enough without refinement.
        solution.end(np.flatnonzero(solution.gap > plan.tol), stopped)
    elif refined:
        tol = plan.tol * REFINE_SHARE
        with report.stage("refine", goal=tol):
            solution = _refine(problem, operator, solution, plan, monitor, tol, state)
    if plan.solver != "paper":
        solution.accept(plan.tol)
    nothing_compressed = operator.matrix.tree.depth == 0 and operator.top is None
    report.add_solution(solution, exact_kernel=refined or nothing_compressed, refined=refined)
    return solution, refined


def exact_tol(dtype: np.dtype[Any]) -> float:
    """Gap of an exact solution in the given precision."""
    return EXACT_TOL if dtype == np.float64 else EXACT_TOL**0.5


def exact_goal(plan: TrainingPlan, problem: BaseProblem) -> tuple[float, float]:
    """Gap, and work limit, of a solution on the exact kernel, without a start."""
    if problem.n > plan.leaf_size:
        tol, work = plan.tol * REFINE_SHARE, costs.MAX_PASSES * costs.AFFORDABLE_PASS
    else:
        tol, work = min(plan.tol, exact_tol(problem.dtype)), costs.ONE_LEAF_BUDGET
    return tol, work if plan.limit_work else np.inf


def _refine(
    problem: Problem,
    operator: HSSOperator,
    start: Solution,
    plan: TrainingPlan,
    monitor: Monitor,
    tol: float,
    state: WorkingSetState | None = None,
) -> Solution:
    """Solve on the exact kernel, from a solution on the compressed one."""
    kernel, X, communicator = operator.matrix.kernel, operator.matrix.X, operator.communicator
    K = exact_kernel_matrix(kernel, X, communicator)
    solver = WorkingSet(
        tol,
        plan.cache(X, problem.k),
        monitor.seconds_left,
        costs.MAX_PASSES * costs.AFFORDABLE_PASS if plan.limit_work else np.inf,
        max_iter=float(plan.max_iter or np.inf) - start.n_iter,
        checkpoint=monitor.refine_checkpoint,
        stop=monitor.stop,
    )
    return solver.solve(problem, K, start, state=state)
