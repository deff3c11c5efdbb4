"""The number of steps that held-out rows justify.

The squared error of kernel ridge regression can fall while more rows are on the wrong side, as it
also measures how far rows of the right class are from 1. For classes, the criterion is therefore
the product of the squared error and the fraction of mistakes, and both have to fall beyond chance.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hssvm.kernels.base import Floats
from hssvm.training.tasks import Targets

MIN_STANDARD_ERRORS = 2.0
"""Smallest gain on held-out rows, in standard errors, for which scales are kept."""


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

    @property
    def criterion(self) -> list[float]:
        """Product of the mean losses of every step; with a mistake more, as there may be none."""
        one = np.array([0.0, 1 / self.weight.size])[: self._losses[0].shape[0]]
        return [float(np.prod(losses @ self.weight + one)) for losses in self._losses]

    @property
    def best(self) -> int:
        """The number of steps to keep."""
        best = int(np.argmin(self.criterion))
        gains = self._losses[0] - self._losses[best]
        mean = gains @ self.weight
        deviation = np.sqrt((gains - mean[:, None]) ** 2 @ self.weight**2)
        return best if (mean > MIN_STANDARD_ERRORS * deviation).all() else 0

    @property
    def rises(self) -> bool:
        """Whether the last step was worse than the one before."""
        return len(self._losses) > 1 and self.criterion[-1] > self.criterion[-2]


def codes_of(columns: Floats) -> NDArray[np.int64]:
    """Return the class indices of columns, one for each class, or one for two classes."""
    if columns.shape[1] == 1:
        return (columns[:, 0] > 0.5).astype(np.int64)
    return columns.argmax(axis=1)
