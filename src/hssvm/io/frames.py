"""Rows of CSV and Parquet files whose columns may be text, dates or have gaps, as Arrow tables.

All fields of a CSV file are read as text, so that all parts of a file are read in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm.io.columns import ColumnRule, Columns, require_distinct
from hssvm.io.delimited import convert_labels, layout_of
from hssvm.io.files import Source
from hssvm.io.parquet import (
    as_value_error,
    column_of,
    import_parquet,
    numbers_of,
    read_arrow,
    read_arrow_parts,
)
from hssvm.io.table import Table, as_labels

BLOCK = 2**24
"""Bytes of a CSV file that are read at a time."""


@dataclass(frozen=True, eq=False)
class Frame:
    """Rows with columns of any kind, and their labels.

    Attributes
    ----------
    columns : Columns
        Which columns of the file these are.
    features : pyarrow.Table
    y, sample_weight : (n,) array or None
    """

    columns: Columns
    features: Any
    y: NDArray[Any] | None
    sample_weight: NDArray[Any] | None

    def encoded(self, X: NDArray[Any]) -> Table:
        """Return these rows with encoded features, which have no names."""
        whole = Table.of(self.columns, X, self.y, self.sample_weight)
        return Table(whole.X, whole.y, whole.sample_weight, None, whole.target, whole.unused)


def read_frame(source: Source, format: str, rule: ColumnRule, separator: str | None) -> Frame:
    """Read a whole file."""
    if format == "parquet":
        return _frame_of_parquet(source, read_arrow(source), rule, 0)
    import pyarrow

    columns, tables = _read_text(source, rule, separator)
    whole = pyarrow.concat_tables(tables)
    return _frame_of_text(source, columns, whole, 0, None)[0]


def read_frame_parts(
    source: Source, format: str, rule: ColumnRule, separator: str | None
) -> Iterator[Frame]:
    """Read a file some rows at a time."""
    first = 0
    if format == "parquet":
        for table in read_arrow_parts(source):
            yield _frame_of_parquet(source, table, rule, first)
            first += table.num_rows
        return
    columns, tables = _read_text(source, rule, separator)
    numeric: bool | None = None
    for table in tables:
        frame, numeric = _frame_of_text(source, columns, table, first, numeric)
        yield frame
        first += table.num_rows


def _read_text(
    source: Source, rule: ColumnRule, separator: str | None
) -> tuple[Columns, Iterator[Any]]:
    layout = layout_of(source, rule, separator)
    _require_names(source, layout.columns)
    return layout.columns, _text_parts(source, layout)


def _text_parts(source: Source, layout: Any) -> Iterator[Any]:
    """Yield the columns of some records, without the spaces around their text."""
    import_parquet()
    import pyarrow
    from pyarrow import compute, csv

    names = [str(j) for j in range(layout.columns.n)]
    n_rows = 0
    with source.unpacked() as file, as_value_error(source, "CSV"):
        reader = csv.open_csv(
            file,
            csv.ReadOptions(
                use_threads=False,
                block_size=BLOCK,
                skip_rows=layout.n_above,
                column_names=names,
            ),
            csv.ParseOptions(delimiter=layout.separator, newlines_in_values=True),
            csv.ConvertOptions(column_types=dict.fromkeys(names, pyarrow.string())),
        )
        for batch in reader:
            if batch.num_rows:
                columns = [compute.utf8_trim_whitespace(column) for column in batch.columns]
                yield pyarrow.table(columns, names)
                n_rows += batch.num_rows
    if n_rows == 0:
        raise ValueError(f"{source} has no rows")


def _frame_of_text(
    source: Source, columns: Columns, table: Any, first: int, numeric: bool | None
) -> tuple[Frame, bool | None]:
    """Return some records, and whether their labels are numbers."""
    y, weight = None, None
    if columns.label is not None:
        labels = table.column(columns.label).to_pylist()
        if "" in labels:
            raise ValueError(f"{source}: no label in row {first + labels.index('')}; drop the row")
        y, numeric = convert_labels(source, labels, numeric)
        y = as_labels(source, y, first)
    if columns.weight is not None:
        weight = _weights(source, table.column(columns.weight), columns.title(columns.weight))
    features = table.select(columns.features).rename_columns(columns.feature_names)
    return Frame(columns, features, y, weight), numeric


def _weights(source: Source, fields: Any, title: str) -> NDArray[np.float64]:
    try:
        return np.array(fields.to_pylist(), dtype=np.float64)
    except ValueError as error:
        raise ValueError(f"{source}: {title} of sample weights contains text ({error})") from error


def _frame_of_parquet(source: Source, table: Any, rule: ColumnRule, first: int) -> Frame:
    columns = rule.choose(source, table.num_columns, table.column_names)
    _require_names(source, columns)
    y, weight = None, None
    if columns.label is not None:
        y = as_labels(source, column_of(source, table, columns.label, first), first)
    if columns.weight is not None:
        weight = numbers_of(source, table, columns.weight, first)
    return Frame(columns, table.select(columns.features), y, weight)


def _require_names(source: Source, columns: Columns) -> None:
    if columns.feature_names is None:
        raise ValueError(
            f"{source} contains text or missing values, but has no column names; add a line with "
            "names above the rows"
        )
    require_distinct(source, columns.feature_names, columns.feature_names)
