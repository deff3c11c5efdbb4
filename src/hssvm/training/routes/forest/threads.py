"""Training of several trees of a forest at the same time, as many as memory permits."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from hssvm import _core
from hssvm.training.reports.monitor import Monitor
from hssvm.training.routes.forest.forest import TrainedTree
from hssvm.training.threads import map_in_threads

TrainOne = Callable[[int, Monitor], TrainedTree]
"""Trains the tree with the given index."""


def train_trees(
    train_one: TrainOne, indices: range, monitor: Monitor, max_workers: int
) -> Iterator[TrainedTree]:
    """Train trees, `max_workers` at a time, and yield them in order.

    If the caller stops early, the unfinished trees are stopped at their next check of the gap.
    """
    n_threads = _core.thread_count()
    for begin in range(0, len(indices), max_workers):
        batch = indices[begin : begin + max_workers]
        if len(batch) == 1:
            yield train_one(batch[0], monitor)
        else:
            yield from map_in_threads(
                train_one, batch, monitor, len(batch), n_threads // len(batch)
            )
