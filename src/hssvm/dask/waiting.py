"""Waiting for futures, with a limit: no wait is for ever."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from distributed import Client, Future

from hssvm.dask.workers import Workers
from hssvm.solvers import Status

Asked = Callable[[], Status | None]
"""Tells whether the user wants to stop, and why."""

SHORT, LONG = 0.005, 0.2
"""Seconds between two looks at the futures, at first and later."""

IDLE_POLL, IDLE = 5.0, 60.0
"""Seconds between two looks at the workers, and for which none of them may be doing anything."""

TRANSFER = 600.0
"""Seconds that a result may take to come to the driver."""


class ClusterLost(RuntimeError):
    """The cluster did not do its work; the message says what to do."""


def live_workers(client: Client) -> list[str]:
    """Addresses of the workers that the scheduler knows, sorted."""
    return sorted(client.nthreads())


def wait_for(
    client: Client,
    futures: Sequence[Future],
    watch: Callable[[], bool] | None = None,
    reading: float = 0.0,
    asked: Asked | None = None,
    together: bool = False,
) -> None:
    """Wait until all futures are done; raise the first error of a task.

    A task whose worker is lost is run again by the scheduler. Where no worker is left, where all
    are paused, or where rows are gone for good, nothing runs: after a minute of that it is an
    error.

    Parameters
    ----------
    client : distributed.Client
    futures : sequence of Future
    watch : callable, optional
        Called at every look; False ends the wait.
    reading : float
        Seconds that the scheduler may take to read a large graph, in addition to that minute.
    asked : callable, optional
        Asked whether the user wants to stop: then it takes seconds, not a minute, if workers are
        paused or gone.
    together : bool
        Whether the tasks wait for each other: one on a paused worker keeps all from going on.

    Raises
    ------
    ClusterLost
    """
    # Not `distributed.wait`: its timeout is an exception, whose frames keep all futures of the
    # caller alive, and with them the memory of the workers, until Python collects garbage.
    busy = looked = time.monotonic()
    pause, limit = SHORT, IDLE + reading
    while True:
        for future in futures:
            if future.status in ("error", "cancelled"):
                future.result(timeout=10)  # raises
        if all(future.done() for future in futures) or (watch is not None and not watch()):
            return
        time.sleep(pause)
        pause = min(1.5 * pause, LONG)
        now = time.monotonic()
        if now - looked > IDLE_POLL:
            looked = now
            workers = Workers.of(client)
            undone = [future.key for future in futures if not future.done()]
            held_up = together and workers.paused and not workers.run_all(undone)
            if workers.are_busy() and not held_up:
                busy = now
                continue
            stuck = workers.paused or not workers.infos
            late = stuck and asked is not None and asked() is not None
            if now - busy > (1.5 * IDLE_POLL if late else limit):  # at least two looks
                reason = "max_time has passed, and " if late else ""
                raise ClusterLost(
                    f"{reason}the cluster has stood still for {now - busy:.0f} s: "
                    f"{workers.obstacle()}"
                )


def values_of(client: Client, futures: Sequence[Future], asked: Asked | None = None) -> list[Any]:
    """Wait for futures and bring their results to the driver."""
    wait_for(client, futures, asked=asked)
    return [future.result(timeout=TRANSFER) for future in futures]


def value_of(client: Client, future: Future, asked: Asked | None = None) -> Any:
    """Wait for a future and bring its result to the driver."""
    return values_of(client, [future], asked)[0]
