"""Parquet, by pyarrow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm.io.table import as_features, as_labels, target_column
from hssvm.kernels.base import Floats


def read_parquet(
    path: Path, dtype: np.dtype[Any], target: str | int | None
) -> tuple[Floats, NDArray[Any] | None]:
    """X and y of the columns of a file."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError("Parquet needs pyarrow: pip install hssvm[parquet]") from error
    with open(path, "rb") as file:
        try:
            table = pyarrow.parquet.read_table(file)
        except (pyarrow.ArrowException, OSError) as error:
            raise ValueError(f"{path} cannot be read as Parquet: {error}") from error
    label = target_column(path, target, table.num_columns, table.column_names)
    features = [j for j in range(table.num_columns) if j != label]
    values = np.empty((table.num_rows, len(features)), dtype=dtype)
    with np.errstate(over="ignore"):
        for to, j in enumerate(features):
            values[:, to] = _numbers(path, table, j)
    X = as_features(path, values, dtype)
    if label is None:
        return X, None
    return X, as_labels(path, _column(path, table, label))


def _numbers(path: Path, table: Any, j: int) -> NDArray[Any]:
    values = _column(path, table, j)
    if values.dtype.kind not in "fiub":
        raise ValueError(
            f"{path}: column {table.column_names[j]!r} has {table.schema.field(j).type} in place "
            "of numbers; encode it as numbers or drop it, or pass it as target if it is the label"
        )
    return values


def _column(path: Path, table: Any, j: int) -> NDArray[Any]:
    """Column number `j` of a table, (n,), without missing values."""
    column = table.column(j)
    if column.null_count:
        row = column.is_null().to_pylist().index(True)
        raise ValueError(
            f"{path}: column {table.column_names[j]!r} has no value in row {row}; impute it or "
            "drop the row"
        )
    values: NDArray[Any] = column.to_numpy()
    if values.dtype == object and all(isinstance(value, str) for value in values):
        return values.astype(np.str_)
    return values
