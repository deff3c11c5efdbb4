"""Storage of checkpoints, the state of a solver during a run, and of the final models.

Each is stored on two workers, in case one is lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, TypeAlias

from distributed import get_worker

from hssvm.dask.actors import Pickled, resolve_actor
from hssvm.dask.waiting import TRANSFER

CheckpointId: TypeAlias = tuple[int, bool, int]
"""Run, whether it is on the exact kernel, and iteration or round; later checkpoints are greater."""

KEPT = 2
"""Number of checkpoints to keep: the parts do not write theirs at the same time."""

STORE_TIMEOUT, PING_TIMEOUT = 60.0, 5.0
"""Time limits in seconds for a store to save or load, and to respond at all."""


class CheckpointStore:
    """An actor on one worker that stores the data of its own part and of another one."""

    def __init__(self) -> None:
        self.checkpoints: dict[int, dict[CheckpointId, Pickled]] = {}
        self.models: dict[tuple[int, int], Any] = {}

    def save(self, part: int, checkpoint: CheckpointId, state: Pickled) -> None:
        """Store the state of a part."""
        own = self.checkpoints.setdefault(part, {})
        own[checkpoint] = state
        for old in sorted(own)[:-KEPT]:
            del own[old]

    def load(self, part: int, checkpoint: CheckpointId) -> Pickled:
        """Return the state of a part."""
        return self.checkpoints[part][checkpoint]

    def available(self) -> dict[int, list[CheckpointId]]:
        """Return the stored checkpoints by part."""
        return {part: sorted(own) for part, own in self.checkpoints.items()}

    def save_model(self, part: int, run: int, model: Any) -> None:
        """Store the model of a part."""
        self.models[part, run] = model

    def load_model(self, part: int, run: int) -> Any:
        """Return the model of a part."""
        return self.models[part, run]

    def finish(self, run: int) -> None:
        """Keep only the models of the last run."""
        self.checkpoints.clear()
        self.models = {key: model for key, model in self.models.items() if key[1] == run}


def load_model(stores: Sequence[Pickled], part: int, run: int) -> Any:
    """Load the model of a part from the first store that has it, or return None; a task.

    On the worker of the store, the model is not copied.
    """
    for store in map(resolve_actor, stores):
        here: CheckpointStore | None = get_worker().state.actors.get(store.key)
        with suppress(Exception):
            if here is not None:
                return here.load_model(part, run)
            store.available().result(timeout=PING_TIMEOUT)
            return store.load_model(part, run).result(timeout=TRANSFER)
    return None
