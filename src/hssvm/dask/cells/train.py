"""Training of the cells below a node of a tree, a task on its worker."""

from __future__ import annotations

import threading
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from distributed import get_client, get_worker
from numpy.typing import NDArray

from hssvm._threads import openmp_threads
from hssvm.dask.deadline import Deadline
from hssvm.dask.shuffle import PartRows
from hssvm.dask.splits import uniform
from hssvm.dask.train import MEMORY_SHARE, HeldOut
from hssvm.hss.tree import Node
from hssvm.kernels import Kernel
from hssvm.kernels.aligned import Aligned
from hssvm.predictors import LeafwisePredictor
from hssvm.solvers import Solution
from hssvm.training import FitReport, Task, TrainingPlan
from hssvm.training.out_of_fold import with_folds
from hssvm.training.routes.cells.route import SPLITTER
from hssvm.training.routes.cells.solve import solve_cells
from hssvm.training.routes.forest.compression import build_tree

_ONE_AT_A_TIME: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
"""For each worker of this process: its threads solve the cells of one node after the other."""


@dataclass(frozen=True, eq=False)
class CellJob:
    """The training job, which is the same for all nodes.

    Attributes
    ----------
    name : str
        A unique name.
    task : Task
    kernel : Kernel
    plan : TrainingPlan
    deadline : float
        When the fit should stop, in seconds since the epoch.
    held_out_share : float
        Share of the rows whose out-of-fold decision values go to the driver.
    """

    name: str
    task: Task
    kernel: Kernel
    plan: TrainingPlan
    deadline: float
    held_out_share: float

    def done(self, index: int) -> list[str]:
        """Key of the metadata of the cluster that says that a tree is complete."""
        return ["hssvm", self.name, str(index)]


@dataclass(frozen=True, eq=False)
class NodeSummary:
    """What the driver needs to know about the cells of a node.

    Attributes
    ----------
    solution : Solution
        The solution on each cell, without coefficients.
    held_out : HeldOut or None
        Out-of-fold decision values.
    held_out_ids : (m,) int64
        Indices of their rows.
    """

    solution: Solution
    held_out: HeldOut | None
    held_out_ids: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class NodeModel(Aligned):
    """The models of the cells of a node; they stay on a worker.

    Attributes
    ----------
    predictor : LeafwisePredictor
        Predicts rows that belong to the node.
    ids : (m,) int64
        Indices of the rows of the predictor.
    y : (m,) or None
    summary : NodeSummary
    """

    predictor: LeafwisePredictor
    ids: NDArray[np.int64]
    y: NDArray[Any] | None
    summary: NodeSummary


def train_node(rows: PartRows, node: Node, index: int, job: CellJob) -> NodeModel:
    """Train the cells below a node of the tree with the given index."""
    worker = get_worker()
    with _ONE_AT_A_TIME[worker.address], openmp_threads(worker.state.nthreads):
        return _train_node(rows, node, index, job)


def _train_node(rows: PartRows, node: Node, index: int, job: CellJob) -> NodeModel:
    plan, kernel = job.plan, job.kernel
    if limit := get_worker().memory_manager.memory_limit:
        plan = replace(plan, memory_limit=MEMORY_SHARE * limit)
    problem = job.task.problem(rows.X, rows.y, rows.weights, kernel).part(0).problem
    columns = problem if rows.fold is None else with_folds(problem, rows.fold, plan.n_folds)
    if rows.ids.size != node.offsets(0)[-1]:
        raise RuntimeError(
            "a lost worker was replaced by one whose processor rounds differently, so that the "
            "rows do not match the cuts of the trees; fit again on workers of one type"
        )
    report, k = FitReport(), problem.k
    tree = build_tree(kernel, rows.X, plan, report, index, SPLITTER, node)
    cells = solve_cells(columns, kernel, rows.X, tree, plan, Deadline(_deadline(job, index)))
    predictor = LeafwisePredictor.of(kernel, rows.X, [cells.expansions(k)], problem.clip)
    assert predictor.ids is not None
    values = None if rows.fold is None else cells.out_of_fold(rows.fold, k, problem.clip)
    held_out, sent = None, np.empty(0, np.int64)
    if values is not None and rows.fold is not None and rows.y is not None:
        drawn = uniform(rows.ids, np.zeros_like(rows.ids), plan.seed) < job.held_out_share
        sent = np.flatnonzero(drawn & ~np.isnan(values[:, 0]))
        held_out = HeldOut(values[sent], rows.y[sent], rows.weights[sent], rows.fold[sent])
    solution = cells.first_columns(k)
    solution.Z = solution.Z[:0].copy()
    summary = NodeSummary(solution, held_out, rows.ids[sent])
    y = None if rows.y is None else rows.y[predictor.ids]
    return NodeModel(predictor, rows.ids[predictor.ids], y, summary)


def _deadline(job: CellJob, index: int) -> float:
    """When to stop: never, if the cells of a complete tree are lost and trained again."""
    if job.deadline < np.inf and get_client().get_metadata(job.done(index), False):
        return np.inf
    return job.deadline


def summary_of(model: NodeModel) -> NodeSummary:
    """Summary of a model, for the driver."""
    return model.summary
