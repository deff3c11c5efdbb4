"""The ridge of squared losses."""

from __future__ import annotations

import numpy as np

from hssvm.kernels.base import Floats


def inverse_cost(cost: Floats) -> Floats:
    """Return the inverse of the cost (n, k) of each row, (n,).

    Columns may only differ in the rows that they exclude, whose cost is 0. Rows that all columns
    exclude have the smallest inverse.
    """
    own = cost.max(axis=1, initial=0)
    if ((cost > 0) & (cost != own[:, None])).any():
        raise ValueError("the columns of a problem with a squared loss must have the same cost")
    largest, tiny = own.max(initial=0) or own.dtype.type(1), np.finfo(own.dtype).tiny
    least = max(largest * tiny**0.5, tiny)  # sums of the inverses are finite
    ridge: Floats = 1 / np.maximum(np.where(own > 0, own, largest), least)
    return ridge
