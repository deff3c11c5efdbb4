"""The pipeline from a problem to a model, for all estimators, on one machine or on a cluster."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hssvm.kernels.base import Kernel, Rows
from hssvm.problems import BaseProblem, LeastSquaresProblem
from hssvm.solvers.equality import nearest_feasible
from hssvm.training.memory import require_within
from hssvm.training.plan import Route, TrainingPlan
from hssvm.training.reports.monitor import Monitor
from hssvm.training.reports.report import FitReport
from hssvm.training.result import TrainingResult
from hssvm.training.routes.cells.route import train_cells
from hssvm.training.routes.exact.route import train_exact
from hssvm.training.routes.forest.route import train_forest
from hssvm.training.routes.least_squares import train_least_squares
from hssvm.training.warm_start import LastFit


def train(
    problem: BaseProblem,
    kernel: Kernel,
    X: Rows,
    plan: TrainingPlan,
    report: FitReport,
    monitor: Monitor,
    last: LastFit | None = None,
) -> TrainingResult:
    """Solve a problem by the route of the plan.

    Parameters
    ----------
    problem : BaseProblem
    kernel : Kernel
    X : (n, p) array or CSR matrix
    plan : TrainingPlan
        See `hssvm.training.planning`.
    report : FitReport
        Receives the results.
    monitor : Monitor
    last : LastFit, optional
        The last fit, for a warm start. If it had the same data and parameters, except for the
        number of trees, only the missing trees are trained; else its coefficients are the start.

    Returns
    -------
    TrainingResult

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.kernels import Gaussian
    >>> from hssvm.problems import SVCProblem
    >>> from hssvm.training import FitReport, Monitor, TrainingConfig, plan_problem, train
    >>> X, kernel = np.random.default_rng(0).standard_normal((3000, 2)), Gaussian(1.0)
    >>> problem = SVCProblem(np.where(X[:, :1] * X[:, 1:] > 0, 10.0, -10.0))
    >>> plan = plan_problem(TrainingConfig(), problem, kernel, X)
    >>> result = train(problem, kernel, X, plan, FitReport(), Monitor())
    >>> bool(result.report.gap[0] < 1e-3), result.report.exact_kernel
    (True, True)
    """
    return replace(_by_route(problem, kernel, X, plan, report, monitor, last), seed=plan.seed)


def _by_route(
    problem: BaseProblem,
    kernel: Kernel,
    X: Rows,
    plan: TrainingPlan,
    report: FitReport,
    monitor: Monitor,
    last: LastFit | None,
) -> TrainingResult:
    if plan.route is Route.CELLS:
        trees = None if last is None else last.forest(plan, problem.n)
        return train_cells(problem.part(0).problem, kernel, X, plan, report, monitor, trees)
    memory = plan.memory(X, problem.k * (1 + plan.n_folds))
    if plan.memory_limit is not None:
        memory = require_within(plan.memory_limit, memory)
    start = None if last is None else last.start(problem)
    single = problem.part(0).problem
    earlier = None if last is None else last.forest(plan, problem.n)
    if isinstance(single, LeastSquaresProblem):
        return train_least_squares(single, kernel, X, plan, memory, report, monitor, start, earlier)
    if plan.route is Route.EXACT:
        return train_exact(problem, kernel, X, plan, report, monitor, start)
    if start is not None:
        start = nearest_feasible(single, start, np.ones(problem.n, problem.dtype))
    return train_forest(single, kernel, X, plan, memory, report, monitor, start, earlier)
