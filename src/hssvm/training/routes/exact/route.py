"""Exact solutions without a start on the compressed kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from hssvm import costs
from hssvm.kernels.base import Floats, Kernel, Rows, require_no_overflow
from hssvm.problems import BaseProblem
from hssvm.training.data.checks import check_features, check_kernel
from hssvm.training.plan import TrainingPlan
from hssvm.training.reports.monitor import Monitor
from hssvm.training.reports.report import FitReport
from hssvm.training.result import TrainingResult
from hssvm.training.routes.exact.folds import exact_decisions
from hssvm.training.routes.exact.parts import solve_parts
from hssvm.training.routes.exact.solver import ExactSolver

EXACT_TOL = 1e-7
"""Gap of an exact solution in float64; in float32 it is the square root of this."""


def train_exact(
    problem: BaseProblem,
    kernel: Kernel,
    X: Rows,
    plan: TrainingPlan,
    report: FitReport,
    monitor: Monitor,
    start: Floats | None = None,
) -> TrainingResult:
    """Solve a problem on the exact kernel.

    Parameters
    ----------
    problem : BaseProblem
    kernel, X, plan, report, monitor
        See `hssvm.training.train`.
    start : (n, k), optional
        Initial coefficients, which need not be feasible; else 0.

    Returns
    -------
    TrainingResult
    """
    tol, max_work = exact_goal(plan, problem)
    solver = ExactSolver(
        kernel, tol, plan.cache(X, problem.k), max_work, max_iter=plan.max_iter or np.inf
    )
    with np.errstate(over="ignore"):
        require_no_overflow(float(kernel.diag(X).sum(dtype=np.float64)), kernel, X.dtype)
    with report.stage("solve", goal=tol if problem.n_parts == 1 else None):
        solution = solve_parts(problem, X, solver, monitor, start, with_F=plan.n_folds > 0)
    if not plan.scaled:
        monitor.advise(check_features(X, kernel), report)
    solution.accept(plan.tol)
    report.add_exact(solution, X.shape[1], plan.tol)
    monitor.advise(check_kernel(X, kernel, plan.seed), report)
    Z, out_of_fold = solution.Z, None
    if plan.n_folds:
        out_of_fold = exact_decisions(problem, kernel, X, solution, plan, report, monitor)
    return TrainingResult(
        problem, kernel, X, Z, solution.intercept, None, report, first_Z=Z, out_of_fold=out_of_fold
    )


def exact_tol(dtype: np.dtype[Any]) -> float:
    """Gap of an exact solution in the given precision."""
    return EXACT_TOL if dtype == np.float64 else EXACT_TOL**0.5


def exact_goal(plan: TrainingPlan, problem: BaseProblem) -> tuple[float, float]:
    """Gap, and work limit, of a solution on the exact kernel, without a start."""
    if problem.n > plan.leaf_size:
        return plan.exact_tol, plan.max_work
    budget = costs.ONE_LEAF_BUDGET if plan.limit_work else np.inf
    return min(plan.tol, exact_tol(problem.dtype)), budget
