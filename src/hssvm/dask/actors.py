"""Actors as driver and tasks reach them.

A task that Dask knows to depend on an actor is an error to it, result and all, as soon as the
worker of the actor is lost. So actors travel pickled.
"""

from __future__ import annotations

import pickle
from typing import Any, TypeAlias

from distributed import Client

Pickled: TypeAlias = bytes
"""An actor, of which Dask must not know."""


def reach(actor: Pickled, client: Client | None = None) -> Any:
    """Return the actor, to call it.

    A call to a worker that is lost is an error at once. Dask would wait for the actor to come back,
    which it never does, and would keep the actor alive as long as the calls: hence no future. And
    where there are several clients, it would ask the last one.

    Parameters
    ----------
    actor : Pickled
    client : distributed.Client, optional
        That of the driver; tasks have their own.
    """
    reached = pickle.loads(actor)
    reached._future = None
    if client is not None:
        reached._client = client
    return reached
