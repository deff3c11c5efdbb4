"""Validation of targets that may be censored."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm.estimators.inputs.validation import require_complete_target
from hssvm.training.data.censoring import Ends

STRUCTURED = (
    "a structured array of events (bool) and times, such as sksurv.util.Surv.from_arrays(event, "
    "time) returns"
)


def as_ends(y: Any) -> Ends | None:
    """Convert censored targets to their ends, (n, 2); return None for a vector of known targets.

    Parameters
    ----------
    y : array-like
        A structured array with the fields event and time, or (n, 2): low and high ends.
    """
    values = np.asarray(y)
    if values.dtype.names is not None:
        return _ends_of_events(values)
    if values.ndim != 2 or values.shape[1] != 2:
        return None
    require_complete_target(y, numeric=True)
    ends = values.astype(np.float64)
    _require(ends[:, 0] <= ends[:, 1], "a low end above the high end; swap them")
    _require(np.isfinite(ends).any(axis=1), "two infinite ends, which say nothing; remove them")
    _require(
        (ends[:, 0] == ends[:, 1]) | np.isinf(ends).any(axis=1),
        "two different finite ends; pass the middle as both of them, or, if the columns are events "
        f"and times, {STRUCTURED}",
    )
    return ends


def _ends_of_events(y: NDArray[Any]) -> Ends:
    names = y.dtype.names
    assert names is not None
    if y.ndim != 1 or len(names) != 2 or y.dtype[0].kind != "b" or y.dtype[1].kind not in "fiu":
        raise ValueError(f"a structured y must be {STRUCTURED}, got the type {y.dtype}")
    event, time = y[names[0]], y[names[1]]
    require_complete_target(time)
    low = time.astype(np.float64)
    return np.stack([low, np.where(event, low, np.inf)], axis=1)


def _require(holds: Any, what: str) -> None:
    if not holds.all():
        rows = np.flatnonzero(~holds)
        count = f"{rows.size:,} of {holds.size:,} rows"
        raise ValueError(f"y has {count}, first row {rows[0]}, with {what}")
