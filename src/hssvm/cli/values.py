"""Files of Shapley values, written part by part: CSV or Parquet."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from hssvm.cli.predictions import PARQUET, ParquetColumns, output_file
from hssvm.cli.streams import STREAM

Columns = dict[str, NDArray[np.float64]]

BASE = "base_value"

N_LISTED = 5
"""Number of features with the largest mean values that are listed."""


def columns_of(explanation: Any) -> Columns:
    """Return the columns of a file: the values of each feature, and the base values.

    With several outputs, there is such a column for each of them.
    """
    names = explanation.feature_names
    base = BASE
    while base in names:
        base += "_"
    if explanation.output_names is None:
        values = dict(zip(names, np.ascontiguousarray(explanation.values.T), strict=True))
        return {**values, base: explanation.base_values}
    columns: Columns = {}
    for c, output in enumerate(explanation.output_names):
        for j, name in enumerate([*names, base]):
            one = explanation.base_values if name == base else explanation.values[:, j]
            columns[f"{name}_{output}"] = np.ascontiguousarray(one[:, c])
    return columns


class MeanValues:
    """Mean absolute values, over parts."""

    def __init__(self) -> None:
        self._total: Any = 0.0
        self._n_rows = 0
        self._names: list[str] = []

    def add(self, explanation: Any) -> None:
        """Add the values of a part."""
        self._names = explanation.feature_names
        self._total = self._total + explanation.importances * len(explanation)
        self._n_rows += len(explanation)

    def line(self) -> str | None:
        """Describe the features with the largest values, if there are rows."""
        if self._n_rows == 0:
            return None
        means = self._total / self._n_rows
        order = np.argsort(-means, kind="stable")[:N_LISTED]
        shown = ", ".join(f"{self._names[j]} {means[j]:.3g}" for j in order)
        more = ", ..." if means.size > N_LISTED else ""
        return f"{self._n_rows:,} rows; mean absolute values: {shown}{more}"


class CsvColumns:
    """Writes a header and a line per row."""

    def __init__(self, file: IO[bytes] | None) -> None:
        self._file = file  # None is stdout
        self._begun = False

    def write_columns(self, columns: Columns) -> None:
        """Write some rows."""
        text = io.StringIO()
        lines = csv.writer(text, lineterminator="\n")
        if not self._begun:
            lines.writerow(columns)
        self._begun = True
        rows = np.column_stack(list(columns.values())).tolist()
        lines.writerows([f"{value:.9g}" for value in row] for row in rows)
        if self._file is None:
            sys.stdout.write(text.getvalue())
            sys.stdout.flush()
        else:
            self._file.write(text.getvalue().encode())


@contextmanager
def writing_columns(path: Path) -> Iterator[CsvColumns | ParquetColumns]:
    """Context with a writer to a file, which appears when it is complete, or to stdout.

    Parameters
    ----------
    path : path
        Parquet if it ends with .parquet, else CSV.
    """
    if path == STREAM:
        yield CsvColumns(None)
        return
    with output_file(path) as file:
        if path.suffix.lower() == PARQUET:
            with closing(ParquetColumns(file)) as writer:
                yield writer
        else:
            yield CsvColumns(file)
