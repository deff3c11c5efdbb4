"""Access to actors from the driver and from tasks.

If a task depends on an actor, Dask makes the task and its result fail as soon as the worker of the
actor is lost. So actors are passed to tasks as pickled bytes, which hides the dependency.
"""

from __future__ import annotations

import pickle
from typing import Any, TypeAlias

from distributed import Client

Pickled: TypeAlias = bytes
"""A pickled actor."""


def resolve_actor(actor: Pickled, client: Client | None = None) -> Any:
    """Return the actor, whose methods can then be called.

    Calls to a lost worker fail immediately. With its future, Dask would wait for the actor to come
    back, which never happens, and pending calls would keep the actor alive; so the future is
    removed. If there are several clients, Dask would use the last one; so the client is set.

    Parameters
    ----------
    actor : Pickled
    client : distributed.Client, optional
        Client of the driver; tasks have their own.
    """
    resolved = pickle.loads(actor)
    resolved._future = None  # noqa: SLF001, there is no public way
    if client is not None:
        resolved._client = client  # noqa: SLF001, there is no public way
    return resolved
