"""Solution of a problem on the compressed kernel and, if the plan is to refine, on the exact one.

`hssvm.training.routes.exact.route` is for exact solutions without a compressed kernel.
"""

from __future__ import annotations

import numpy as np

from hssvm.kernels.base import Floats
from hssvm.operators import HSSOperator
from hssvm.problems import Problem
from hssvm.solvers import ADMM, Solution, WorkingSetState
from hssvm.training.plan import TrainingPlan
from hssvm.training.reports.monitor import Monitor
from hssvm.training.reports.report import FitReport
from hssvm.training.routes.refined import refine


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
        State of an interrupted refinement, which is resumed.

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
        with report.stage("refine", goal=plan.exact_tol):
            solution = refine(problem, operator, solution, plan, monitor, state)
    if plan.solver != "paper":
        solution.accept(plan.tol)
    nothing_compressed = operator.matrix.tree.depth == 0 and operator.top is None
    report.add_solution(solution, exact_kernel=refined or nothing_compressed, refined=refined)
    return solution, refined
