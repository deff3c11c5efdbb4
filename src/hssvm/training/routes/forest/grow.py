"""Growth of a forest, tree by tree or several at a time."""

from __future__ import annotations

from collections.abc import Callable

from hssvm.kernels.base import Floats, Kernel, Rows
from hssvm.messages import api, value_error
from hssvm.problems import Problem
from hssvm.training.plan import TrainingPlan
from hssvm.training.reports.monitor import Monitor
from hssvm.training.reports.report import FitReport
from hssvm.training.routes.forest.forest import Forest, TrainedTree, fingerprint
from hssvm.training.routes.forest.threads import train_trees


def grow(
    train_one: Callable[[int, FitReport, Monitor, Floats | None], TrainedTree],
    problem: Problem,
    kernel: Kernel,
    X: Rows,
    plan: TrainingPlan,
    report: FitReport,
    monitor: Monitor,
    max_workers: int = 1,
    start: Floats | None = None,
    earlier: Forest | None = None,
) -> Forest:
    """Train the missing trees of a forest.

    Parameters
    ----------
    train_one : callable
        ``train_one(index, report, monitor, start)`` trains the tree with the given index.
    problem, kernel, X, plan, report, monitor
        See `train`.
    max_workers : int
        Number of trees that are trained at a time.
    start : (n, k), optional
        Feasible coefficients of an earlier fit.
    earlier : Forest, optional
        Trees of an earlier fit, which are kept if data and parameters are the same.
    """
    identity = fingerprint(problem, kernel, X, plan)
    if earlier is None or earlier.fingerprint != identity:
        forest = Forest(identity, report)
    elif earlier.n_trees > plan.n_trees:
        raise value_error(
            f"{api:n_trees={plan.n_trees}} is less than the {earlier.n_trees} trees of the last "
            f"fit; set {api:n_trees={earlier.n_trees}} or more, or {api:warm_start=False}"
        )
    else:
        forest, report, start = earlier, earlier.report, None
        report.resume()

    def train(index: int, monitor: Monitor) -> TrainedTree:
        return train_one(index, report if index == 0 else FitReport(), monitor, start)

    missing = range(forest.n_trees, plan.n_trees)
    for trained in train_trees(train, missing, monitor, max_workers):
        stopped, first = trained.solution.stopped is not None, forest.n_trees == 0
        if first or not stopped:
            forest.add(trained)
        if first and stopped:
            break  # its status says so
        if forest.n_trees < plan.n_trees and (stopped or monitor.stop() is not None):
            report.lacks_trees()
            break
    return forest
