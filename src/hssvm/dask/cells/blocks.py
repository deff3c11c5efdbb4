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
    folds: tuple[Task, Kernel, int] | None,
) -> tuple[list[Future], NDArray[np.int64]]:
    """Read all partitions a second time, into a block of about equal size per worker.

    Parameters
    ----------
    client : distributed.Client
    partitions : list of Delayed
        The partitions of the plan, in the same order.
    layout : Layout
    owners : list of addresses of workers
    folds : (task, kernel, seed), optional
        If given, every row is assigned to a fold.

    Returns
    -------
    blocks : list of Future
        Futures of `PartRows`.
    begins : (n_blocks + 1,) int64
        Index of the first row of every block, and finally the number of rows.
    """
    filled = np.flatnonzero(np.diff(layout.offsets))
    goals = layout.n_rows * np.arange(1, len(owners)) // len(owners)
    cuts = np.searchsorted(layout.offsets[filled], goals)
    groups = [group for group in np.split(filled, cuts) if group.size]
    shared = delayed(identity, pure=False, traverse=False)((layout, folds))
    blocks = []
    for owner, group in zip(owners, groups, strict=False):
        own = [partitions[i] for i in group.tolist()]
        block = delayed(block_of, pure=False)(own, layout.offsets[group], shared)
        options = {"workers": [owner], "allow_other_workers": True}
        blocks.append(client.compute(block, **options))
    return blocks, layout.offsets[[*(group[0] for group in groups), -1]]


def block_of(
    partitions: Sequence[Partition],
    offsets: NDArray[np.int64],
    shared: tuple[Layout, tuple[Task, Kernel, int] | None],
) -> PartRows:
    """Join consecutive partitions, whose first rows have the indices `offsets`."""
    layout, folds = shared
    rows = join(
        [converted(one, layout, int(i)) for one, i in zip(partitions, offsets, strict=True)]
    )
    if folds is None:
        return rows
    task, kernel, seed = folds
    problem = task.problem(rows.X, rows.y, rows.weights, kernel)
    return replace(rows, fold=assign_folds(problem.part(0).problem.strata, seed, int(rows.ids[0])))


def rows_at(block: PartRows, indices: NDArray[np.int64]) -> Rows:
    """Return some rows of a block."""
    return block.X[indices]
