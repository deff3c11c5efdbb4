"""Refinement: from a solution on the compressed kernel to one on the exact kernel."""

from __future__ import annotations

import numpy as np

from hssvm.kernels.part import exact_kernel_matrix
from hssvm.operators import HSSOperator
from hssvm.problems import Problem
from hssvm.solvers import Solution, WorkingSet, WorkingSetState, polish_rounded
from hssvm.training.plan import TrainingPlan
from hssvm.training.reports.monitor import Monitor


def refine(
    problem: Problem,
    operator: HSSOperator,
    start: Solution,
    plan: TrainingPlan,
    monitor: Monitor,
    state: WorkingSetState | None = None,
) -> Solution:
    """Solve on the exact kernel, from a solution on the compressed one."""
    kernel, X, communicator = operator.matrix.kernel, operator.matrix.X, operator.communicator
    K = exact_kernel_matrix(kernel, X, communicator)
    memory = plan.cache(X, problem.k)
    solver = WorkingSet(
        plan.exact_tol,
        memory,
        monitor.seconds_left,
        plan.max_work,
        max_iter=float(plan.max_iter or np.inf) - start.n_iter,
        checkpoint=monitor.refine_checkpoint,
        stop=monitor.stop,
    )
    solution = solver.solve(problem, K, start, state=state)
    if communicator.size == 1:
        polish_rounded(problem, K, solution, plan.exact_tol, memory)
    return solution
