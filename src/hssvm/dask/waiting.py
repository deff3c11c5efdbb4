"""Waiting for futures, with a limit: no wait is for ever."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from distributed import Client, Future

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
    idle: float | None = None,
) -> None:
    """Wait until all futures are done; raise the first error of a task.

    A task whose worker is lost is run again by the scheduler. Where no worker is left, or where
    rows are gone for good, nothing runs: after a minute of that it is an error.

    Parameters
    ----------
    client : distributed.Client
    futures : sequence of Future
    watch : callable, optional
        Called at every look; False ends the wait.
    idle : float, optional
        Seconds for which no worker may be doing anything, if not a minute: the scheduler takes
        time to read a large graph.

    Raises
    ------
    ClusterLost
    """
    # Not `distributed.wait`: its timeout is an exception, whose frames keep all futures of the
    # caller alive, and with them the memory of the workers, until Python collects garbage.
    busy = looked = time.monotonic()
    pause, limit = SHORT, IDLE if idle is None else idle
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
            if any(client.processing().values()):
                busy = now
            elif now - busy > limit:
                raise ClusterLost(
                    f"none of the {len(live_workers(client))} workers has done anything for "
                    f"{limit:.0f} s. Start workers if there are none; if the rows were in the "
                    "memory of a worker that was lost, load them again; then fit again"
                )


def values_of(client: Client, futures: Sequence[Future]) -> list[Any]:
    """Wait for futures and bring their results to the driver."""
    wait_for(client, futures)
    return [future.result(timeout=TRANSFER) for future in futures]


def value_of(client: Client, future: Future) -> Any:
    """Wait for a future and bring its result to the driver."""
    return values_of(client, [future])[0]
