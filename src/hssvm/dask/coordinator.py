"""The coordinators of a distributed fit: reductions over all parts, and the levels above them.

Every part runs the same solver on its own rows, in a task on its worker. At each synchronization,
all parts send a few numbers to their `Coordinator`, an actor on one of the workers, which combines
them and replies to all. Messages are sent from worker to worker, not through the scheduler, at a
fifth of the cost of a task. An iteration of ADMM needs one message of rank x k numbers in each
direction, which includes the sum of x, and one or two of 3 k numbers for the multiplier of the
constraint.

There is a coordinator for each group of `hssvm.hss.top`, and it has the levels of its group. With
many parts, the coordinators of the lowest tier send what they have combined to the tier above, and
reply when it has replied.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm._threads import openmp_threads
from hssvm.dask.messages import (
    TIMEOUT,
    CommunicationError,
    Link,
    Membership,
    Reply,
    Request,
    TopLevelError,
)
from hssvm.hss.top import TopFactor, TopLevels
from hssvm.kernels.base import Floats
from hssvm.progress import Event
from hssvm.solvers import Status


@dataclass(eq=False)
class _Round:
    replies: asyncio.Future[list[Reply]]
    requests: dict[int, Request] = field(default_factory=dict)


class Coordinator:
    """The actor that combines the requests of the parts, or groups, below it.

    Parameters
    ----------
    top : TopLevels
    slots : (n_members,) int64
        Slot of each part or group below.
    n_threads : int
        Number of threads for the top levels.
    above : Membership, optional
        Membership in the group of the tier above.
    """

    def __init__(
        self,
        top: TopLevels,
        slots: NDArray[np.int64],
        n_threads: int = 1,
        above: Membership | None = None,
    ) -> None:
        self.top = top
        self.n_threads = n_threads
        self.link = None if above is None else Link.of(above)
        self.ranges = [slice(top.ranks[slot], top.ranks[slot + 1]) for slot in slots]
        self.n_members = len(slots)
        self.n_factors = 0
        self.factor: TopFactor | None = None
        self.rounds: dict[int, _Round] = {}
        self.failure: str | None = None
        self.stop: Status | None = None
        self.progress: Event | None = None
        # A thread of its own: were it shared, coordinators that wait could keep it from the others.
        self.thread = ThreadPoolExecutor(1)

    async def synchronize(self, member: int, number: int, request: Request) -> Reply:
        """Add a request to a round; reply when all members have sent theirs."""
        if self.failure is not None:
            raise CommunicationError(self.failure)
        if number not in self.rounds:
            self.rounds[number] = _Round(asyncio.get_running_loop().create_future())
        this = self.rounds[number]
        this.requests[member] = request
        if len(this.requests) == self.n_members:
            await self._finish(number, this)
        try:
            replies = await asyncio.wait_for(asyncio.shield(this.replies), TIMEOUT)
        except TimeoutError:
            missing = sorted(set(range(self.n_members)) - set(this.requests))
            raise CommunicationError(
                f"no message from parts {missing} within {TIMEOUT:.0f} s"
            ) from None
        return replies[member]

    async def _finish(self, number: int, this: _Round) -> None:
        requests = [this.requests[i] for i in range(self.n_members)]
        result: list[Reply] | Exception
        try:
            if self.link is None and requests[0].kind in REDUCTIONS:
                result = self._reply(requests)
            else:
                # In a thread, so that the event loop of the worker is not blocked.
                loop = asyncio.get_running_loop()
                result = await loop.run_in_executor(self.thread, self._reply, requests)
        except CommunicationError as error:
            result = error
        except Exception as error:
            result = TopLevelError(str(error))
        self.rounds.pop(number, None)
        if this.replies.done():  # aborted
            return
        if isinstance(result, Exception):
            this.replies.set_exception(result)
        else:
            this.replies.set_result(result)

    def _reply(self, requests: list[Request]) -> list[Reply]:
        arrays = [request.arrays for request in requests]
        sums = [_sum(several) for several in zip(*(r.piggybacked for r in requests), strict=True)]
        kind, number = requests[0].kind, requests[0].number
        if kind in REDUCTIONS:
            reduced = [REDUCTIONS[kind](several) for several in zip(*arrays, strict=True)]
            return [self._ask_above(Request(kind, reduced, sums))] * self.n_members
        with openmp_threads(self.n_threads):
            return self._top_levels(kind, np.concatenate([own[0] for own in arrays]), sums, number)

    def _top_levels(
        self, kind: str, joined: Floats, sums: Sequence[NDArray[Any]], number: int
    ) -> list[Reply]:
        if kind == "factor":
            self.n_factors += 1
            self.factor = None
            self.factor = self.top.factor(joined)
            reply = self._ask_above(Request(kind, [self.factor.R], sums))
            return [Reply([], reply.piggybacked, reply.stop, self.n_factors)] * self.n_members

        reply = Reply([], [], None)

        def exchange(c: Floats) -> Floats:
            nonlocal reply
            reply = self._ask_above(Request(kind, [c], sums, number))
            return reply.arrays[0]

        if kind == "far_field":
            delta = self.top.far_field(joined, exchange)
        else:
            if self.factor is None or number != self.n_factors:
                raise ValueError(f"factor {number} of the top levels has been released")
            delta = self.factor.solve(joined, exchange)
        return [Reply([delta[own]], reply.piggybacked, reply.stop, number) for own in self.ranges]

    def _ask_above(self, request: Request) -> Reply:
        """Send what was combined to the tier above; in the highest tier, it is the reply."""
        if self.link is None:
            return Reply(request.arrays, request.piggybacked, self.stop, request.number)
        return self.link.exchange(request)

    async def abort(self, reason: str) -> None:
        """Abort all rounds with an error."""
        self.failure, self.factor = reason, None
        rounds, self.rounds = self.rounds, {}
        for this in rounds.values():
            if not this.replies.done():
                this.replies.set_exception(CommunicationError(reason))

    async def ask_to_stop(self, status: Status) -> None:
        """Stop the solvers at their next check of the gap; for the highest tier."""
        self.stop = status

    async def report_progress(self, progress: Event) -> None:
        """Store the progress of the solver for the driver."""
        self.progress = progress

    async def last_progress(self) -> Event | None:
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
