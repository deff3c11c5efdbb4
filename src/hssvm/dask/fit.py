"""The stages of a distributed fit, on the driver."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

import numpy as np
from distributed import Client, Future

from hssvm.dask.cells.fit import fit_cells
from hssvm.dask.compression import (
    CompressedTree,
    compress_group,
    compress_rows,
    group_ranks,
    n_rows_of,
    root_of,
    top_of,
)
from hssvm.dask.model import DistributedModel, PartsModel
from hssvm.dask.partitions import as_partitions
from hssvm.dask.plan import MIN_PART_ROWS, Layout, group_sample, outside_of, plan, route_of
from hssvm.dask.shuffle import collect_parts
from hssvm.dask.supervisor import Supervisor, TrainedModels
from hssvm.dask.train import HeldOut, Job, PartResult
from hssvm.dask.waiting import (
    ClusterLost,
    ShouldStop,
    live_workers,
    value_of,
    values_of,
    wait_for,
)
from hssvm.hss.top import group_parts
from hssvm.hss.tree import depth_for
from hssvm.kernels import Kernel
from hssvm.kernels.radial import RadialKernel
from hssvm.training import FitReport, Route, Task, TrainingConfig

logger = logging.getLogger(__name__)

STOPPED = {"MAX_TIME", "STOPPED", "FEWER_TREES"}
"""Statuses after which no more trees are trained."""

SECONDS_PER_CHUNK = 0.002
"""Seconds that the scheduler may need to read a task of the shuffle."""


def fit(
    client: Client,
    data: tuple[Any, Any, Any],
    describe: Callable[[Layout], tuple[Kernel, Task]],
    config: TrainingConfig,
    *,
    scaling: str | None,
    radial: type[RadialKernel] | None,
    classify: bool,
    should_stop: ShouldStop,
) -> tuple[DistributedModel, FitReport, HeldOut | None]:
    """Train on the workers of a client.

    Parameters
    ----------
    client : distributed.Client
    data : (X, y, sample_weight)
        As in `as_partitions`.
    describe : callable
        Called with the layout of the rows; returns the kernel and the task.
    config : TrainingConfig
    scaling : {None, 'standard', 'minmax', 'quantiles', 'learned', 'learned-quantiles'}
    radial : type or None
        The kernel if it is radial.
    classify : bool
        Whether y are labels.
    should_stop : callable
        Called periodically; returns a status if the fit should stop.

    Returns
    -------
    DistributedModel
    FitReport
    HeldOut or None
        Out-of-fold decision values, if the configuration asks for them.
    """
    owners = live_workers(client)
    if not owners:
        raise ClusterLost(
            "the cluster has no workers; wait for them with client.wait_for_workers(1)"
        )
    report, temporary = FitReport(), list[Future]()
    deadline = np.inf if config.max_time is None else time.time() + config.max_time

    def submit(*args: Any, **options: Any) -> Future:
        temporary.append(client.submit(*args, **options, pure=False))
        return temporary[-1]

    try:
        with report.stage("describe"):
            partitions = as_partitions(client, *data)
            layout, planned = plan(
                client,
                partitions,
                len(owners),
                seed=config.seed,
                scaling=scaling,
                classify=classify,
                min_part_rows=MIN_PART_ROWS,
                kernel=radial,
                deadline=deadline,
                should_stop=should_stop,
            )
            temporary.append(planned)
        kernel, task = describe(layout)
        routed = submit(route_of, planned, config, kernel)
        route, value_cost = value_of(client, routed, should_stop)
        training = config.plan(
            layout.n_rows, layout.n_features, route=route, sparse=layout.sparse,
            value_cost=value_cost,
        )  # fmt: skip
        if route is Route.CELLS:
            return fit_cells(
                client, partitions, layout, owners, kernel, task, training, report, deadline,
                should_stop,
            )  # fmt: skip
        with report.stage("shuffle"):
            rows = collect_parts(client, partitions, layout, owners[: layout.n_parts], config.seed)
            temporary += rows
            sizes = [submit(n_rows_of, part) for part in rows]
            reading = SECONDS_PER_CHUNK * len(partitions) * len(rows)
            wait_for(client, sizes, reading=reading, should_stop=should_stop)
            n_rows = values_of(client, sizes)
            del partitions  # release rows of the driver: the workers have copies
        logger.info("%d parts of %d to %d rows", len(rows), min(n_rows), max(n_rows))
        depth = depth_for(max(n_rows), training.leaf_size)
        if min(n_rows) < 2**depth:
            raise ValueError(
                f"the parts have {min(n_rows)} to {max(n_rows)} rows, too uneven for one tree; "
                "repartition the data if a partition is far larger than the others, or use fewer "
                "workers"
            )
        grower = Grower(client, layout, planned, rows, owners, kernel, depth, should_stop, report)
        models, trained, results = None, None, list[PartResult]()
        for index in range(training.n_trees):
            if trained is not None and not STOPPED.isdisjoint(trained.report.status):
                break
            if trained is not None and should_stop() is not None:
                trained.report.lacks_trees()
                break
            job = Job(task, training, layout.n_parts, index)
            models, results = grower.grow(job, models)
            trained = results[0]
    finally:
        for future in temporary:
            future.release()
    assert models is not None and trained is not None
    total = trained.report
    total.seconds = {**report.seconds, **total.seconds}
    total.ranks = [*grower.ranks, *total.ranks]
    model = PartsModel(client, layout, models, trained.intercept, exact=total.exact_kernel)
    held_out = [result.held_out for result in results if result.held_out is not None]
    return model, total, HeldOut.join(held_out) if held_out else None


@dataclass(eq=False)
class Grower:
    """Adds trees to a distributed forest, all on the same parts.

    Attributes
    ----------
    client : distributed.Client
    layout : Layout
    planned : Future
        Future of a `Plan`.
    rows : list of Future
        Futures of `PartRows`, one per part.
    owners : list of str
        Worker of each part.
    kernel : Kernel
    depth : int
        Depth of the trees of the parts.
    should_stop : callable
    report : FitReport
        Receives the time of the compression.
    ranks : list of int
        Largest rank of the top levels so far, root first.
    """

    client: Client
    layout: Layout
    planned: Future
    rows: list[Future]
    owners: list[str]
    kernel: Kernel
    depth: int
    should_stop: ShouldStop
    report: FitReport
    ranks: list[int] = field(default_factory=list)

    def grow(
        self, job: Job, earlier: TrainedModels | None
    ) -> tuple[TrainedModels, list[PartResult]]:
        """Add a tree to the earlier models; return the models, and the results of the parts."""
        tree = self._compress(job)
        supervisor = Supervisor(self.client, tree, job, self.should_stop, earlier)
        try:
            goal = None if job.plan.solver == "paper" else job.plan.tol
            with FitReport().stage("solve", goal=goal):  # for the log; workers measure time
                results, models = supervisor.train()
        finally:
            supervisor.release()
            for future in tree.futures:
                future.release()
        return models, results

    def _compress(self, job: Job) -> CompressedTree:
        plan, index = job.plan, job.index
        splits = self.layout.splits
        tiers = group_parts(splits.slots, splits.depth)
        with self.report.stage("compress"):
            outside = [self._submit(outside_of, self.planned, i) for i in range(len(self.rows))]
            compressed = [
                self._submit(
                    compress_rows,
                    own,
                    outside[part],
                    part,
                    self.depth,
                    self.kernel,
                    plan,
                    index,
                    workers=[self.owners[part]],
                    allow_other_workers=True,
                )
                for part, own in enumerate(self.rows)
            ]
            if index + 1 == plan.n_trees:
                for own in self.rows:  # the scheduler recomputes the rows of a part that is lost
                    own.release()
            below, depth, tops, ranks = compressed, self.depth, list[list[Future]](), list[int]()
            for groups in tiers:
                roots = [self._submit(root_of, member) for member in below]
                below = [
                    self._submit(
                        compress_group,
                        [roots[member] for member in group.members],
                        self._submit(group_sample, self.planned, group),
                        group,
                        depth,
                        self.kernel,
                        plan,
                        index,
                    )
                    for group in groups
                ]
                depth += groups[0].depth
                tops.append([self._submit(top_of, group) for group in below])
                found = [self._submit(group_ranks, group) for group in below]
                wait_for(self.client, found, should_stop=self.should_stop)
                here = values_of(self.client, found)
                ranks = [*(max(level) for level in zip(*here, strict=True)), *ranks]
        self.ranks = [max(pair) for pair in zip_longest(self.ranks, ranks, fillvalue=0)]
        return CompressedTree(compressed, tiers, tops)

    def _submit(self, *args: Any, **options: Any) -> Future:
        return self.client.submit(*args, **options, pure=False)
