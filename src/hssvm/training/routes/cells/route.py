"""Training of a forest of cells."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hssvm.hss.splitters import TwoMeansSplitter
from hssvm.kernels.base import Floats, Kernel, Rows, require_no_overflow
from hssvm.predictors import LeafwisePredictor
from hssvm.problems import Problem
from hssvm.training.data.checks import check_features, check_kernel
from hssvm.training.out_of_fold import assign_folds, with_folds
from hssvm.training.plan import TrainingPlan
from hssvm.training.reports.monitor import Monitor
from hssvm.training.reports.report import FitReport
from hssvm.training.result import TrainingResult
from hssvm.training.routes.cells.solve import solve_cells, total_of
from hssvm.training.routes.forest.compression import build_tree
from hssvm.training.routes.forest.forest import Forest, TrainedTree
from hssvm.training.routes.forest.grow import grow

SPLITTER = TwoMeansSplitter(n_samples=512, n_starts=1, n_iterations=3)
"""Cuts that are cheap and differ from tree to tree: with several trees, they are as accurate as
better ones."""


def train_cells(
    problem: Problem,
    kernel: Kernel,
    X: Rows,
    plan: TrainingPlan,
    report: FitReport,
    monitor: Monitor,
    earlier: Forest | None = None,
) -> TrainingResult:
    """Solve the problem exactly within the cells of every tree of a forest.

    Parameters
    ----------
    problem, kernel, X, plan, report, monitor
        See `hssvm.training.train`.
    earlier : Forest, optional
        Trees of an earlier fit.

    Returns
    -------
    TrainingResult
    """
    with np.errstate(over="ignore"):
        require_no_overflow(float(kernel.diag(X).sum(dtype=np.float64)), kernel, X.dtype)
    fold = assign_folds(problem.strata, plan.seed) if plan.n_folds else None
    columns = problem if fold is None else with_folds(problem, fold, plan.n_folds)

    # Rows that count for nothing are left out: a cell of such rows would have no model.
    counts = problem.reach.any(axis=1)
    counting, ignored = np.flatnonzero(counts), np.flatnonzero(~counts)
    own = X if ignored.size == 0 else X[counting]

    def train_one(
        index: int, report: FitReport, monitor: Monitor, _start: Floats | None
    ) -> TrainedTree:
        if index == 0:
            if not plan.scaled:
                monitor.advise(check_features(X, kernel), report)
            monitor.advise(check_kernel(X, kernel, plan.seed), report)
        tree = build_tree(kernel, own, plan, report, index, SPLITTER)
        tree = replace(tree, perm=counting[tree.perm])
        with report.stage("solve"):
            cells = solve_cells(columns, kernel, X, tree, plan, monitor)
        k = problem.k
        first, expansions = cells.first_columns(k), cells.expansions(k)
        solution = total_of([first], first.Z, plan.tol)
        report.add_cells(solution, X.shape[1], tree.n_leaves, plan.tol)
        report.leaf_offsets = tree.offsets(tree.depth)
        out_of_fold = None if fold is None else cells.out_of_fold(fold, k, problem.clip)
        if out_of_fold is not None and ignored.size:
            model = LeafwisePredictor.of(kernel, X, [expansions], problem.clip)
            out_of_fold[ignored] = model(X[ignored])
        return TrainedTree(solution, expansions, report, out_of_fold)

    forest = grow(train_one, problem, kernel, X, plan, report, monitor, earlier=earlier)
    return forest.result(problem, kernel, X, plan.seed)
