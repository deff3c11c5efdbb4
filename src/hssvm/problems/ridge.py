"""The ridge of squared losses."""

from __future__ import annotations

import numpy as np

from hssvm.kernels.base import Floats


def inverse_cost(cost: Floats) -> Floats:
    """Return 1 / cost, (n,), or the smallest of these where it is 0: such rows are excluded."""
    largest = cost.max(initial=0) or cost.dtype.type(1)
    ridge: Floats = 1 / np.where(cost > 0, cost, largest)
    return ridge
