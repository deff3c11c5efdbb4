"""Coefficients put by while a solver runs, and the model at its end, in case a worker is lost."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, TypeAlias

from distributed import get_worker

from hssvm.dask.actors import Pickled, reach
from hssvm.dask.waiting import TRANSFER
from hssvm.kernels.base import Floats

Moment: TypeAlias = tuple[int, int]
"""Run and iteration."""

KEPT = 2
"""Moments that are kept: the parts do not put theirs by all at once."""

TIMEOUT, PING = 60.0, 5.0
"""Seconds to wait for a shelf, and for a sign of life."""


class Shelf:
    """An actor on one worker, for its own part and for that of another worker."""

    def __init__(self) -> None:
        self.kept: dict[int, dict[Moment, Floats]] = {}
        self.models: dict[tuple[int, int], Any] = {}

    def put(self, part: int, moment: Moment, Z: Floats) -> None:
        """Keep the coefficients of a part."""
        own = self.kept.setdefault(part, {})
        own[moment] = Z
        for old in sorted(own)[:-KEPT]:
            del own[old]

    def take(self, part: int, moment: Moment) -> Floats:
        """Return the coefficients of a part."""
        return self.kept[part][moment]

    def moments(self) -> dict[int, list[Moment]]:
        """What is kept, by part."""
        return {part: sorted(own) for part, own in self.kept.items()}

    def put_model(self, part: int, run: int, model: Any) -> None:
        """Keep the model of a part."""
        self.models[part, run] = model

    def take_model(self, part: int, run: int) -> Any:
        """Return the model of a part."""
        return self.models[part, run]

    def finish(self, run: int) -> None:
        """Keep only the models of the last run."""
        self.kept.clear()
        self.models = {key: model for key, model in self.models.items() if key[1] == run}


def take_model(shelves: Sequence[Pickled], part: int, run: int) -> Any:
    """Model of a part, from the first of the shelves that has it, or None; a task.

    On the worker of the shelf it is no copy.
    """
    for shelf in map(reach, shelves):
        here: Shelf | None = get_worker().state.actors.get(shelf.key)
        with suppress(Exception):
            if here is not None:
                return here.take_model(part, run)
            shelf.moments().result(timeout=PING)
            return shelf.take_model(part, run).result(timeout=TRANSFER)
    return None
