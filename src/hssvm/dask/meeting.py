"""Where the parts meet: the top of the tree, and the sums over all parts.

Every part runs the same solver on its own rows, in a task on its worker. Now and then all of them
need something of all: they meet. Each sends a few numbers to the `Meeting`, an actor on one of the
workers; when the last has come, it answers them all. Messages go from worker to worker and never
through the scheduler, which costs a fifth of what a task costs. One iteration of ADMM is a message
of rank x k numbers up and down, with the sum of x aboard, and one or two of 3 k numbers for the
multiplier of the constraint.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hssvm._threads import openmp_threads
from hssvm.hss.parts import Top, TopFactor
from hssvm.kernels.base import Floats
from hssvm.problems.parts import Parts
from hssvm.solvers import Status

PATIENCE = 600.0
"""Seconds that a part waits for the others."""

FACTORS = 2
"""Factors of the top that are kept."""


class MeetingBroken(RuntimeError):
    """Not all parts will come: a worker was lost, or one of the parts had an error."""


class TopFailed(RuntimeError):
    """The top could not be factored or solved."""


@dataclass(frozen=True, eq=False)
class Request:
    """What a part brings to a meeting.

    Attributes
    ----------
    kind : str
        What is to be done with `arrays`: a method of `Meeting`.
    arrays : sequence of arrays
    riders : sequence of arrays
        To be summed, whatever else is to be done.
    number : int
        Of the factor.
    """

    kind: str
    arrays: Sequence[NDArray[Any]] = ()
    riders: Sequence[NDArray[Any]] = ()
    number: int = 0


@dataclass(frozen=True, eq=False)
class Answer:
    """What a part takes home: arrays, sums of the riders, and whether the user wants to stop."""

    arrays: Sequence[NDArray[Any]]
    riders: Sequence[NDArray[Any]]
    stop: Status | None
    number: int = 0


@dataclass(eq=False)
class _Round:
    answers: asyncio.Future[list[Answer]]
    requests: dict[int, Request] = field(default_factory=dict)


class Meeting:
    """The actor.

    Parameters
    ----------
    top : Top
    slots : (n_parts,) int64
        Slot of each part.
    n_threads : int
        To work on.
    """

    def __init__(self, top: Top, slots: NDArray[np.int64], n_threads: int = 1) -> None:
        self.top = top
        self.n_threads = n_threads
        self.ends = [slice(top.ranks[slot], top.ranks[slot + 1]) for slot in slots]
        self.n_parts = len(slots)
        self.n_factors = 0
        self.factors: dict[int, TopFactor] = {}
        self.rounds: dict[int, _Round] = {}
        self.broken: str | None = None
        self.stop: Status | None = None
        self.news: tuple[int, float] | None = None

    async def meet(self, part: int, number: int, request: Request) -> Answer:
        """Bring the request of a part to a round; come back when all parts have done so."""
        if self.broken is not None:
            raise MeetingBroken(self.broken)
        if number not in self.rounds:
            self.rounds[number] = _Round(asyncio.get_running_loop().create_future())
        this = self.rounds[number]
        this.requests[part] = request
        if len(this.requests) == self.n_parts:
            del self.rounds[number]
            try:
                requests = [this.requests[i] for i in range(self.n_parts)]
                this.answers.set_result(await self._answer(requests))
            except Exception as error:
                this.answers.set_exception(TopFailed(str(error)))
        try:
            answers = await asyncio.wait_for(asyncio.shield(this.answers), PATIENCE)
        except TimeoutError:
            missing = sorted(set(range(self.n_parts)) - set(this.requests))
            raise MeetingBroken(f"parts {missing} did not come in {PATIENCE:.0f} s") from None
        return answers[part]

    async def _answer(self, requests: list[Request]) -> list[Answer]:
        arrays = [request.arrays for request in requests]
        riders = [_add(several) for several in zip(*(r.riders for r in requests), strict=True)]
        number = requests[0].number
        if requests[0].kind in ("factor", "solve", "far_field"):
            # Off the event loop: the worker must go on answering.
            own = [a[0] for a in arrays]
            results, number = await asyncio.to_thread(self._work, requests[0].kind, own, number)
        else:
            reduce = REDUCTIONS[requests[0].kind]
            results = [[reduce(several) for several in zip(*arrays, strict=True)]] * self.n_parts
        return [Answer(result, riders, self.stop, number) for result in results]

    def _work(self, kind: str, arrays: list[Floats], number: int) -> tuple[list[list[Floats]], int]:
        with openmp_threads(self.n_threads):
            if kind == "factor":
                return self._factor(arrays)
            joined = np.concatenate(arrays)
            work = self.top.far_field if kind == "far_field" else self.factors[number].solve
            delta = work(joined)
        return [[delta[own]] for own in self.ends], number

    def _factor(self, R: list[Floats]) -> tuple[list[list[Floats]], int]:
        self.n_factors += 1
        self.factors[self.n_factors] = self.top.factor(np.concatenate(R))
        self.factors.pop(self.n_factors - FACTORS, None)
        return [[]] * self.n_parts, self.n_factors

    async def break_up(self, reason: str) -> None:
        """Send everybody home."""
        self.broken = reason
        self.factors.clear()
        rounds, self.rounds = self.rounds, {}
        for this in rounds.values():
            if not this.answers.done():
                this.answers.set_exception(MeetingBroken(reason))

    async def ask_to_stop(self, status: Status) -> None:
        """End the solvers at their next look at the gap."""
        self.stop = status

    async def tell(self, iteration: int, gap: float) -> None:
        """Take news for the driver."""
        self.news = iteration, gap

    async def latest(self) -> tuple[int, float] | None:
        """Last news."""
        return self.news


def _add(several: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Sum in the order of the parts: the same bits whoever comes first."""
    total = np.array(several[0])
    for values in several[1:]:
        total += values
    return total


def _largest(several: Sequence[NDArray[Any]]) -> NDArray[Any]:
    return np.max(np.stack(several), axis=0)


REDUCTIONS: dict[str, Callable[[Sequence[NDArray[Any]]], NDArray[Any]]] = {
    "sum": _add,
    "max": _largest,
    "gather": np.concatenate,
}


class Seat(Parts):
    """A part's seat at the meeting: its `Parts`, and the `Rest` of its system.

    Parameters
    ----------
    meeting : Actor
        Of a `Meeting`.
    part : int
    """

    columns_at_once: ClassVar[int] = 64

    def __init__(self, meeting: Any, part: int) -> None:
        self.meeting = meeting
        self.part = part
        self.stop: Status | None = None
        self.n_rounds = 0
        self.seconds = 0.0
        self._riders: list[_Promise] = []

    def _meet(self, kind: str, arrays: Sequence[NDArray[Any]], number: int = 0) -> Answer:
        riders, self._riders = self._riders, []
        request = Request(kind, arrays, [promise.value for promise in riders], number)
        start = time.perf_counter()
        answer: Answer = self._call("meet", self.part, self.n_rounds, request)
        self.seconds += time.perf_counter() - start
        self.n_rounds += 1
        self.stop = answer.stop
        for promise, value in zip(riders, answer.riders, strict=True):
            promise.value, promise.kept = value, True
        return answer

    def _call(self, method: str, *args: Any) -> Any:
        try:
            return getattr(self.meeting, method)(*args).result(timeout=PATIENCE + 60)
        except (MeetingBroken, TopFailed):
            raise
        except Exception as error:
            raise MeetingBroken(f"the worker of the meeting was lost ({error!r})") from error

    def tell(self, iteration: int, gap: float) -> None:
        """Leave news for the driver."""
        self._call("tell", iteration, gap)

    def sum_later(self, values: NDArray[Any]) -> Callable[[], NDArray[Any]]:
        """Sum over all parts; travels with the next message."""
        promise = _Promise(self, np.asarray(values))
        self._riders.append(promise)
        return promise

    def max(self, values: NDArray[Any]) -> NDArray[Any]:
        """Largest of all parts, elementwise."""
        return self._meet("max", [values]).arrays[0]

    def gather(self, arrays: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Concatenate each array with those of the other parts, in the order of the parts."""
        return list(self._meet("gather", arrays).arrays)

    def factor(self, R: Floats) -> int:
        """Factor the top; see `Rest.factor`."""
        return self._meet("factor", [R]).number

    def solve(self, number: int, c: Floats) -> Floats:
        """What a solve adds; see `Rest.solve`."""
        return self._meet("solve", [c], number).arrays[0]

    def far_field(self, c: Floats) -> Floats:
        """What a product adds; see `Rest.far_field`."""
        return self._meet("far_field", [c]).arrays[0]


class _Promise:
    """A sum that is on its way."""

    def __init__(self, seat: Seat, value: NDArray[Any]) -> None:
        self.seat, self.value, self.kept = seat, value, False

    def __call__(self) -> NDArray[Any]:
        if not self.kept:
            self.seat._meet("sum", [])
        return self.value
