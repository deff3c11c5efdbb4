"""Parquet files, read by pyarrow.

Arrow's threads are not used: after an error they may outlive the call, and end the process if the
interpreter exits before they have released the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm.io.columns import ColumnRule
from hssvm.io.files import Source
from hssvm.io.table import NotNumbersError, Table, as_features, as_labels

PART_ROWS = 2**17
"""Maximum number of rows of a part of a file."""


def read_parquet(source: Source, dtype: np.dtype[Any], rule: ColumnRule) -> Table:
    """Read a Parquet file."""
    return _convert(source, read_arrow(source), dtype, rule)


def read_parquet_parts(source: Source, dtype: np.dtype[Any], rule: ColumnRule) -> Iterator[Table]:
    """Read a Parquet file, some rows at a time."""
    first = 0
    for part in read_arrow_parts(source):
        yield _convert(source, part, dtype, rule, first)
        first += part.num_rows


def read_arrow(source: Source) -> Any:
    """Read a Parquet file as an Arrow table."""
    parquet = import_parquet()
    with source.open() as file, as_value_error(source):
        return _without_index(parquet.ParquetFile(file, pre_buffer=False).read(use_threads=False))


def read_arrow_parts(source: Source) -> Iterator[Any]:
    """Read a Parquet file as Arrow tables of some rows each."""
    import pyarrow

    parquet, n_rows = import_parquet(), 0
    with source.open() as file:
        with as_value_error(source):
            # without buffers, a whole column of a row group would be in memory
            opened = parquet.ParquetFile(file, buffer_size=2**20, pre_buffer=False)
            batches = opened.iter_batches(PART_ROWS, use_threads=False)
        while True:
            with as_value_error(source):
                batch = next(batches, None)
            if batch is None:
                break
            yield _without_index(pyarrow.Table.from_batches([batch]))
            n_rows += batch.num_rows
    if n_rows == 0:
        raise ValueError(f"{source} has no rows")


def _without_index(table: Any) -> Any:
    """Leave out the nameless index of a pandas frame; one with a name is a column."""
    named = [
        name for name in table.column_names if not re.fullmatch("__index_level_[0-9]+__", name)
    ]
    return table.select(named).replace_schema_metadata(None)


def import_parquet() -> Any:
    """Return the module `pyarrow.parquet`."""
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError("Parquet needs pyarrow: pip install hssvm[parquet]") from error
    return pyarrow.parquet


@contextmanager
def as_value_error(source: Source, format: str = "Parquet") -> Iterator[None]:
    """Context in which an error of pyarrow is a ValueError that names the file."""
    import pyarrow

    try:
        yield
    except (pyarrow.ArrowException, OSError) as error:
        raise ValueError(f"{source} cannot be read as {format}: {error}") from error


def _convert(
    source: Source, table: Any, dtype: np.dtype[Any], rule: ColumnRule, first: int = 0
) -> Table:
    """Return the rows of an Arrow table, which begins at row `first` of the file."""
    columns = rule.choose(source, table.num_columns, table.column_names)
    values = np.empty((table.num_rows, len(columns.features)), dtype=dtype)
    with np.errstate(over="ignore"):
        for to, j in enumerate(columns.features):
            values[:, to] = numbers_of(source, table, j, first)
    label, weight = columns.label, columns.weight
    return Table.of(
        columns,
        as_features(source, values, dtype, first),
        None if label is None else as_labels(source, column_of(source, table, label, first), first),
        None if weight is None else numbers_of(source, table, weight, first),
    )


def numbers_of(source: Source, table: Any, j: int, first: int) -> NDArray[Any]:
    """Return column `j` of a table, (n,); raise ValueError unless it has numbers in all rows."""
    values = column_of(source, table, j, first)
    if values.dtype.kind not in "fiub":
        raise NotNumbersError(
            f"{source}: column {table.column_names[j]!r} has type {table.schema.field(j).type} "
            "instead of numbers; encode it as numbers, drop it, or pass it as target if it is the "
            "label"
        )
    return values


def column_of(source: Source, table: Any, j: int, first: int) -> NDArray[Any]:
    """Return column `j` of a table, (n,); raise ValueError if it has missing values."""
    import pyarrow

    column = table.column(j)
    if pyarrow.types.is_decimal(column.type):
        column = column.cast(pyarrow.float64())
    if column.null_count:
        row = first + column.is_null().to_pylist().index(True)
        raise NotNumbersError(
            f"{source}: column {table.column_names[j]!r} has no value in row {row}; impute it or "
            "drop the row"
        )
    values: NDArray[Any] = column.to_numpy()
    if values.dtype == object and all(isinstance(value, str) for value in values):
        return values.astype(np.str_)
    return values
