"""Coefficients put by while a solver runs, and the model at its end, in case a worker is lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from distributed import Future

from hssvm.kernels.base import Floats

Moment: TypeAlias = tuple[int, int]
"""Run and iteration."""

KEPT = 2
"""Moments that are kept: the parts do not put theirs by all at once."""

TIMEOUT = 60
"""Seconds to wait for a shelf."""


class Shelf:
    """An actor on one worker, for its own part and for that of another worker."""

    def __init__(self) -> None:
        self.kept: dict[int, dict[Moment, Floats]] = {}
        self.models: dict[int, Any] = {}

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

    def put_model(self, part: int, model: Any) -> None:
        """Keep the model of a part; its coefficients are no longer needed."""
        self.models[part] = model
        self.kept.pop(part, None)

    def take_model(self, part: int) -> Any:
        """Return the model of a part, or None."""
        return self.models.get(part)


@dataclass(frozen=True, eq=False)
class SpareModels:
    """Where the second copies of the models are.

    Attributes
    ----------
    shelves : list of Actor
        By part.
    futures : list of Future
        Of the actors, which live as long as these.
    """

    shelves: list[Any]
    futures: list[Future]


def take_model(shelf: Any, part: int) -> Any:
    """Model of a part from the shelf of another worker; a task."""
    return shelf.take_model(part).result(timeout=TIMEOUT)
