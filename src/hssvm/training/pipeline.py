"""The pipeline from a problem to a model, for all estimators, on one machine or on a cluster."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hssvm.hss.scratch import Scratch
from hssvm.kernels.base import Floats, Kernel, Rows
from hssvm.operators import HSSOperator
from hssvm.predictors import LeafExpansions
from hssvm.problems import PairsProblem, Problem
from hssvm.solvers import WorkingSetState
from hssvm.training.checks import check_features, check_kernel
from hssvm.training.compression import build_tree, compress_kernel
from hssvm.training.config import TrainingConfig
from hssvm.training.exact import train_exact
from hssvm.training.exact_folds import exact_decisions
from hssvm.training.forest import Forest, TrainedTree, fingerprint
from hssvm.training.memory import require_within
from hssvm.training.monitor import Monitor
from hssvm.training.out_of_fold import assign_folds, decisions_without_fold, with_folds
from hssvm.training.plan import TrainingPlan
from hssvm.training.report import FitReport
from hssvm.training.result import TrainingResult
from hssvm.training.side_by_side import train_trees
from hssvm.training.solve import solve

REPORT_ROWS = 128
"""Number of rows of the exact kernel matrix from which the compression error is estimated."""


def train(
    problem: Problem | PairsProblem,
    kernel: Kernel,
    X: Rows,
    config: TrainingConfig,
    report: FitReport,
    monitor: Monitor,
    start: Floats | None = None,
    *,
    warm_start: bool = False,
    forest: Forest | None = None,
) -> TrainingResult:
    """Compress the kernel matrix and solve the problem, once for every tree of the forest.

    If the solution is exact, and a start on the compressed kernel would not pay, nothing is
    compressed.

    Parameters
    ----------
    problem : Problem or PairsProblem
        A `PairsProblem` is solved on the exact kernel.
    kernel : Kernel
    X : (n, p) array or CSR matrix
    config : TrainingConfig
    report : FitReport
        Receives the results.
    monitor : Monitor
    start : (n, k), optional
        Initial coefficients.
    warm_start : bool
        Whether `start` comes from an earlier fit, so that refinement can start from it directly.
    forest : Forest, optional
        Trees of an earlier fit. If it had the same data and parameters, except for the number of
        trees, only the missing trees are trained.

    Returns
    -------
    TrainingResult

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.kernels import Gaussian
    >>> from hssvm.problems import SVCProblem
    >>> from hssvm.training import FitReport, Monitor, TrainingConfig, train
    >>> X = np.random.default_rng(0).standard_normal((3000, 2))
    >>> problem = SVCProblem(np.where(X[:, :1] * X[:, 1:] > 0, 10.0, -10.0))
    >>> result = train(problem, Gaussian(1.0), X, TrainingConfig(), FitReport(), Monitor())
    >>> bool(result.report.gap[0] < 1e-3), result.report.exact_kernel
    (True, True)
    """
    plan = config.plan_for(X, kernel)
    memory = plan.memory(X, problem.k * (1 + plan.n_folds))
    if plan.memory_limit is not None:
        memory = require_within(plan.memory_limit, memory)
    scratch = Scratch() if memory.on_disk else None
    if isinstance(problem, PairsProblem) or plan.direct(problem, kernel, X):
        return train_exact(problem, kernel, X, plan, report, monitor, start)
    identity = fingerprint(problem, kernel, X, plan)
    if forest is None or forest.fingerprint != identity:
        forest = Forest(identity, report)
    elif forest.n_trees > plan.n_trees:
        raise ValueError(
            f"n_trees={plan.n_trees} is less than the {forest.n_trees} trees of the last fit; set "
            f"n_trees={forest.n_trees} or more, or warm_start=False"
        )
    else:
        report, start = forest.report, None
        report.resume()

    def train_one(number: int, monitor: Monitor) -> TrainedTree:
        own = report if number == 0 else FitReport()
        tree = build_tree(kernel, X, plan, own, number)
        matrix = compress_kernel(kernel, X, tree, plan, own, number, scratch)
        monitor.stage_done("compress")
        return train_tree(
            HSSOperator(matrix), problem, plan, own, monitor, start, number, warm_start=warm_start
        )

    missing = range(forest.n_trees, plan.n_trees)
    for trained in train_trees(train_one, missing, monitor, plan.trees_at_a_time(memory)):
        stopped, first = trained.solution.stopped is not None, forest.n_trees == 0
        if first or not stopped:
            forest.add(trained)
        if first and stopped:
            break  # its status says so
        if forest.n_trees < plan.n_trees and (stopped or monitor.stop() is not None):
            report.lacks_trees()
            break
    return forest.result(problem, kernel, X, plan.seed)


def train_on(
    operator: HSSOperator,
    problem: Problem,
    plan: TrainingPlan,
    report: FitReport,
    monitor: Monitor,
    start: Floats | None = None,
) -> TrainingResult:
    """Solve a problem on one compressed kernel matrix; see `train` and `hssvm.training.solve`."""
    matrix, communicator = operator.matrix, operator.communicator
    forest = Forest(0, report)
    forest.add(train_tree(operator, problem, plan, report, monitor, start))
    result = forest.result(problem, matrix.kernel, matrix.X, plan.seed, communicator)
    report.reduce(communicator)
    return result


def train_tree(
    operator: HSSOperator,
    problem: Problem,
    plan: TrainingPlan,
    report: FitReport,
    monitor: Monitor,
    start: Floats | None = None,
    number: int = 0,
    *,
    state: WorkingSetState | None = None,
    warm_start: bool = False,
) -> TrainedTree:
    """Train the tree with the given number; only the first is checked, and its errors estimated.

    An interrupted refinement can be resumed from its state.
    """
    matrix = operator.matrix
    check = number == 0 and operator.communicator.size == 1
    if check:
        monitor.advise(check_features(matrix.X, matrix.kernel), report)
    out_of_fold, k = None, problem.k
    exact = plan.refine if operator.top is not None else plan.exact(problem.n)
    if plan.n_folds and not exact:
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
        if number == 0:
            report.estimate_errors(operator, solution, REPORT_ROWS, plan.seed)
    if check:
        monitor.advise(check_kernel(matrix.X, matrix.kernel, plan.seed), report)
    return TrainedTree(solution, expansions, report, out_of_fold)
