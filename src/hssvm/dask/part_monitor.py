"""The monitor of a part: it reports progress to the driver, and writes checkpoints."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from hssvm.dask.checkpoints import STORE_TIMEOUT
from hssvm.dask.communicator import ActorCommunicator
from hssvm.kernels.base import Floats
from hssvm.progress import Event, Gap, StageEnded, Violation
from hssvm.solvers import Status, WorkingSetState
from hssvm.training import Monitor

CHECKPOINT_INTERVAL, REFINE_CHECKPOINT_INTERVAL = 20, 5
"""Number of iterations, and of rounds on the exact kernel, between two checkpoints."""


@dataclass(frozen=True)
class Communication:
    """Synchronizations, the seconds spent in them, and the bytes of arrays sent and received."""

    n_rounds: int
    seconds: float
    n_bytes: int


class PartMonitor(Monitor):
    """Reports progress to the driver, writes checkpoints, and stops the fit on request.

    Parameters
    ----------
    communicator : ActorCommunicator
    run : int
    stores : sequence of actors
        Actors of `CheckpointStore`.
    refines : bool
        Whether the solution is on the exact kernel. Its start is then not checkpointed: it needs
        few iterations, which a restart repeats.

    Attributes
    ----------
    communication : dict of str to Communication
        Communication during 'solve' and 'refine'.
    refining : bool
        Whether the solver runs on the exact kernel.
    """

    def __init__(
        self, communicator: ActorCommunicator, run: int, stores: Sequence[Any], *, refines: bool
    ) -> None:
        self.communicator, self.run, self.stores = communicator, run, stores
        self.communication: dict[str, Communication] = {}
        self.refining = False
        self._pending: list[Any] = []
        if not refines:
            self.checkpoint = partial(self._checkpoint, CHECKPOINT_INTERVAL, False)
        self.refine_checkpoint = partial(self._checkpoint, REFINE_CHECKPOINT_INTERVAL, True)

    def listen(self, event: Event) -> None:
        """Report the progress to the driver: the gap on K~, then the violation on K."""
        match event:
            case StageEnded("solve"):
                self.end_solver("solve")
            case Gap() | Violation() if self.communicator.rank == 0:
                if self.refining == isinstance(event, Violation):
                    self.communicator.link.call("report_progress", event)

    def end_solver(self, name: str) -> None:
        """Record the communication of a solver at its end."""
        self.refining = True
        here, before = self.communicator, self.communication.values()
        self.communication[name] = Communication(
            here.n_rounds - sum(stage.n_rounds for stage in before),
            here.seconds - sum(stage.seconds for stage in before),
            here.n_bytes - sum(stage.n_bytes for stage in before),
        )

    def stop(self) -> Status | None:
        """Return a status if the fit should stop, as of the last synchronization."""
        return self.communicator.stop

    def _checkpoint(
        self, interval: int, refining: bool, iteration: int, state: Floats | WorkingSetState
    ) -> None:
        if iteration % interval == 0:
            self.wait()
            copy, checkpoint = pickle.dumps(state), (self.run, refining, iteration)
            self._pending = [
                store.save(self.communicator.rank, checkpoint, copy) for store in self.stores
            ]

    def wait(self) -> None:
        """Wait for the last checkpoint; the loss of a store does not stop the training."""
        for message in self._pending:
            with suppress(Exception):
                message.result(timeout=STORE_TIMEOUT)
