"""Estimates of the time and memory of a fit of cells, from the solution of a few of them."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm import _core, costs
from hssvm._threads import openmp_threads
from hssvm.hss import ClusterTree
from hssvm.hss.tree import depth_for
from hssvm.kernels.base import Kernel, Rows
from hssvm.training.plan import TrainingPlan
from hssvm.training.reports.monitor import Monitor
from hssvm.training.routes.cells.route import SPLITTER
from hssvm.training.routes.cells.solve import solve_cells
from hssvm.training.tasks import Task

CELLS_PER_THREAD = 2
"""Number of cells that are solved by each thread."""


def estimate_cells(
    task: Task, X: Rows, y: NDArray[Any] | None, kernel: Kernel, plan: TrainingPlan
) -> tuple[int, dict[str, float], float]:
    """Solve the cells around a few random rows, and extrapolate.

    Parameters
    ----------
    task, X, y, kernel
        See `hssvm.training.cost.estimate_cost`.
    plan : TrainingPlan
        The plan of a fit on all rows.

    Returns
    -------
    n_sample : int
        Number of rows of the cells.
    seconds : dict
        Seconds by stage.
    memory : float
        Bytes at the peak.
    """
    n = X.shape[0]
    size = min(n, plan.leaf_size)
    centers = np.random.default_rng(0).integers(n, size=CELLS_PER_THREAD * _core.thread_count())
    cells = [_nearest(kernel, X, int(center), size) for center in centers]
    rows = np.concatenate(cells)
    trial_task, targets = task.of_sample(None if y is None else y[rows])
    problem = trial_task.problem(X[rows], targets, np.ones(rows.size), kernel).part(0).problem
    tree = _partition(len(cells), size, X)
    trial = replace(plan, n_folds=0, memory_limit=None)
    n_columns = problem.k * (1 + plan.n_folds)
    memory = plan.cell_memory(X, n_columns)
    most = plan.cache(X, n_columns) / memory.values(size)
    at_a_time = max(1, min(_core.thread_count(), int(most)))
    for _ in range(2):  # the first time is a warm-up
        start = time.perf_counter()
        with openmp_threads(at_a_time):
            solve_cells(problem, kernel, X[rows], tree, trial, Monitor())
        solve = time.perf_counter() - start
    folds = 1 + costs.CELL_FOLD_SHARE * plan.n_folds
    seconds = {
        "tree": _seconds_per_row_and_level(kernel, X[rows], size) * n * depth_for(n, size),
        "solve": solve * n / rows.size * folds,
    }
    total = {name: plan.n_trees * value for name, value in seconds.items()}
    return rows.size, total, memory.peak(size, at_a_time)


def _seconds_per_row_and_level(kernel: Kernel, X: Rows, size: int) -> float:
    coordinates = kernel.coordinates(X)
    for _ in range(2):  # the first time is a warm-up
        start = time.perf_counter()
        tree = ClusterTree.build(coordinates, size, SPLITTER)
        seconds = time.perf_counter() - start
    return seconds / X.shape[0] / max(1, tree.depth)


def _nearest(kernel: Kernel, X: Rows, center: int, size: int) -> NDArray[np.int64]:
    """Return the rows with the largest kernel values with a row, as a cell would have."""
    values = kernel.block(X[center : center + 1], X)[0]
    return np.argpartition(-values, size - 1)[:size]


def _partition(n_cells: int, size: int, X: Rows) -> ClusterTree:
    """Return a tree without cuts, whose leaves are the given cells; those beyond are empty."""
    depth = max(0, (n_cells - 1).bit_length())
    offsets = np.minimum(np.arange(2**depth + 1), n_cells) * size
    no_cuts = np.empty((0, X.shape[1]), X.dtype), np.empty(0, X.dtype)
    return ClusterTree(np.arange(n_cells * size), depth, *no_cuts, offsets)
