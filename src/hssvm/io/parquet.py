"""Parquet files, read by pyarrow."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm.io.columns import ColumnRule
from hssvm.io.files import Source
from hssvm.io.table import Table, as_features, as_labels


def read_parquet(source: Source, dtype: np.dtype[Any], rule: ColumnRule) -> Table:
    """Read a Parquet file."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError("Parquet needs pyarrow: pip install hssvm[parquet]") from error
    with source.open() as file:
        try:
            # Not in threads of Arrow: after an error they may outlive this call, and then end the
            # process, if the interpreter exits before they have released the file.
            table = pyarrow.parquet.ParquetFile(file, pre_buffer=False).read(use_threads=False)
        except (pyarrow.ArrowException, OSError) as error:
            raise ValueError(f"{source} cannot be read as Parquet: {error}") from error
    columns = rule.choose(source, table.num_columns, table.column_names)
    values = np.empty((table.num_rows, len(columns.features)), dtype=dtype)
    with np.errstate(over="ignore"):
        for to, j in enumerate(columns.features):
            values[:, to] = _numbers(source, table, j)
    return Table.of(
        columns,
        as_features(source, values, dtype),
        None if columns.label is None else as_labels(source, _column(source, table, columns.label)),
        None if columns.weight is None else _numbers(source, table, columns.weight),
    )


def _numbers(source: Source, table: Any, j: int) -> NDArray[Any]:
    values = _column(source, table, j)
    if values.dtype.kind not in "fiub":
        raise ValueError(
            f"{source}: column {table.column_names[j]!r} has type {table.schema.field(j).type} "
            "instead of numbers; encode it as numbers, drop it, or pass it as target if it is the "
            "label"
        )
    return values


def _column(source: Source, table: Any, j: int) -> NDArray[Any]:
    """Return column `j` of a table, (n,); raise ValueError if it has missing values."""
    column = table.column(j)
    if column.null_count:
        row = column.is_null().to_pylist().index(True)
        raise ValueError(
            f"{source}: column {table.column_names[j]!r} has no value in row {row}; impute it or "
            "drop the row"
        )
    values: NDArray[Any] = column.to_numpy()
    if values.dtype == object and all(isinstance(value, str) for value in values):
        return values.astype(np.str_)
    return values
