"""Training of the trees of a forest, one or several at a time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hssvm.hss.scratch import Scratch
from hssvm.kernels.base import Floats, Kernel, Rows
from hssvm.operators import HSSOperator
from hssvm.predictors import LeafExpansions
from hssvm.problems import Problem
from hssvm.solvers import WorkingSetState
from hssvm.training.data.checks import check_features, check_kernel
from hssvm.training.memory import FitMemory
from hssvm.training.out_of_fold import assign_folds, decisions_without_fold, with_folds
from hssvm.training.plan import TrainingPlan
from hssvm.training.reports.errors import estimate_errors
from hssvm.training.reports.monitor import Monitor
from hssvm.training.reports.report import FitReport
from hssvm.training.result import TrainingResult
from hssvm.training.routes.exact.folds import exact_decisions
from hssvm.training.routes.forest.compression import build_tree, compress_kernel
from hssvm.training.routes.forest.forest import Forest, TrainedTree
from hssvm.training.routes.forest.grow import grow
from hssvm.training.routes.forest.solve import solve

REPORT_ROWS = 128
"""Number of rows of the exact kernel matrix from which the compression error is estimated."""


def train_forest(
    problem: Problem,
    kernel: Kernel,
    X: Rows,
    plan: TrainingPlan,
    memory: FitMemory,
    report: FitReport,
    monitor: Monitor,
    start: Floats | None = None,
    earlier: Forest | None = None,
) -> TrainingResult:
    """Compress the kernel matrix and solve the problem, once for every tree of the forest.

    Parameters
    ----------
    problem, kernel, X, plan, report, monitor
        See `train`.
    memory : FitMemory
        Memory model of the plan.
    start : (n, k), optional
        Feasible coefficients of an earlier fit.
    earlier : Forest, optional
        Trees of an earlier fit.

    Returns
    -------
    TrainingResult
    """
    scratch = Scratch() if memory.on_disk else None

    def train_one(
        index: int, report: FitReport, monitor: Monitor, start: Floats | None
    ) -> TrainedTree:
        tree = build_tree(kernel, X, plan, report, index)
        matrix = compress_kernel(kernel, X, tree, plan, report, index, scratch)
        operator = HSSOperator(matrix)
        return train_tree(operator, problem, plan, report, monitor, start, index, warm_start=True)

    max_workers = plan.trees_at_a_time(memory)
    forest = grow(train_one, problem, kernel, X, plan, report, monitor, max_workers, start, earlier)
    return forest.result(problem, kernel, X, plan.seed)


def train_tree(
    operator: HSSOperator,
    problem: Problem,
    plan: TrainingPlan,
    report: FitReport,
    monitor: Monitor,
    start: Floats | None = None,
    index: int = 0,
    *,
    state: WorkingSetState | None = None,
    warm_start: bool = False,
) -> TrainedTree:
    """Train the tree with the given index; only the first is checked, and its errors estimated.

    An interrupted refinement can be resumed from its state.
    """
    matrix = operator.matrix
    check = index == 0 and operator.communicator.size == 1
    if check and not plan.scaled:
        monitor.advise(check_features(matrix.X, matrix.kernel), report)
    out_of_fold, k = None, problem.k
    if plan.n_folds and not plan.exact:
        fold = assign_folds(problem.strata, plan.seed, operator.communicator.rank)
        folds = with_folds(problem, fold, plan.n_folds)
        solution, refined = solve(folds, operator, plan, report, monitor)
        out_of_fold = decisions_without_fold(solution.F[:, k:], solution.intercept[k:], fold, k)
        solution = solution.columns(np.arange(k))
        report.keep_columns(k)
    else:
        without_folds = replace(plan, n_folds=0)
        solution, refined = solve(
            problem,
            operator,
            without_folds,
            report,
            monitor,
            start,
            warm_start=warm_start,
            state=state,
        )
        if plan.n_folds and report.exact_kernel:
            out_of_fold = exact_decisions(
                problem, matrix.kernel, matrix.X, solution, plan, report, monitor
            )
    with report.stage("finish"):
        expansions = None
        if matrix.projection and not refined:
            exchange = None if operator.top is None else operator.top.far_field
            expansions = LeafExpansions.of(matrix, solution.Z, solution.intercept, exchange)
        if index == 0:
            estimate_errors(report, operator, solution, REPORT_ROWS, plan.seed)
    if check:
        monitor.advise(check_kernel(matrix.X, matrix.kernel, plan.seed), report)
    return TrainedTree(solution, expansions, report, out_of_fold)
