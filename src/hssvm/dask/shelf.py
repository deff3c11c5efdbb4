"""Coefficients put by while a solver runs, in case a worker is lost."""

from __future__ import annotations

from typing import TypeAlias

from hssvm.kernels.base import Floats

Moment: TypeAlias = tuple[int, int]
"""Run and iteration."""

KEPT = 2
"""Moments that are kept: the parts do not put theirs by all at once."""


class Shelf:
    """An actor on one worker, for its own part and for that of another worker."""

    def __init__(self) -> None:
        self.kept: dict[int, dict[Moment, Floats]] = {}

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
