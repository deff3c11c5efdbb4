"""Waiting for futures, with a limit: no wait is for ever."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import Any

from distributed import Client, Future, wait

POLL = 0.2
"""Seconds between two looks at the futures."""

IDLE_POLL, IDLE = 5.0, 60.0
"""Seconds between two looks at the workers, and for which none of them may be doing anything."""


class ClusterLost(RuntimeError):
    """The cluster did not do its work; the message says what to do."""


def live_workers(client: Client) -> list[str]:
    """Addresses of the workers that the scheduler knows, sorted."""
    return sorted(client.nthreads())


def wait_for(
    client: Client, futures: Sequence[Future], watch: Callable[[], bool] | None = None
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

    Raises
    ------
    ClusterLost
    """
    busy = looked = time.monotonic()
    while True:
        with suppress(TimeoutError, CancelledError):
            wait(list(futures), timeout=POLL)
        now = time.monotonic()
        for future in futures:
            if future.status in ("error", "cancelled"):
                future.result(timeout=10)  # raises
        if all(future.done() for future in futures) or (watch is not None and not watch()):
            return
        if now - looked > IDLE_POLL:
            looked = now
            if any(client.processing().values()):
                busy = now
            elif now - busy > IDLE:
                raise ClusterLost(
                    f"none of the {len(live_workers(client))} workers has done anything for "
                    f"{IDLE:.0f} s. Start workers if there are none; if the rows were in the "
                    "memory of a worker that was lost, load them again; then fit again"
                )


def value_of(client: Client, future: Future) -> Any:
    """Wait for a future and bring its (small) result to the driver."""
    wait_for(client, [future])
    return future.result(timeout=60)
