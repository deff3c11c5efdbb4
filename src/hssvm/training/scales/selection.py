"""The number of steps that held-out rows justify.

It is the one with the smallest squared error, if that error has fallen beyond chance. For classes,
the number of mistakes must have fallen, too: the squared error also measures how far rows of the
right class are from 1, and can fall while more rows are on the wrong side.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hssvm.kernels.base import Floats
from hssvm.training.tasks import Targets

MIN_STANDARD_ERRORS = np.array([2.0, 1.0])
"""Smallest gains on held-out rows for which scales are kept, in squared error and in mistakes, in
standard errors: with fewer mistakes to count, chance is larger."""

MIN_STEP_GAIN = 1e-3
"""Relative gain of a step in squared error below which no other follows: its gain would be smaller
still."""


class HeldOut:
    """Errors of predictions for held-out rows, step by step.

    Parameters
    ----------
    targets : Targets
    weight : (n,)
    """

    def __init__(self, targets: Targets, weight: Floats) -> None:
        self.targets, self.weight = targets, weight / weight.sum()
        centered = targets.Y - self.weight @ targets.Y
        self.variance = float(self.weight @ (centered**2).sum(axis=1)) or 1.0
        self._losses = list[NDArray[np.float64]]()

    def add(self, values: NDArray[np.float64]) -> None:
        """Add the predictions (n, k) of a step."""
        losses = [((values - self.targets.Y) ** 2).sum(axis=1)]
        if self.targets.classes:
            losses.append(np.float64(codes_of(values) != codes_of(self.targets.Y)))
        self._losses.append(np.stack(losses))

    @property
    def errors(self) -> list[float]:
        """Weighted mean squared error of every step, relative to the variance of the targets."""
        return [float(self.weight @ losses[0]) / self.variance for losses in self._losses]

    def best(self, *, beyond_chance: bool) -> int:
        """Return the number of steps to keep."""
        best = int(np.argmin(self.errors))
        if not beyond_chance:
            return best
        gains = self._losses[0] - self._losses[best]
        mean = gains @ self.weight
        deviation = np.sqrt((gains - mean[:, None]) ** 2 @ self.weight**2)
        least = MIN_STANDARD_ERRORS[: mean.size] * deviation
        return best if (mean > least).all() else 0

    @property
    def ends(self) -> bool:
        """Whether the last step was worse than the one before, or hardly better."""
        return len(self._losses) > 1 and self.errors[-1] > (1 - MIN_STEP_GAIN) * self.errors[-2]


def codes_of(columns: Floats) -> NDArray[np.int64]:
    """Return the class indices of columns, one for each class, or one for two classes."""
    if columns.shape[1] == 1:
        return (columns[:, 0] > 0.5).astype(np.int64)
    return columns.argmax(axis=1)
