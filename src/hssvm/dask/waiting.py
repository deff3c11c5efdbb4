"""Waiting for futures, with time limits."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from typing import Any

from distributed import Client, Future

from hssvm.dask.workers import Workers
from hssvm.solvers import Status

ShouldStop = Callable[[], Status | None]
"""Returns a status if the fit should stop, else None."""

SHORT, LONG = 0.005, 0.2
"""Seconds between two checks of the futures, at first and later."""

IDLE_POLL, IDLE = 5.0, 60.0
"""Seconds between two checks of the workers, and for which they may all be idle."""

TRANSFER = 600.0
"""Time limit in seconds for sending a result to the driver."""


class ClusterLost(RuntimeError):
    """The cluster cannot complete the fit; the message says what to do."""


def live_workers(client: Client) -> list[str]:
    """Addresses of the connected workers, sorted."""
    return sorted(client.nthreads())


def wait_for(
    client: Client,
    futures: Sequence[Future],
    watch: Callable[[], bool] | None = None,
    reading: float = 0.0,
    should_stop: ShouldStop | None = None,
    together: bool = False,
) -> None:
    """Wait until all futures are done; raise the first error of a task.

    The scheduler reruns the tasks of a lost worker. If no worker is left, if all are paused, or if
    the input data is lost, no task runs; after a minute, this is an error.

    Parameters
    ----------
    client : distributed.Client
    futures : sequence of Future
    watch : callable, optional
        Called at every check; returning False ends the wait.
    reading : float
        Additional seconds that the scheduler may need to read a large graph.
    should_stop : callable, optional
        Returns a status if the fit should stop; the wait for paused or lost workers then ends
        within seconds instead of a minute.
    together : bool
        Whether the tasks wait for each other, so that one on a paused worker blocks all of them.

    Raises
    ------
    ClusterLost
    """
    # Not `distributed.wait`: its timeout is an exception, whose frames keep all futures of the
    # caller alive, and with them memory on the workers, until the next garbage collection.
    busy = checked = time.monotonic()
    pause, limit = SHORT, IDLE + reading
    while True:
        for future in futures:
            if future.status in ("error", "cancelled"):
                _raise(future)
        if all(future.done() for future in futures) or (watch is not None and not watch()):
            return
        time.sleep(pause)
        pause = min(1.5 * pause, LONG)
        now = time.monotonic()
        if now - checked > IDLE_POLL:
            checked = now
            workers = Workers.of(client)
            undone = [future.key for future in futures if not future.done()]
            held_up = together and workers.paused and not workers.run_all(undone)
            if workers.are_busy() and not held_up:
                busy = now
                continue
            stuck = workers.paused or not workers.infos
            late = stuck and should_stop is not None and should_stop() is not None
            if now - busy > (1.5 * IDLE_POLL if late else limit):  # at least two checks
                reason = "max_time has passed, and " if late else ""
                raise ClusterLost(
                    f"{reason}the cluster has made no progress for {now - busy:.0f} s: "
                    f"{workers.obstacle()}"
                )


def _raise(future: Future) -> None:
    """Raise the error of a task."""
    try:
        future.result(timeout=10)
    except CancelledError as error:
        raise ClusterLost(
            f"the scheduler has dropped the fit ({error}); it was restarted, has lost the "
            "connection, or cannot import a module that the data needs: check its log, and fit "
            "again"
        ) from error


def values_of(
    client: Client, futures: Sequence[Future], should_stop: ShouldStop | None = None
) -> list[Any]:
    """Wait for futures, and return their results."""
    wait_for(client, futures, should_stop=should_stop)
    return [future.result(timeout=TRANSFER) for future in futures]


def value_of(client: Client, future: Future, should_stop: ShouldStop | None = None) -> Any:
    """Wait for a future, and return its result."""
    return values_of(client, [future], should_stop)[0]
