"""Training on all workers, again and again until it succeeds.

A *run* is a meeting and a task for every part. When a worker is lost, or one of the parts cannot
reach the meeting, the run is broken up: all tasks return. The scheduler meanwhile makes the lost
parts anew from the source rows, on other workers; then the next run goes on from the last
coefficients that were put by for all parts.
"""

from __future__ import annotations

import logging
import pickle
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from distributed import Client, Future
from numpy.typing import NDArray

from hssvm.dask.meeting import Meeting
from hssvm.dask.shelf import Moment, Shelf, SpareModels
from hssvm.dask.train import Training, summary_of, train_part, why_unfinished
from hssvm.dask.waiting import ClusterLost, live_workers, value_of, wait_for
from hssvm.estimators.report import FitReport
from hssvm.solvers import Status

logger = logging.getLogger(__name__)

RETRIES = 5
"""Runs after the first one."""

Asked = Callable[[], Status | None]
"""Tells whether the user wants to stop, and why."""


class Runs:
    """All runs of one fit.

    Parameters
    ----------
    client : distributed.Client
    built : list of Future
        Of `Built`, one for every part.
    top : Future
        Of a `Top`.
    slots : (n_parts,) int64
    training : Training
    asked : callable
        Asked now and then whether to stop.
    """

    def __init__(
        self,
        client: Client,
        built: Sequence[Future],
        top: Future,
        slots: NDArray[Any],
        training: Training,
        asked: Asked,
    ) -> None:
        self.client = client
        self.built = list(built)
        self.top = top
        self.slots = slots
        self.training = training
        self.asked = asked
        self.meeting: Future | None = None
        self.shelves: dict[str, tuple[Any, Future]] = {}
        self.spare: list[Any] = []

    def train(self) -> tuple[list[Future], FitReport, NDArray[np.float64]]:
        """Return the futures of `PartModel` of all parts, the report, and the intercept."""
        reason = ""
        for attempt in range(RETRIES + 1):
            if attempt:
                logger.warning("%s; training goes on from what was put by", reason)
            models, reason = self._run(attempt)
            if models is not None:
                first = self.client.submit(summary_of, models[0], pure=False)
                return models, *value_of(self.client, first)
        raise ClusterLost(
            f"training was broken off {RETRIES + 1} times, the last time because {reason}; look at "
            "the logs of the workers: they may run out of memory"
        )

    def spare_models(self) -> SpareModels:
        """Second copies of the models."""
        return SpareModels(self.spare, [future for _, future in self.shelves.values()])

    def _run(self, attempt: int) -> tuple[list[Future] | None, str]:
        client = self.client
        wait_for(client, [*self.built, self.top])
        owners = [holders[0] for holders in map(self._holders, self.built) if holders]
        if len(owners) < len(self.built):
            return None, "a worker was lost before the parts met"
        start = self._last_put_by(owners)
        try:
            meeting, self.meeting = self._actor(
                owners[0], Meeting, self.top, self.slots, client.nthreads()[owners[0]]
            )
            shelves = [self._shelf(owner) for owner in owners]
        except Exception as error:
            return None, f"a worker was lost before the parts met ({error})"
        tasks = []
        self.spare = shelves[1:] + shelves[:1]
        for part, owner in enumerate(owners):
            known = dict.fromkeys([pickle.dumps(shelves[part]), pickle.dumps(self.spare[part])])
            tasks.append(
                client.submit(
                    train_part,
                    self.built[part],
                    part,
                    attempt,
                    self.training,
                    pickle.dumps(meeting),
                    list(known),
                    None if start is None else (pickle.dumps(start[0][part]), start[1]),
                    workers=[owner],
                    allow_other_workers=True,
                    pure=False,
                )
            )
        return self._watch(tasks, meeting, set(owners))

    def _watch(
        self, tasks: list[Future], meeting: Any, needed: set[str]
    ) -> tuple[list[Future] | None, str]:
        """Wait for the tasks; break up the run if one of them cannot come to its end."""
        lost: set[str] = set()
        asked, news = None, None

        def look() -> bool:
            nonlocal asked, news
            lost.update(needed - set(live_workers(self.client)))
            if lost:
                return False
            with suppress(Exception):
                latest = meeting.latest().result(timeout=10)
                if latest is not None and latest != news:
                    news = latest
                    logger.info("iteration %d: largest gap %.1e", *news)
                if asked is None and (status := self.asked()) is not None:
                    meeting.ask_to_stop(status).result(timeout=10)
                    asked = status
            return True

        try:
            wait_for(self.client, tasks, look)
        except BaseException:
            self._break_up(meeting, tasks, "another part had an error")
            raise
        if lost:
            reason = f"the worker {', '.join(sorted(lost))} was lost"
            self._break_up(meeting, tasks, reason)
            return None, reason
        reasons = [self.client.submit(why_unfinished, task, pure=False) for task in tasks]
        wait_for(self.client, reasons)
        broken = [reason for reason in self.client.gather(reasons) if reason]
        return (None, broken[0]) if broken else (tasks, "")

    def _break_up(self, meeting: Any, tasks: list[Future], reason: str) -> None:
        with suppress(Exception):
            meeting.break_up(reason).result(timeout=10)
        with suppress(Exception):
            self.client.cancel(tasks, force=True)

    def _holders(self, future: Future) -> list[str]:
        holders: list[str] = list(self.client.who_has([future]).get(future.key, []))
        return holders

    def _actor(self, owner: str, cls: type, *args: Any) -> tuple[Any, Future]:
        """An actor, and its future: it lives as long as that."""
        future = self.client.submit(
            cls, *args, actor=True, workers=[owner], allow_other_workers=True, pure=False
        )
        return value_of(self.client, future), future

    def _shelf(self, owner: str) -> Any:
        if owner not in self.shelves:
            self.shelves[owner] = self._actor(owner, Shelf)
        return self.shelves[owner][0]

    def _last_put_by(self, owners: Sequence[str]) -> tuple[list[Any], Moment] | None:
        """Shelves with coefficients of all parts at the same moment, and that; None: nowhere."""
        where: dict[tuple[int, Moment], Any] = {}
        live = set(live_workers(self.client))
        self.shelves = {owner: shelf for owner, shelf in self.shelves.items() if owner in live}
        for shelf, _ in self.shelves.values():
            with suppress(Exception):
                for part, moments in shelf.moments().result(timeout=30).items():
                    where.update({(part, moment): shelf for moment in moments})
        parts = range(len(owners))
        common = {moment for _, moment in where if all((p, moment) in where for p in parts)}
        if not common:
            return None
        last = max(common)
        logger.info("going on from iteration %d of run %d", last[1], last[0] + 1)
        return [where[part, last] for part in parts], last
