"""From a table to X and y: which column has the labels, and what each may hold."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm.kernels.base import Floats


def target_column(
    path: Path, target: str | int | None, n_columns: int, names: Sequence[str] | None
) -> int | None:
    """Number of the column of labels, None if there is none.

    `target` is that of `hssvm.io.read`; `names` are those of the columns, if they have any.
    """
    if target is False:
        return None
    if isinstance(target, str):
        if names is None:
            raise ValueError(f"{path}: its columns have no names; pass the number of {target!r}")
        if target not in names:
            known = ", ".join(map(repr, names[:10])) + (", ..." if len(names) > 10 else "")
            raise ValueError(f"{path} has no column {target!r}; its columns are {known}")
        number = names.index(target)
    else:
        number = 0 if target is None else target
    if not -n_columns <= number < n_columns:
        raise ValueError(f"{path} has no column {number}; it has {n_columns}, the first is 0")
    if n_columns == 1:
        raise ValueError(
            f"{path} has one column, which would be that of the labels; pass target=False if it "
            "is a feature, and look for what separates the columns if there should be more"
        )
    return number % n_columns


def as_features(path: Path, values: NDArray[Any], dtype: np.dtype[Any]) -> Floats:
    """Return the (n, p) numbers as X, all of them finite."""
    if values.ndim != 2 or values.dtype.kind not in "fiub":
        raise ValueError(
            f"{path}: expected a table of numbers, got shape {values.shape} of {values.dtype}"
        )
    if values.shape[0] == 0:
        raise ValueError(f"{path} has no rows")
    with np.errstate(over="ignore"):
        X: Floats = np.ascontiguousarray(values, dtype=dtype)
    finite = np.isfinite(X)
    if not finite.all():
        row, column = divmod(int(np.argmin(finite)), X.shape[1])
        raise ValueError(
            f"{path}: feature {column} of row {row} is {values[row, column]}; impute it or drop "
            "the row, or read with dtype=np.float64 if it is a number beyond float32"
        )
    return X


def as_labels(path: Path, values: NDArray[Any]) -> NDArray[Any]:
    """Return the (n,) labels as y: numbers as float64, all of them finite, or strings."""
    if values.dtype.kind in "US":
        return values.astype(np.str_)
    if values.dtype.kind not in "fiub":
        raise ValueError(f"{path}: labels are numbers or strings, not {values.dtype}")
    y = values.astype(np.float64)
    if not np.isfinite(y).all():
        row = int(np.argmin(np.isfinite(y)))
        raise ValueError(f"{path}: the label of row {row} is {y[row]}; set it or drop the row")
    return y
