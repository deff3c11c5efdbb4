"""Validation of targets that may be censored."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _check_y

from hssvm.estimators.inputs.containers import as_known
from hssvm.estimators.inputs.validation import require_complete_target
from hssvm.training.data.censoring import Ends

STRUCTURED = (
    "a structured array of events (bool) and times, such as sksurv.util.Surv.from_arrays(event, "
    "time) returns"
)
OR_EVENTS = f"or, if the columns are events and times, pass {STRUCTURED}"


def as_ends(y: Any) -> Ends:
    """Convert targets to their ends, (n, 2); raise ValueError if they are invalid.

    Parameters
    ----------
    y : array-like
        (n, 2), low and high ends; a structured array with the fields event and time; or a vector
        of known targets.
    """
    y = as_known(y)
    values = np.asarray(y)
    if values.dtype.names is not None:
        return _ends_of_events(values)
    require_complete_target(y, numeric=True)
    if values.ndim != 2 or values.shape[1] != 2:
        known: NDArray[np.float64] = _check_y(y, y_numeric=True).astype(np.float64)
        return np.stack([known, known], axis=1)
    if values.dtype.kind not in "fiu" and any(isinstance(v, bool | np.bool_) for v in values.flat):
        raise ValueError(f"y has a column of True and False; pass low and high ends, {OR_EVENTS}")
    if values.dtype.kind == "c":
        raise ValueError(f"y must be real, got {values.dtype}")
    ends = values.astype(np.float64)
    _require(ends[:, 0] <= ends[:, 1], f"a low end above the high end; swap them, {OR_EVENTS}")
    _require(
        np.isfinite(ends).any(axis=1),
        "two infinite ends, which say nothing; remove them, and take no logarithm of 0",
    )
    _require(
        (ends[:, 0] == ends[:, 1]) | np.isinf(ends).any(axis=1),
        f"two different finite ends; pass the middle as both of them, {OR_EVENTS}",
    )
    return ends


def require_both_sides(ends: Ends) -> None:
    """Raise ValueError if all targets lack their low end, or all lack their high end."""
    for side, name in ((0, "at most"), (1, "at least")):
        if np.isinf(ends[:, side]).all():
            raise ValueError(
                f"all targets are censored on the same side, {name} a value, so that predictions "
                "beyond all of them have no loss; pass some rows whose targets are known"
            )


def _ends_of_events(y: NDArray[Any]) -> Ends:
    names = y.dtype.names
    assert names is not None
    if y.ndim != 1 or len(names) != 2 or y.dtype[0].kind != "b" or y.dtype[1].kind not in "fiu":
        raise ValueError(f"a structured y must be {STRUCTURED}, got the type {y.dtype}")
    event, time = y[names[0]], y[names[1]]
    require_complete_target(time)
    low = time.astype(np.float64)
    _require(np.isfinite(low), "an infinite time; take no logarithm of 0")
    return np.stack([low, np.where(event, low, np.inf)], axis=1)


def _require(holds: Any, what: str) -> None:
    if not holds.all():
        rows = np.flatnonzero(~holds)
        count = f"{rows.size:,} of {holds.size:,} rows"
        raise ValueError(f"y has {count}, first row {rows[0]}, with {what}")
