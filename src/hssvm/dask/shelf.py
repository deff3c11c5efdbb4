"""Coefficients put by while a solver runs, in case a worker is lost."""

from __future__ import annotations

from hssvm.kernels.base import Floats

KEPT = 2
"""Iterations that are kept: the parts do not put theirs by at the same moment."""


class Shelf:
    """An actor on one worker, for its own part and for that of another worker."""

    def __init__(self) -> None:
        self.kept: dict[int, dict[int, Floats]] = {}

    def put(self, part: int, iteration: int, Z: Floats) -> None:
        """Keep the coefficients of a part."""
        own = self.kept.setdefault(part, {})
        own[iteration] = Z
        for old in sorted(own)[:-KEPT]:
            del own[old]

    def take(self, part: int, iteration: int) -> Floats:
        """Return the coefficients of a part."""
        return self.kept[part][iteration]

    def iterations(self) -> dict[int, list[int]]:
        """What is kept, by part."""
        return {part: sorted(own) for part, own in self.kept.items()}
