"""The coordinator of a distributed fit: reductions over all parts, and the top levels of the tree.

Every part runs the same solver on its own rows, in a task on its worker. At each synchronization,
all parts send a few numbers to the `Coordinator`, an actor on one of the workers, which combines
them and replies to all. Messages are sent from worker to worker, not through the scheduler, at a
fifth of the cost of a task. An iteration of ADMM needs one message of rank x k numbers in each
direction, which includes the sum of x, and one or two of 3 k numbers for the multiplier of the
constraint.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hssvm._threads import openmp_threads
from hssvm.hss.parts import TopFactor, TopLevels
from hssvm.kernels.base import Floats
from hssvm.solvers import Status

TIMEOUT = 600.0
"""Seconds that a part waits for the others."""


Progress: TypeAlias = tuple[int, float, bool]
"""Iteration and largest gap; on the exact kernel (True), round and largest violation."""


class CommunicationError(RuntimeError):
    """A synchronization cannot complete, because a worker was lost or a part failed."""


class TopLevelError(RuntimeError):
    """The factorization of the top levels, or a solve with it, failed."""


@dataclass(frozen=True, eq=False)
class Request:
    """The message of a part to the coordinator.

    Attributes
    ----------
    kind : str
        'factor', 'solve' or 'far_field' of the top levels, or one of `REDUCTIONS`.
    arrays : sequence of arrays
    piggybacked : sequence of arrays
        To be summed over all parts, for any kind.
    number : int
        Number of the factor, for 'solve'.
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


@dataclass(eq=False)
class _Round:
    replies: asyncio.Future[list[Reply]]
    requests: dict[int, Request] = field(default_factory=dict)


class Coordinator:
    """The actor that combines the requests of all parts.

    Parameters
    ----------
    top : TopLevels
    slots : (n_parts,) int64
        Slot of each part.
    n_threads : int
        Number of threads for the top levels.
    """

    def __init__(self, top: TopLevels, slots: NDArray[np.int64], n_threads: int = 1) -> None:
        self.top = top
        self.n_threads = n_threads
        self.ranges = [slice(top.ranks[slot], top.ranks[slot + 1]) for slot in slots]
        self.n_parts = len(slots)
        self.n_factors = 0
        self.factor: TopFactor | None = None
        self.rounds: dict[int, _Round] = {}
        self.failure: str | None = None
        self.stop: Status | None = None
        self.progress: Progress | None = None

    async def synchronize(self, part: int, number: int, request: Request) -> Reply:
        """Add the request of a part to a round; reply when all parts have sent theirs."""
        if self.failure is not None:
            raise CommunicationError(self.failure)
        if number not in self.rounds:
            self.rounds[number] = _Round(asyncio.get_running_loop().create_future())
        this = self.rounds[number]
        this.requests[part] = request
        if len(this.requests) == self.n_parts:
            del self.rounds[number]
            try:
                requests = [this.requests[i] for i in range(self.n_parts)]
                this.replies.set_result(await self._reply(requests))
            except Exception as error:
                this.replies.set_exception(TopLevelError(str(error)))
        try:
            replies = await asyncio.wait_for(asyncio.shield(this.replies), TIMEOUT)
        except TimeoutError:
            missing = sorted(set(range(self.n_parts)) - set(this.requests))
            raise CommunicationError(
                f"no message from parts {missing} within {TIMEOUT:.0f} s"
            ) from None
        return replies[part]

    async def _reply(self, requests: list[Request]) -> list[Reply]:
        arrays = [request.arrays for request in requests]
        sums = [_sum(several) for several in zip(*(r.piggybacked for r in requests), strict=True)]
        kind, number = requests[0].kind, requests[0].number
        if kind in REDUCTIONS:
            reduce = REDUCTIONS[kind]
            results = [[reduce(several) for several in zip(*arrays, strict=True)]] * self.n_parts
        else:
            # In a thread, so that the event loop of the worker is not blocked.
            first = [own[0] for own in arrays]
            results, number = await asyncio.to_thread(self._top_levels, kind, first, number)
        return [Reply(result, sums, self.stop, number) for result in results]

    def _top_levels(
        self, kind: str, arrays: list[Floats], number: int
    ) -> tuple[list[list[Floats]], int]:
        joined = np.concatenate(arrays)
        with openmp_threads(self.n_threads):
            if kind == "factor":
                self.n_factors += 1
                self.factor = None
                self.factor = self.top.factor(joined)
                return [[]] * self.n_parts, self.n_factors
            if kind == "far_field":
                delta = self.top.far_field(joined)
            else:
                if self.factor is None or number != self.n_factors:
                    raise ValueError(f"factor {number} of the top levels has been released")
                delta = self.factor.solve(joined)
        return [[delta[own]] for own in self.ranges], number

    async def abort(self, reason: str) -> None:
        """Abort all rounds with an error."""
        self.failure, self.factor = reason, None
        rounds, self.rounds = self.rounds, {}
        for this in rounds.values():
            if not this.replies.done():
                this.replies.set_exception(CommunicationError(reason))

    async def ask_to_stop(self, status: Status) -> None:
        """Stop the solvers at their next check of the gap."""
        self.stop = status

    async def report_progress(self, progress: Progress) -> None:
        """Store the progress of the solver for the driver."""
        self.progress = progress

    async def last_progress(self) -> Progress | None:
        """Return the progress of the solver."""
        return self.progress


def _sum(several: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Sum in the order of the parts, so that the result does not depend on message timing."""
    total = np.array(several[0])
    for values in several[1:]:
        total += values
    return total


def _max(several: Sequence[NDArray[Any]]) -> NDArray[Any]:
    return np.max(np.stack(several), axis=0)


REDUCTIONS: dict[str, Callable[[Sequence[NDArray[Any]]], NDArray[Any]]] = {
    "sum": _sum,
    "max": _max,
    "gather": np.concatenate,
}
