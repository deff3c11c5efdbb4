"""Conversion of targets and weights to the precision of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm.kernels.base import Floats
from hssvm.messages import api, value_error

LARGEST = 1e150
"""Largest accepted value: squares of larger numbers overflow float64."""


def in_precision_of_rows(values: NDArray[Any], dtype: Any, name: str) -> Floats:
    """Return `values` as `dtype`; raise ValueError if they are too large for it."""
    with np.errstate(over="ignore"):
        converted: Floats = values.astype(dtype)
    if not (np.isfinite(converted).all() and float(np.abs(converted).max(initial=0)) < LARGEST):
        largest = np.abs(values.astype(np.float64)).max()
        raise value_error(
            f"{api:{name}} has values up to {largest:.2g}, too large for {np.dtype(dtype)}, the "
            f"precision of X; {api:pass X in float64}, or scale {api:{name}}"
        )
    return converted
