"""Blocks of consecutive rows, in which the trees are cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from dask import delayed
from dask.delayed import Delayed
from distributed import Client, Future
from numpy.typing import NDArray

from hssvm.dask.partitions import Partition, identity
from hssvm.dask.plan import Layout
from hssvm.dask.shuffle import PartRows, converted, join
from hssvm.kernels import Kernel
from hssvm.kernels.base import Rows
from hssvm.training import Task
from hssvm.training.out_of_fold import assign_folds


def read_blocks(
    client: Client,
    partitions: Sequence[Delayed],
    layout: Layout,
    owners: Sequence[str],
    task: Task,
    kernel: Kernel,
    seed: int | None,
) -> list[Future]:
    """Read all partitions a second time, into a block of about equal size per worker.

    Parameters
    ----------
    client : distributed.Client
    partitions : list of Delayed
        The partitions of the plan, in the same order.
    layout : Layout
    owners : list of addresses of workers
    task, kernel
        Rows that count for nothing in the problem are left out.
    seed : int, optional
        If given, every row is assigned to a fold.

    Returns
    -------
    list of Future
        Futures of `PartRows`.
    """
    filled = np.flatnonzero(np.diff(layout.offsets))
    goals = layout.n_rows * np.arange(1, len(owners)) // len(owners)
    cuts = np.searchsorted(layout.offsets[filled], goals)
    groups = [group for group in np.split(filled, cuts) if group.size]
    shared = delayed(identity, pure=False, traverse=False)((layout, task, kernel, seed))
    blocks = []
    for owner, group in zip(owners, groups, strict=False):
        own = [partitions[i] for i in group.tolist()]
        block = delayed(block_of, pure=False)(own, layout.offsets[group], shared)
        blocks.append(client.compute(block, workers=[owner], allow_other_workers=True))
    return blocks


def block_of(
    partitions: Sequence[Partition],
    offsets: NDArray[np.int64],
    shared: tuple[Layout, Task, Kernel, int | None],
) -> PartRows:
    """Join consecutive partitions, whose first rows have the indices `offsets`."""
    layout, task, kernel, seed = shared
    firsts = zip(partitions, offsets.tolist(), strict=True)
    rows = join([converted(partition, layout, first) for partition, first in firsts])
    problem = task.problem(rows.X, rows.y, rows.weights, kernel).part(0).problem
    if seed is not None:
        rows = replace(rows, fold=assign_folds(problem.strata, seed, int(rows.ids[0])))
    counts = problem.reach.any(axis=1)
    return rows if counts.all() else rows.at(np.flatnonzero(counts))


def rows_at(block: PartRows, indices: NDArray[np.int64]) -> Rows:
    """Return some rows of a block."""
    return block.X[indices]
