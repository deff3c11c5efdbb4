"""The targets whose means encode categories of many levels."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAX_CLASSES = 20
"""With more different targets, integers are values, and text has no means: each class would add a
feature to every column."""

MIN_ROWS_OF_CLASS = 5
"""Rows of the rarest class, so that each of five parts of the rows has one. If there are fewer,
numbers are values."""


@dataclass(frozen=True, eq=False)
class TableTargets:
    """Targets for `sklearn.preprocessing.TargetEncoder`.

    Attributes
    ----------
    y : (n,)
    kind : {'binary', 'multiclass', 'continuous', None}
        The parameter `target_type`; None if the targets have no useful means.
    """

    y: NDArray[Any]
    kind: str | None


def targets_of(y: Any) -> TableTargets:
    """Decide whether targets are classes or values.

    Parameters
    ----------
    y : (n,) array-like
    """
    y = np.asarray(y)
    if y.ndim != 1:
        raise ValueError(f"y must have one dimension, but it has {y.ndim}; pass y.ravel()")
    if y.dtype.kind == "O":
        all_numbers = all(isinstance(value, Real) and not isinstance(value, bool) for value in y)
        y = y.astype(np.float64 if all_numbers else str)
    distinct, counts = np.unique(y, return_counts=True)
    if y.dtype.kind == "f" and not np.isfinite(distinct).all():
        raise ValueError("y contains NaN or infinity; leave out these rows")
    rare = distinct.size > MAX_CLASSES or counts.min() < MIN_ROWS_OF_CLASS
    if y.dtype.kind in "iuf" and (rare or (distinct != np.round(distinct)).any()):
        return TableTargets(y.astype(np.float64), "continuous")
    if rare or distinct.size == 1:
        return TableTargets(y, None)
    return TableTargets(y, "binary" if distinct.size == 2 else "multiclass")
