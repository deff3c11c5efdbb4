"""The stages of a fit of cells, on the driver."""

from __future__ import annotations

import logging
import math
import uuid
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from dask.delayed import Delayed
from distributed import Client, Future
from numpy.typing import NDArray

from hssvm.comm import SERIAL
from hssvm.dask.cells.blocks import read_blocks, rows_at
from hssvm.dask.cells.model import CellsModel
from hssvm.dask.cells.tops import TopCutter
from hssvm.dask.cells.train import CellJob, NodeSummary, summary_of, train_node
from hssvm.dask.compression import n_rows_of
from hssvm.dask.plan import Layout
from hssvm.dask.shuffle import PartRows, move_chunks
from hssvm.dask.train import SENT_HELD_OUT_ROWS, HeldOut
from hssvm.dask.waiting import ShouldStop, values_of, wait_for
from hssvm.hss import ClusterTree
from hssvm.hss.tree import Node, depth_for
from hssvm.kernels import Kernel
from hssvm.kernels.base import Floats, stack_rows
from hssvm.progress import Share, emit
from hssvm.training import FitReport, Task, TrainingPlan
from hssvm.training.routes.cells.route import SPLITTER
from hssvm.training.routes.cells.solve import total_of
from hssvm.training.routes.forest.forest import compared_rows

logger = logging.getLogger(__name__)

TREES_AT_A_TIME = 4
"""Number of trees whose top levels are cut together: they share the waiting times."""

MAX_SHARE = 1.15
"""Maximum number of rows of a worker, relative to the mean."""


def n_nodes_for(n_workers: int, depth: int) -> int:
    """Number of nodes, a power of two, among which the cells of a tree are divided.

    The workers then have about equally many rows, unless there are too few cells.

    Examples
    --------
    >>> from hssvm.dask.cells.fit import n_nodes_for
    >>> [n_nodes_for(workers, depth=20) for workers in (1, 2, 3, 4, 10)]
    [1, 2, 8, 4, 64]
    """
    n_nodes = 1
    while 2 * n_nodes <= 2 ** (depth - 1):  # two cells of each, at least
        per_worker = n_nodes / n_workers
        if per_worker >= 1 and math.ceil(per_worker) <= MAX_SHARE * per_worker:
            break
        n_nodes *= 2
    return n_nodes


def fit_cells(
    client: Client,
    partitions: list[Delayed],
    layout: Layout,
    owners: Sequence[str],
    kernel: Kernel,
    task: Task,
    plan: TrainingPlan,
    report: FitReport,
    deadline: float,
    should_stop: ShouldStop,
) -> tuple[CellsModel, FitReport, HeldOut | None]:
    """Train a forest of cells.

    Parameters
    ----------
    client, partitions, layout, owners, kernel, task, plan
        See `hssvm.dask.fit`.
        The list of partitions is emptied when they are read.
    report : FitReport
        Receives the times.
    deadline : float
        When the fit should stop, in seconds since the epoch.
    should_stop : callable
    """
    share = SENT_HELD_OUT_ROWS * len(owners) / layout.n_rows
    job = CellJob(uuid.uuid4().hex, task, kernel, plan, deadline, share)
    with report.stage("shuffle"):
        seed = plan.seed if plan.n_folds else None
        blocks = read_blocks(client, partitions, layout, owners, task, kernel, seed)
        partitions.clear()  # release rows of the driver: the workers have copies
        sizes = [client.submit(n_rows_of, block, pure=False) for block in blocks]
        begins = np.cumsum([0, *values_of(client, sizes, should_stop)])
    depth = depth_for(int(begins[-1]), plan.leaf_size)
    n_nodes = n_nodes_for(len(owners), depth)
    cutter = TopCutter(client, blocks, begins, layout, SPLITTER, should_stop)
    grower = Grower(client, cutter, owners, job, report, should_stop)
    tops, trees = list[ClusterTree](), list[list[Future]]()
    total, held_out = FitReport(), list[HeldOut]()
    try:
        for index in range(plan.n_trees):
            if index % TREES_AT_A_TIME == 0:
                last = min(index + TREES_AT_A_TIME, plan.n_trees)
                seeds = [plan.tree_seed(i) for i in range(index, last)]
                with report.stage("tree"):
                    tops += cutter.cut(seeds, n_nodes.bit_length() - 1)
            tree, summaries = grower.grow(index, n_nodes)
            own = _report(summaries, layout, plan)
            stopped = {"MAX_TIME", "STOPPED"} & set(own.status)
            if index and stopped:
                total.lacks_trees()
                break
            trees.append(tree)
            if index:
                total.add_tree(own)
            else:
                total = own
            if plan.n_folds and all(one.held_out is not None for one in summaries):
                held_out.append(_held_out(summaries))
            if stopped:
                break
            if index + 1 < plan.n_trees and should_stop() is not None:
                total.lacks_trees()
                break
        model = CellsModel(client, layout, tops[: len(trees)], trees, total.n_columns)
        total.n_support = model.n_support()
        if len(trees) > 1:
            with report.stage("finish"):
                places = compared_rows(int(begins[-1]), plan.seed)
                rows = _gather_rows(client, blocks, begins, places)
                total.compare_trees(model.decisions_of_trees(rows), SERIAL)
    finally:
        for future in [*blocks, *cutter.nodes, *cutter.temporary]:
            future.release()
    total.seconds = report.seconds
    return model, total, _mean_of(held_out) if held_out else None


@dataclass(eq=False)
class Grower:
    """Trains the cells of one tree after the other.

    Attributes
    ----------
    client : distributed.Client
    cutter : TopCutter
    owners : list of addresses of workers
    job : CellJob
    report : FitReport
        Receives the times.
    should_stop : callable
    """

    client: Client
    cutter: TopCutter
    owners: Sequence[str]
    job: CellJob
    report: FitReport
    should_stop: ShouldStop

    def grow(self, index: int, n_nodes: int) -> tuple[list[Future], list[NodeSummary]]:
        """Train the tree with the given index; return its models and their summaries."""
        n, level = int(self.cutter.begins[-1]), n_nodes.bit_length() - 1
        # Consecutive nodes on the same worker, as many on each as possible.
        owners = [self.owners[i * len(self.owners) // n_nodes] for i in range(n_nodes)]
        with self.report.stage("shuffle"):
            rows = self._move(index, n_nodes, owners)
            try:
                wait_for(self.client, rows, should_stop=self.should_stop)
                models = [
                    self.client.submit(
                        train_node, own, Node(n, level, i), index, self.job,
                        workers=[owner], allow_other_workers=True, pure=False,
                    )
                    for i, (own, owner) in enumerate(zip(rows, owners, strict=True))
                ]  # fmt: skip
            finally:
                for own in rows:  # the scheduler recomputes the rows of a node that is lost
                    own.release()
        with self.report.stage("solve"):
            summaries = [self.client.submit(summary_of, one, pure=False) for one in models]
            try:
                wait_for(self.client, models, lambda: _show(index, models), 0.0, self.should_stop)
                found = values_of(self.client, summaries, self.should_stop)
            except BaseException:
                for future in [*models, *summaries]:
                    future.release()
                raise
        if self.job.deadline < np.inf:
            self.client.set_metadata(self.job.done(index), True)
        return models, found

    def _move(self, index: int, n_nodes: int, owners: Sequence[str]) -> list[Future]:
        """Move the rows to the workers of their nodes."""
        cutter, place = self.cutter, index % TREES_AT_A_TIME
        chunks = {
            i: (split_by_node, block, nodes, place, n_nodes)
            for i, (block, nodes) in enumerate(zip(cutter.blocks, cutter.nodes, strict=True))
        }
        return move_chunks(self.client, chunks, owners)


def split_by_node(
    block: PartRows, nodes: NDArray[np.int32], place: int, n_nodes: int
) -> list[PartRows]:
    """Split a block by the nodes of one of the trees that were cut together."""
    return block.split(nodes[place], n_nodes)


def _show(index: int, models: Sequence[Future]) -> bool:
    done = sum(model.done() for model in models)
    emit(Share(done / len(models)), "tree %d: %d of %d nodes", index + 1, done, len(models))
    return True


def _report(summaries: Sequence[NodeSummary], layout: Layout, plan: TrainingPlan) -> FitReport:
    """Report of a tree."""
    cells = [summary.solution for summary in summaries]
    solution, report = total_of(cells, cells[0].Z, plan.tol), FitReport()
    n_cells = sum(one.gap.size for one in cells) // solution.Z.shape[1]
    report.add_cells(solution, layout.n_features, n_cells, plan.tol)
    report.n_rows = layout.n_rows
    return report


def _held_out(summaries: Sequence[NodeSummary]) -> HeldOut:
    """Out-of-fold values of a tree, in the order of the rows."""
    joined = HeldOut.join([one.held_out for one in summaries if one.held_out is not None])
    order = np.argsort(np.concatenate([one.held_out_ids for one in summaries]))
    return HeldOut(*(column[order] for column in vars(joined).values()))


def _mean_of(trees: Sequence[HeldOut]) -> HeldOut:
    """Mean of the values of several trees at the same rows."""
    first = trees[0]
    values: Floats = np.mean([tree.values for tree in trees], axis=0)
    return HeldOut(values, first.y, first.weight, first.fold)


def _gather_rows(
    client: Client, blocks: Sequence[Future], begins: NDArray[np.int64], places: NDArray[np.int64]
) -> Future:
    """Gather the rows of the blocks at the given places, which are ascending, on a worker."""
    ends = np.searchsorted(places, begins)
    rows = [
        client.submit(rows_at, block, places[a:b] - begin, pure=False)
        for block, begin, a, b in zip(blocks, begins, ends, ends[1:], strict=False)
    ]
    return client.submit(stack_rows, rows, pure=False)
