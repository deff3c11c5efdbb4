"""Messages between the parts of a distributed fit and their coordinators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from numpy.typing import NDArray

from hssvm.dask.actors import Pickled, resolve_actor
from hssvm.solvers import Status

TIMEOUT = 600.0
"""Seconds that a part waits for the others."""


Membership: TypeAlias = tuple[Pickled, int]
"""The actor of a `Coordinator`, and the index of a part or group among its members."""


class CommunicationError(RuntimeError):
    """A synchronization cannot complete, because a worker was lost or a part failed."""


class TopLevelError(RuntimeError):
    """The factorization of the top levels, or a solve with it, failed."""


@dataclass(frozen=True, eq=False)
class Request:
    """The message of a part, or of a group of parts, to its coordinator.

    Attributes
    ----------
    kind : str
        'factor', 'solve' or 'far_field' of the top levels, or one of the reductions of
        `hssvm.dask.coordinator`.
    arrays : sequence of arrays
    piggybacked : sequence of arrays
        To be summed over all parts, for any kind.
    number : int
        Index of the factor, for 'solve'.
    """

    kind: str
    arrays: Sequence[NDArray[Any]] = ()
    piggybacked: Sequence[NDArray[Any]] = ()
    number: int = 0


@dataclass(frozen=True, eq=False)
class Reply:
    """The reply to a part: arrays, piggybacked sums, and a status if the fit should stop."""

    arrays: Sequence[NDArray[Any]]
    piggybacked: Sequence[NDArray[Any]]
    stop: Status | None
    number: int = 0


class Link:
    """The connection of a part, or of a group of parts, to its coordinator.

    Parameters
    ----------
    coordinator : Actor
        The actor of a `Coordinator`.
    member : int
        Index among its members.

    Attributes
    ----------
    n_rounds : int
        Number of synchronizations so far.
    """

    def __init__(self, coordinator: Any, member: int) -> None:
        self.coordinator, self.member = coordinator, member
        self.n_rounds = 0

    @classmethod
    def of(cls, membership: Membership) -> Link:
        """Return the connection that a membership describes."""
        actor, member = membership
        return cls(resolve_actor(actor), member)

    def exchange(self, request: Request) -> Reply:
        """Send a request, and wait for the reply."""
        reply: Reply = self.call("synchronize", self.member, self.n_rounds, request)
        self.n_rounds += 1
        return reply

    def call(self, method: str, *args: Any) -> Any:
        """Call a method of the coordinator, and wait for its result."""
        try:
            return getattr(self.coordinator, method)(*args).result(timeout=TIMEOUT + 60)
        except (CommunicationError, TopLevelError):
            raise
        except Exception as error:
            raise CommunicationError(
                f"the worker of the coordinator was lost ({error!r})"
            ) from error
