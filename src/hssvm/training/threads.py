"""Training of several models at the same time.

Models, such as trees, folds or pairs of classes, are independent of each other, while the OpenMP
threads of a single model often wait for each other. So each model is trained in a Python thread of
its own, with its share of the OpenMP threads. The results are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, TypeVar

from hssvm import _core
from hssvm._threads import openmp_threads
from hssvm.kernels.base import CoreKernel, Kernel
from hssvm.solvers import Status
from hssvm.training.reports.monitor import Monitor
from hssvm.training.reports.report import FitReport

Item = TypeVar("Item")
Model = TypeVar("Model")


def thread_count_of(kernel: Kernel) -> int:
    """Number of threads that may use a kernel; user functions run in one at a time."""
    return _core.thread_count() if isinstance(kernel, CoreKernel) else 1


def call_with_threads(n_threads: int, function: Callable[..., Model], *args: Any) -> Model:
    """Call a function whose loops use `n_threads` OpenMP threads."""
    with openmp_threads(n_threads):
        return function(*args)


def map_in_threads(
    train_one: Callable[[Item, Monitor], Model],
    items: Sequence[Item],
    monitor: Monitor,
    max_workers: int,
    n_threads: int,
) -> Iterator[Model]:
    """Train a model for every item, with `n_threads` OpenMP threads each, and yield them in order.

    If the caller stops early, the unfinished models are stopped at their next check of the gap.
    """
    shared = SharedMonitor(monitor)

    def run(item: Item) -> Model:
        with openmp_threads(n_threads):
            return train_one(item, shared)

    with ThreadPoolExecutor(max_workers) as pool:
        futures = [pool.submit(copy_context().run, run, item) for item in items]
        try:
            for future in futures:
                yield future.result()
        finally:
            shared.cancelled = True
            for future in futures:
                future.cancel()


class SharedMonitor(Monitor):
    """A monitor that several models share, and that can stop them.

    Parameters
    ----------
    monitor : Monitor
    """

    def __init__(self, monitor: Monitor) -> None:
        self.monitor = monitor
        self.cancelled = False

    @property
    def seconds_left(self) -> float:
        """Seconds until the fit should stop."""
        return self.monitor.seconds_left

    def stop(self) -> Status | None:
        """Return a status if the fit should stop."""
        return Status.STOPPED if self.cancelled else self.monitor.stop()

    def advise(self, advice: str | None, report: FitReport) -> None:
        """Add advice about the data to the report, if there is any."""
        self.monitor.advise(advice, report)
