"""Waiting for futures, with a limit: no wait is for ever."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from distributed import Client, Future, wait

POLL = 0.2
"""Seconds between two looks."""

NO_WORKERS = 60.0
"""Seconds without a single worker after which there is no hope."""


class ClusterLost(RuntimeError):
    """The cluster did not do its work; the message says what to do."""


def live_workers(client: Client) -> list[str]:
    """Addresses of the workers that the scheduler knows, sorted."""
    return sorted(client.nthreads())


def wait_for(
    client: Client, futures: Sequence[Future], watch: Callable[[list[str]], bool] | None = None
) -> None:
    """Wait until all futures are done; raise the first error of a task.

    A task whose worker is lost is run again by the scheduler. Where no worker is left, that cannot
    be: after a minute it is an error.

    Parameters
    ----------
    client : distributed.Client
    futures : sequence of Future
    watch : callable, optional
        Called with the live workers at every look; False ends the wait.

    Raises
    ------
    ClusterLost
    """
    seen = time.monotonic()
    while True:
        if futures:
            try:
                wait(list(futures), timeout=POLL)
            except TimeoutError:
                pass
        for future in futures:
            if future.status in ("error", "cancelled", "lost"):
                future.result(timeout=10)  # raises
        if all(future.done() for future in futures):
            return
        workers = live_workers(client)
        if workers:
            seen = time.monotonic()
        elif time.monotonic() - seen > NO_WORKERS:
            raise ClusterLost(
                f"the cluster has had no workers for {NO_WORKERS:.0f} s; start some, and fit again"
            )
        if watch is not None and not watch(workers):
            return


def value_of(client: Client, future: Future) -> Any:
    """Wait for a future and bring its (small) result to the driver."""
    wait_for(client, [future])
    return future.result(timeout=60)
