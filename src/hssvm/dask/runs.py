"""Training on all workers, again and again until it succeeds.

A *run* is a meeting and a task for every part. When a worker is lost, or one of the parts cannot
reach the meeting, the run is broken up: all tasks return. The scheduler meanwhile makes the lost
parts anew from the source rows, on other workers; then the next run goes on from the last
coefficients that were put by for all parts.
"""

from __future__ import annotations

import logging
import pickle
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from distributed import Client, Future
from numpy.typing import NDArray

from hssvm.dask.actors import reach
from hssvm.dask.meeting import PATIENCE, Meeting
from hssvm.dask.shelf import Moment, Shelf, take_model
from hssvm.dask.train import Trained, Training, Unfinished, train_part
from hssvm.dask.waiting import Asked, ClusterLost, live_workers, value_of, values_of, wait_for

logger = logging.getLogger(__name__)

RETRIES = 5
"""Runs after the first one."""


def _release(futures: list[Future]) -> None:
    for future in futures:
        with suppress(Exception):  # the client may be closed by now
            future.release()


@dataclass(frozen=True, eq=False)
class TrainedModels:
    """Where the models are.

    Attributes
    ----------
    models : list of Future
        Of `PartModel`. They are made from the shelves, and so made again should one be lost.
    shelves : list of Future
        Of the actors, which live as long as these.
    """

    models: list[Future]
    shelves: list[Future]


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
        self.meetings: list[Future] = []
        self.broken = False
        self.shelves: dict[str, tuple[Any, Future]] = {}

    def train(self) -> tuple[list[Trained], TrainedModels]:
        """Return what the parts tell, and where their models are."""
        reason = ""
        for run in range(RETRIES + 1):
            if run:
                logger.warning("%s; training goes on from what was put by", reason)
                time.sleep(1.0)  # until the driver has heard of all that is lost
            owners = self._owners()
            shelves, reason = self._shelves(owners)
            if shelves:
                told, reason = self._run(run, owners, shelves)
                if told:
                    return told, self._finish(run, owners, shelves)
        raise ClusterLost(
            f"training was broken off {RETRIES + 1} times, the last time because {reason}; look at "
            "the logs of the workers: they may run out of memory"
        )

    def release(self) -> None:
        """Let the workers forget the meetings."""
        if not self.broken:
            _release(self.meetings)
            return
        # Late parts of a run that was broken up still ask; a meeting that is gone does not answer.
        later = threading.Timer(PATIENCE, _release, [self.meetings])
        later.daemon = True
        later.start()

    def _owners(self) -> list[str]:
        """Worker of every part, where they are all there."""
        wait_for(self.client, [*self.built, self.top], asked=self.asked)
        holders = self.client.who_has(self.built)
        return [next(iter(holders.get(part.key, ())), "") for part in self.built]

    def _shelves(self, owners: Sequence[str]) -> tuple[list[list[Any]], str]:
        """Shelf of the worker of every part, and one on another worker where there is one."""
        live = live_workers(self.client)
        if not set(owners) <= set(live):
            return [], "a worker was lost before the parts met"
        self.shelves = {worker: shelf for worker, shelf in self.shelves.items() if worker in live}
        shelves = []
        try:
            for part, owner in enumerate(owners):
                others = [*owners[part + 1 :], *owners[:part], *live]
                other = next((worker for worker in others if worker != owner), owner)
                shelves.append([self._shelf(w) for w in dict.fromkeys([owner, other])])
        except ClusterLost:
            raise
        except Exception as error:
            return [], f"a worker was lost before the parts met ({error})"
        return shelves, ""

    def _run(
        self, run: int, owners: Sequence[str], shelves: Sequence[Sequence[Any]]
    ) -> tuple[list[Trained], str]:
        start = self._last_put_by(len(owners))
        n_threads = self.client.nthreads().get(owners[0], 1)
        try:
            meeting, future = self._actor(owners[0], Meeting, self.top, self.slots, n_threads)
        except ClusterLost:
            raise
        except Exception as error:
            return [], f"a worker was lost before the parts met ({error})"
        self.meetings.append(future)
        tasks = [
            self.client.submit(
                train_part,
                self.built[part],
                part,
                run,
                self.training,
                pickle.dumps(meeting),
                [pickle.dumps(shelf) for shelf in shelves[part]],
                None if start is None else (pickle.dumps(start[0][part]), start[1]),
                workers=[owner],
                allow_other_workers=True,
                pure=False,
            )
            for part, owner in enumerate(owners)
        ]
        return self._watch(tasks, meeting, owners)

    def _watch(
        self, tasks: list[Future], meeting: Any, owners: Sequence[str]
    ) -> tuple[list[Trained], str]:
        """Wait for the tasks; break up the run if one of them cannot come to its end."""
        lost: set[str] = set()
        asked, news = None, None

        def look() -> bool:
            nonlocal asked, news
            lost.update(set(owners) - set(live_workers(self.client)))
            if lost:
                return False
            with suppress(Exception):
                latest = meeting.latest().result(timeout=10)
                if latest is not None and latest != news:
                    news = latest
                    logger.info("iteration %d: largest gap %.1e", *news, extra={"gap": news[1]})
                if asked is None and (status := self.asked()) is not None:
                    meeting.ask_to_stop(status).result(timeout=10)
                    asked = status
            return True

        try:
            wait_for(self.client, tasks, look, asked=self.asked, together=True)
            if lost:
                reason = f"the worker {', '.join(sorted(lost))} was lost"
                self._break_up(None if owners[0] in lost else meeting, tasks, reason)
                return [], reason
            told = values_of(self.client, tasks)
        except BaseException:
            self._break_up(meeting, tasks, "another part had an error")
            raise
        broken = [one.reason for one in told if isinstance(one, Unfinished)]
        return ([], broken[0]) if broken else (told, "")

    def _break_up(self, meeting: Any | None, tasks: list[Future], reason: str) -> None:
        self.broken = True
        with suppress(Exception):
            if meeting is not None:
                meeting.break_up(reason).result(timeout=10)
        with suppress(Exception):
            self.client.cancel(tasks, force=True)

    def _finish(
        self, run: int, owners: Sequence[str], shelves: Sequence[Sequence[Any]]
    ) -> TrainedModels:
        for shelf, _ in self.shelves.values():
            with suppress(Exception):
                shelf.finish(run).result(timeout=60)
        models = [
            self.client.submit(
                take_model,
                [pickle.dumps(shelf) for shelf in shelves[part]],
                part,
                run,
                workers=[owner],
                allow_other_workers=True,
                pure=False,
            )
            for part, owner in enumerate(owners)
        ]
        return TrainedModels(models, [future for _, future in self.shelves.values()])

    def _actor(self, owner: str, cls: type, *args: Any) -> tuple[Any, Future]:
        """An actor, and its future: it lives as long as that."""
        future = self.client.submit(
            cls, *args, actor=True, workers=[owner], allow_other_workers=True, pure=False
        )
        actor = value_of(self.client, future, self.asked)
        return reach(pickle.dumps(actor), self.client), future

    def _shelf(self, owner: str) -> Any:
        if owner not in self.shelves:
            self.shelves[owner] = self._actor(owner, Shelf)
        return self.shelves[owner][0]

    def _last_put_by(self, n_parts: int) -> tuple[list[Any], Moment] | None:
        """Shelves with coefficients of all parts at the same moment, and that; None: nowhere."""
        where: dict[tuple[int, Moment], Any] = {}
        for shelf, _ in self.shelves.values():
            with suppress(Exception):
                for part, moments in shelf.moments().result(timeout=30).items():
                    where.update({(part, moment): shelf for moment in moments})
        parts = range(n_parts)
        common = {moment for _, moment in where if all((p, moment) in where for p in parts)}
        if not common:
            return None
        last = max(common)
        logger.info("going on from iteration %d of run %d", last[1], last[0] + 1)
        return [where[part, last] for part in parts], last
