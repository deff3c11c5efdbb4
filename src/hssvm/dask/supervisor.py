"""Training on all workers, restarted when a worker is lost.

A *run* has coordinators, and a task for every part. If a worker is lost, or a part cannot reach the
coordinator, the run is aborted, and all its tasks return. The scheduler recomputes the lost parts
from the input data on other workers, and the next run resumes from the last checkpoint that all
parts have.

On the exact kernel, a checkpoint is the state of the solver, and a run that resumes ends with the
same bits as one that was not interrupted. On the compressed kernel, it is the coefficients; a run
that resumes from them also ends with a gap below `tol`, but not at the same point.
"""

from __future__ import annotations

import logging
import pickle
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from distributed import Client, Future

from hssvm.dask.actors import resolve_actor
from hssvm.dask.checkpoints import CheckpointId, CheckpointStore, load_model
from hssvm.dask.compression import CompressedTree
from hssvm.dask.coordinator import Coordinator
from hssvm.dask.messages import TIMEOUT, Membership
from hssvm.dask.train import Job, PartResult, Unfinished, train_part
from hssvm.dask.waiting import ClusterLost, ShouldStop, live_workers, value_of, values_of, wait_for
from hssvm.progress import Event, Gap, Violation, tell

logger = logging.getLogger(__name__)

RETRIES = 5
"""Maximum number of runs after the first one."""


def _release(futures: list[Future]) -> None:
    for future in futures:
        with suppress(Exception):  # the client may already be closed
            future.release()


def _forward(event: Event) -> None:
    match event:
        case Gap(iteration, gap):
            logger.info("iteration %d: largest gap %.1e", iteration, gap)
        case Violation(round, violation):
            logger.info("round %d on the exact kernel: largest violation %.1e", round, violation)
    tell(event)


@dataclass(frozen=True, eq=False)
class TrainedModels:
    """The models of all parts, on the workers.

    Attributes
    ----------
    models : list of Future
        Futures of `PartModel`. They are loaded from the stores, and loaded again if one is lost.
    stores : list of Future
        Futures of the `CheckpointStore` actors, which exist as long as these futures.
    """

    models: list[Future]
    stores: list[Future]


class Supervisor:
    """Starts, watches and restarts the runs of a fit.

    Parameters
    ----------
    client : distributed.Client
    tree : CompressedTree
    job : Job
    should_stop : callable
        Called periodically; returns a status if the fit should stop.
    earlier : TrainedModels, optional
        Models with the earlier trees of the forest.
    """

    def __init__(
        self,
        client: Client,
        tree: CompressedTree,
        job: Job,
        should_stop: ShouldStop,
        earlier: TrainedModels | None = None,
    ) -> None:
        self.client = client
        self.tree = tree
        self.job = job
        self.should_stop = should_stop
        self.earlier = earlier
        self.coordinators: list[Future] = []
        self.aborted = False
        self.stores: dict[str, tuple[Any, Future]] = {}

    def train(self) -> tuple[list[PartResult], TrainedModels]:
        """Return the results of the parts, and futures of their models."""
        reason = ""
        for run in range(RETRIES + 1):
            if run:
                logger.warning("%s; training resumes from the last checkpoint", reason)
                time.sleep(1.0)  # until the driver knows about all lost tasks
            owners = self._owners()
            stores, reason = self._stores_of(owners)
            if stores:
                results, reason = self._run(run, owners, stores)
                if results:
                    return results, self._finish(run, owners, stores)
        raise ClusterLost(
            f"training was interrupted {RETRIES + 1} times, the last time because {reason}; check "
            "the logs of the workers, which may have run out of memory"
        )

    def release(self) -> None:
        """Release the coordinators."""
        if not self.aborted:
            _release(self.coordinators)
            return
        # Late parts of an aborted run still send requests, which must be answered.
        later = threading.Timer(TIMEOUT, _release, [self.coordinators])
        later.daemon = True
        later.start()

    def _owners(self) -> list[str]:
        """Wait for all parts; return the worker of each."""
        wait_for(self.client, self.tree.futures, should_stop=self.should_stop)
        holders = self.client.who_has(self.tree.parts)
        return [next(iter(holders.get(part.key, ())), "") for part in self.tree.parts]

    def _stores_of(self, owners: Sequence[str]) -> tuple[list[list[Any]], str]:
        """Stores of every part: one on its worker, and one on another worker if there is one."""
        live = live_workers(self.client)
        if not set(owners) <= set(live):
            return [], "a worker was lost before the training began"
        self.stores = {worker: store for worker, store in self.stores.items() if worker in live}
        stores = []
        try:
            for part, owner in enumerate(owners):
                others = [*owners[part + 1 :], *owners[:part], *live]
                other = next((worker for worker in others if worker != owner), owner)
                stores.append([self._store(w) for w in dict.fromkeys([owner, other])])
        except ClusterLost:
            raise
        except Exception as error:
            return [], f"a worker was lost before the training began ({error})"
        return stores, ""

    def _run(
        self, run: int, owners: Sequence[str], stores: Sequence[Sequence[Any]]
    ) -> tuple[list[PartResult], str]:
        start = self._last_checkpoint(len(owners))
        try:
            coordinators, places = self._coordinate(owners)
        except ClusterLost:
            raise
        except Exception as error:
            return [], f"a worker was lost before the training began ({error})"
        tasks = [
            self.client.submit(
                train_part,
                self.tree.parts[part],
                part,
                run,
                self.job,
                places[part],
                [pickle.dumps(store) for store in stores[part]],
                None if start is None else (pickle.dumps(start[0][part]), start[1]),
                None if self.earlier is None else self.earlier.models[part],
                workers=[owner],
                allow_other_workers=True,
                pure=False,
            )
            for part, owner in enumerate(owners)
        ]
        return self._watch(tasks, coordinators, owners)

    def _coordinate(self, owners: Sequence[str]) -> tuple[list[Any], Mapping[int, Membership]]:
        """Create the coordinators; return them, highest tier first, and the place of each part."""
        coordinators: list[Any] = []
        n_threads = self.client.nthreads()
        places: Mapping[int, Membership | None] = {0: None}
        for tier in reversed(range(len(self.tree.tiers))):
            below: dict[int, Membership] = {}
            groups = zip(self.tree.tiers[tier], self.tree.tops[tier], strict=True)
            for i, (group, top) in enumerate(groups):
                # Not on the worker of the tier below, which is busy at the same time.
                owner = owners[group.first_part + min(tier, group.members.size - 1)]
                coordinator, future = self._actor(
                    owner, Coordinator, top, group.slots, n_threads.get(owner, 1), places[i]
                )
                self.coordinators.append(future)
                coordinators.append(coordinator)
                address = pickle.dumps(coordinator)
                below.update({int(m): (address, k) for k, m in enumerate(group.members)})
            places = below
        return coordinators, below

    def _watch(
        self, tasks: list[Future], coordinators: Sequence[Any], owners: Sequence[str]
    ) -> tuple[list[PartResult], str]:
        """Wait for the tasks; abort the run if one of them cannot finish."""
        lost: set[str] = set()
        asked_to_stop, progress = None, None
        first = coordinators[-len(self.tree.tiers[0])]  # serves the first part, which reports

        def watch() -> bool:
            nonlocal asked_to_stop, progress
            lost.update(set(owners) - set(live_workers(self.client)))
            if lost:
                return False
            with suppress(Exception):
                latest = first.last_progress().result(timeout=10)
                if latest is not None and latest != progress:
                    progress = latest
                    _forward(latest)
                if asked_to_stop is None and (status := self.should_stop()) is not None:
                    coordinators[0].ask_to_stop(status).result(timeout=10)
                    asked_to_stop = status
            return True

        try:
            wait_for(self.client, tasks, watch, should_stop=self.should_stop, together=True)
            if lost:
                reason = f"the worker {', '.join(sorted(lost))} was lost"
                self._abort(coordinators, tasks, reason)
                return [], reason
            results = values_of(self.client, tasks)
        except BaseException:
            self._abort(coordinators, tasks, "another part failed")
            raise
        reasons = [result.reason for result in results if isinstance(result, Unfinished)]
        return ([], reasons[0]) if reasons else (results, "")

    def _abort(self, coordinators: Sequence[Any], tasks: list[Future], reason: str) -> None:
        self.aborted = True
        messages = [coordinator.abort(reason) for coordinator in coordinators]
        deadline = time.monotonic() + 10
        for message in messages:
            with suppress(Exception):  # its worker may be lost
                message.result(timeout=max(0.1, deadline - time.monotonic()))
        with suppress(Exception):
            self.client.cancel(tasks, force=True)

    def _finish(
        self, run: int, owners: Sequence[str], stores: Sequence[Sequence[Any]]
    ) -> TrainedModels:
        for store, _ in self.stores.values():
            with suppress(Exception):
                store.finish(run).result(timeout=60)
        models = [
            self.client.submit(
                load_model,
                [pickle.dumps(store) for store in stores[part]],
                part,
                run,
                workers=[owner],
                allow_other_workers=True,
                pure=False,
            )
            for part, owner in enumerate(owners)
        ]
        return TrainedModels(models, [future for _, future in self.stores.values()])

    def _actor(self, owner: str, cls: type, *args: Any) -> tuple[Any, Future]:
        """Create an actor; return it with its future, which keeps it alive."""
        future = self.client.submit(
            cls, *args, actor=True, workers=[owner], allow_other_workers=True, pure=False
        )
        actor = value_of(self.client, future, self.should_stop)
        return resolve_actor(pickle.dumps(actor), self.client), future

    def _store(self, owner: str) -> Any:
        if owner not in self.stores:
            self.stores[owner] = self._actor(owner, CheckpointStore)
        return self.stores[owner][0]

    def _last_checkpoint(self, n_parts: int) -> tuple[list[Any], CheckpointId] | None:
        """Stores with the last checkpoint common to all parts, and its id, or None."""
        where: dict[tuple[int, CheckpointId], Any] = {}
        for store, _ in self.stores.values():
            with suppress(Exception):
                for part, checkpoints in store.available().result(timeout=30).items():
                    where.update({(part, checkpoint): store for checkpoint in checkpoints})
        parts = range(n_parts)
        common = {c for _, c in where if all((part, c) in where for part in parts)}
        if not common:
            return None
        last = max(common)
        run, refining, iteration = last
        what = "round" if refining else "iteration"
        logger.info("resuming from %s %d of run %d", what, iteration, run + 1)
        return [where[part, last] for part in parts], last
