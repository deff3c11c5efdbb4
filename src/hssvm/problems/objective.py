"""Objective values and duality gaps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Objective:
    """Objective values at a feasible z, one per column.

    Attributes
    ----------
    primal, dual, intercept : (k,) float64
    floor : (k,) float64
        Smallest scale of the gap, for values that are close to 0 by cancellation; see
        `Problem.floor`.
    """

    primal: NDArray[np.float64]
    dual: NDArray[np.float64]
    intercept: NDArray[np.float64]
    floor: NDArray[np.float64]

    @property
    def size(self) -> NDArray[np.float64]:
        """Scale of the gap, (k,): the largest of |primal|, |dual| and floor, or 1 if all are 0."""
        size = np.maximum(np.maximum(np.abs(self.primal), np.abs(self.dual)), self.floor)
        return np.where(size > 0, size, 1.0)

    @property
    def gap(self) -> NDArray[np.float64]:
        """Relative duality gap, (k,)."""
        return (self.primal - self.dual) / self.size
