"""What the duals of regressions have in common."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hssvm.problems.base import Problem


class RegressionProblem(Problem):
    """A problem whose linear term is the targets, so that its scale is relative to their spread."""

    def scale(self) -> NDArray[np.float64]:
        """Largest ``|z|`` divided by the standard deviation of y, (k,)."""
        return super().scale() / self._unit()

    def _unit(self) -> NDArray[np.float64]:
        """Standard deviation of y, or 1 if it is 0, (k,)."""
        y = self.linear.astype(np.float64)
        n, total = self.communicator.allreduce(np.stack([np.full(self.k, self.n), y.sum(axis=0)]))
        spread = np.sqrt(self.communicator.allreduce(((y - total / n) ** 2).sum(axis=0)) / n)
        return np.where(spread > 0, spread, 1)
