"""CSV: numbers between commas, or between tabs in a .tsv file; labels may be any text.

NumPy's reader does the work. Where it fails, or where a value is missing, the file is read again
record by record, to tell the line.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm.io.files import ending, opened
from hssvm.io.table import target_column
from hssvm.kernels.base import Floats

_MISSING = {"", "?", "na", "n/a", "nan", "null", "none"}


@dataclass(frozen=True)
class _Layout:
    n_columns: int
    names: list[str] | None
    label: int | None  # its column
    n_above: int  # lines of the header

    def column(self, j: int) -> str:
        return f"column {j if self.names is None else repr(self.names[j])}"


def read_delimited(
    path: Path, dtype: np.dtype[Any], target: str | int | None
) -> tuple[Floats, NDArray[Any] | None]:
    """X and y of a file."""
    layout = _layout(path, target)
    labels: list[str] = []

    def keep(label: str) -> float:
        labels.append(label.strip())
        return 0.0

    try:
        with _text(path) as text:
            table = np.loadtxt(
                islice(text, layout.n_above, None),
                dtype=dtype,
                comments=None,
                delimiter=_delimiter(path),
                quotechar='"',
                converters=None if layout.label is None else {layout.label: keep},
                ndmin=2,
                encoding=None,
            )
    except ValueError as error:
        _explain(path, layout, dtype, numeric_labels=False)
        raise ValueError(f"{path}: {error}") from error
    y, numeric = _labels(labels)
    if not np.isfinite(table).all() or "" in labels or (numeric and not np.isfinite(y).all()):
        _explain(path, layout, dtype, numeric)
    return (table, None) if layout.label is None else (np.delete(table, layout.label, axis=1), y)


def _layout(path: Path, target: str | int | None) -> _Layout:
    records = _records(path)
    line, first = next(records, (0, []))
    _, second = next(records, (0, []))
    if not first:
        raise ValueError(f"{path} has no rows")
    has_header = isinstance(target, str) or any(
        _number(above) is None and _number(below) is not None
        for above, below in zip(first, second, strict=False)
    )
    if has_header and not second:
        raise ValueError(f"{path} has no rows below its header")
    names = first if has_header else None
    label = target_column(path, target, len(first), names)
    return _Layout(len(first), names, label, line if has_header else 0)


def _labels(labels: list[str]) -> tuple[NDArray[Any], bool]:
    """Labels as numbers if all of them are, and whether."""
    numbers = [_number(label) for label in labels]
    if None in numbers:
        return np.array(labels, dtype=np.str_), False
    return np.array(numbers, dtype=np.float64), True


def _explain(path: Path, layout: _Layout, dtype: np.dtype[Any], numeric_labels: bool) -> None:
    """Raise ValueError for the first record that cannot be used."""
    largest = float(np.finfo(dtype).max)
    for line, fields in _records(path):
        if line <= layout.n_above:
            continue
        where = f"{path}, line {line}"
        if len(fields) != layout.n_columns:
            raise ValueError(
                f"{where}: {len(fields)} fields in place of {layout.n_columns}; complete or drop "
                "the line"
            )
        for j, field in enumerate(fields):
            value = _number(field)
            if j == layout.label and field and not numeric_labels:
                continue
            if (value is None or math.isnan(value)) and field.lower() in _MISSING:
                raise ValueError(
                    f"{where}: no value in {layout.column(j)}; impute it or drop the line"
                )
            if value is None or not math.isfinite(value):
                raise ValueError(
                    f"{where}: {field[:40]!r} in {layout.column(j)} is not a finite number; write "
                    "it as one, or name the column of labels by target"
                )
            if abs(value) > largest and j != layout.label:
                raise ValueError(
                    f"{where}: {field[:40]!r} in {layout.column(j)} is too large for {dtype}; read "
                    "with dtype=np.float64"
                )


def _number(field: str) -> float | None:
    try:
        return None if "_" in field else float(field)
    except ValueError:
        return None


def _delimiter(path: Path) -> str:
    return "\t" if ending(path) == ".tsv" else ","


def _records(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The number of its last line and the fields of every record that is not empty."""
    with _text(path) as text:
        reader = csv.reader(text, delimiter=_delimiter(path))
        try:
            for fields in reader:
                if fields:
                    yield reader.line_num, [field.strip() for field in fields]
        except csv.Error as error:
            raise ValueError(f"{path}, line {reader.line_num}: {error}") from error


@contextmanager
def _text(path: Path) -> Iterator[io.TextIOWrapper]:
    with opened(path) as file, io.TextIOWrapper(file, "utf-8-sig", newline="") as text:
        try:
            yield text
        except UnicodeDecodeError as error:
            raise ValueError(f"{path} is not UTF-8 text ({error}); convert it") from error
