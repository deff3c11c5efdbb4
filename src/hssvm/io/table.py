"""The contents of a data file, and the validation of its values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm.io.columns import Columns
from hssvm.io.files import Source
from hssvm.kernels.base import Floats, Rows
from hssvm.messages import api, value_error


class NotNumbersError(ValueError):
    """A table with column names has text or missing values, where all values must be numbers."""


@dataclass(frozen=True, eq=False)
class Table:
    """Rows with their labels, and the names of the columns.

    Attributes
    ----------
    X : (n, p) array or CSR array
    y, sample_weight : (n,) array or None
    feature_names : sequence of str, or None
        None if the file has no column names.
    target : str, int or None
        Name of the target column, or its index if the columns have no names; None if the file has
        no labels, or is not a table.
    unused : sequence of str
        Names or indices of columns that were not read.
    """

    X: Rows
    y: NDArray[Any] | None = None
    sample_weight: NDArray[np.float64] | None = None
    feature_names: Sequence[str] | None = None
    target: str | int | None = None
    unused: Sequence[str] = ()

    @classmethod
    def of(
        cls,
        columns: Columns,
        X: Floats,
        y: NDArray[Any] | None,
        sample_weight: NDArray[Any] | None,
    ) -> Table:
        """Return a table with the names of the selected columns."""
        weight = None if sample_weight is None else sample_weight.astype(np.float64)
        unused = [columns.title(j).removeprefix("column ") for j in columns.unused]
        return cls(X, y, weight, columns.feature_names, columns.target, unused)


def as_features(
    source: Source, values: NDArray[Any], dtype: np.dtype[Any], first: int = 0
) -> Floats:
    """Convert (n, p) values to X; raise ValueError unless they are finite numbers.

    The message names the row; the values begin at row `first` of the file.
    """
    if values.ndim != 2 or values.dtype.kind not in "fiub":
        raise ValueError(
            f"{source}: expected a table of numbers, got shape {values.shape} of {values.dtype}"
        )
    if values.shape[0] == 0:
        raise ValueError(f"{source} has no rows")
    with np.errstate(over="ignore"):
        X: Floats = np.ascontiguousarray(values, dtype=dtype)
    finite = np.isfinite(X)
    if not finite.all():
        row, column = divmod(int(np.argmin(finite)), X.shape[1])
        raise value_error(
            f"{source}: feature {column} of row {first + row} is {values[row, column]}; impute it "
            f"or drop the row, or {api:read with dtype=np.float64} if it is a number too large for "
            "float32"
        )
    return X


def as_labels(source: Source, values: NDArray[Any], first: int = 0) -> NDArray[Any]:
    """Convert (n,) labels to y: finite numbers to float64, or strings; `first` as above."""
    if values.dtype.kind in "US":
        return values.astype(np.str_)
    if values.dtype.kind not in "fiub":
        raise ValueError(f"{source}: labels must be numbers or strings, got {values.dtype}")
    y = values.astype(np.float64)
    if not np.isfinite(y).all():
        row = int(np.argmin(np.isfinite(y)))
        raise ValueError(
            f"{source}: the label of row {first + row} is {y[row]}; set it or drop the row"
        )
    return y
