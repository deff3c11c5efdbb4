"""CSV files: numbers or booleans, separated by commas, or tabs in .tsv files; labels may be text.

The files are read by `numpy.loadtxt`. If it fails, or if a value is missing, the file is read again
record by record, to find the line.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm.io.columns import ColumnRule, Columns
from hssvm.io.files import Source
from hssvm.io.table import NotNumbersError, Table
from hssvm.messages import Message, api, value_error

_BOOLEANS = {"true": 1.0, "false": 0.0}
_SEPARATORS = ",;\t|"
_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d*,?\d+([eE][+-]?\d+)?\s*")
DECIMAL_COMMAS = "replace decimal commas by points"
_MISSING = {"", "?", "na", "n/a", "nan", "null", "none"}


@dataclass(frozen=True)
class Layout:
    """How a file is divided into records and columns."""

    separator: str
    columns: Columns
    n_above: int  # number of header lines
    booleans: set[int]  # features that are true or false in the first row


def read_delimited(
    source: Source, dtype: np.dtype[Any], rule: ColumnRule, separator: str | None
) -> Table:
    """Read a CSV file."""
    (table,) = read_delimited_parts(source, dtype, rule, separator, math.inf)
    return table


def read_delimited_parts(
    source: Source,
    dtype: np.dtype[Any],
    rule: ColumnRule,
    separator: str | None,
    part_rows: float,
) -> Iterator[Table]:
    """Read at most `part_rows` rows at a time.

    Labels are numbers if all of them are; with several parts, the first part decides.
    """
    layout = layout_of(source, rule, separator)
    columns = layout.columns
    labels: list[str] = []

    def keep(label: str) -> float:
        labels.append(label.strip())
        return 0.0

    converters: dict[int | str, Any] = dict.fromkeys(layout.booleans, _boolean)
    converters |= dict.fromkeys(columns.unused, lambda field: 0.0)
    if columns.label is not None:
        converters[columns.label] = keep
    numeric: bool | None = None
    with _text(source) as text:
        lines = islice(text, layout.n_above, None)
        while (line := next((line for line in lines if line.strip("\r\n")), None)) is not None:
            labels.clear()
            try:
                table = np.loadtxt(
                    _whole_records(chain([line], lines), layout.separator, part_rows),
                    dtype=dtype,
                    comments=None,
                    delimiter=layout.separator,
                    quotechar='"',
                    converters=converters or None,
                    ndmin=2,
                    encoding=None,
                )
            except ValueError as error:
                _explain(source, layout, dtype, numeric_labels=False)
                raise ValueError(f"{source}: {error}") from error
            y, numeric = convert_labels(source, labels, numeric)
            usable = table.shape[1] == columns.n and np.isfinite(table).all() and "" not in labels
            if not usable or (numeric and not np.isfinite(y).all()):
                _explain(source, layout, dtype, numeric)
            yield Table.of(
                columns,
                np.take(table, columns.features, axis=1),
                None if columns.label is None else y,
                None if columns.weight is None else table[:, columns.weight],
            )


def layout_of(source: Source, rule: ColumnRule, separator: str | None) -> Layout:
    """Find the separator, the header and the columns of a file from its first records."""
    between = separator or ("\t" if source.ending == ".tsv" else ",")
    records = _records(source, between)
    line, first = next(records, (0, []))
    _, second = next(records, (0, []))
    if not first:
        raise ValueError(f"{source} has no rows")
    if separator is None and len(first) == 1:
        for other in _SEPARATORS:
            if other in first[0]:
                raise value_error(
                    f"{source} has only one column with the separator {between!r}; did you mean "
                    f"{api:separator={other!r}}?"
                )
    has_header = rule.is_header(first) or any(
        _looks_numeric(below) and not _looks_numeric(above)
        for above, below in zip(first, second, strict=False)
    )
    if has_header and not second:
        raise ValueError(f"{source} has no rows below its header")
    columns = rule.choose(source, len(first), first if has_header else None)
    row = second if has_header else first
    booleans = {j for j in columns.features if row[j : j + 1] and row[j].lower() in _BOOLEANS}
    return Layout(between, columns, line if has_header else 0, booleans)


def _whole_records(lines: Iterator[str], separator: str, n: float) -> Iterator[str]:
    """Yield n lines, or more if the last of them ends inside quotes.

    Between the lines of a generator, other threads and signal handlers can run.
    """
    quoted = False
    for count, line in enumerate(lines, 1):
        yield line
        if '"' in line:
            for field in line.split(separator):
                if quoted or field.startswith('"'):  # elsewhere it is a character like any other
                    quoted ^= field.count('"') % 2 == 1
        if count >= n and not quoted:
            return


def convert_labels(
    source: Source, labels: list[str], numeric: bool | None
) -> tuple[NDArray[Any], bool]:
    """Convert the labels to numbers if all of them are, and return whether they are.

    `numeric` is the answer for earlier rows, if there are any.
    """
    numbers = [_number(label) for label in labels]
    if numeric and None in numbers:
        raise ValueError(
            f"{source}: the label {labels[numbers.index(None)][:40]!r} is not a number, but the "
            "labels of the first rows are; correct it, or leave out the labels"
        )
    if numeric is False or None in numbers:
        return np.array(labels, dtype=np.str_), False
    return np.array(numbers, dtype=np.float64), True


def _explain(source: Source, layout: Layout, dtype: np.dtype[Any], numeric_labels: bool) -> None:
    """Raise ValueError for the first invalid record."""
    largest = float(np.finfo(dtype).max)
    columns, unused = layout.columns, set(layout.columns.unused)
    encodable = ValueError if columns.names is None else NotNumbersError
    for line, fields in _records(source, layout.separator):
        if line <= layout.n_above:
            continue
        where = f"{source}, line {line}"
        if len(fields) != columns.n:
            raise ValueError(
                f"{where}: {len(fields)} fields instead of {columns.n}; complete or drop the line"
            )
        for j, field in enumerate(fields):
            value = (_value if j in layout.booleans else _number)(field)
            if j in unused or (j == columns.label and field and not numeric_labels):
                continue
            if (value is None or math.isnan(value)) and field.lower() in _MISSING:
                raise encodable(
                    f"{where}: no value in {columns.title(j)}; impute it or drop the line"
                )
            if value is None or not math.isfinite(value):
                remedy = _remedy(fields, field, layout.separator)
                is_text = value is None and not remedy.startswith(DECIMAL_COMMAS)
                problem = f"{field[:40]!r} in {columns.title(j)} is not a finite number; {remedy}"
                raise (encodable if is_text else ValueError)(Message(f"{where}: {problem}"))
            if abs(value) > largest and j != columns.label:
                raise value_error(
                    f"{where}: {field[:40]!r} in {columns.title(j)} is too large for {dtype}; "
                    f"{api:read with dtype=np.float64}"
                )


def _remedy(fields: list[str], field: str, separator: str) -> str:
    if separator != "," and _DECIMAL_COMMA.fullmatch(field):
        return DECIMAL_COMMAS
    for other in _SEPARATORS:
        if other in field:
            values = separator.join(fields).split(other)
            if separator == "," and all(map(_DECIMAL_COMMA.fullmatch, values)):
                return f"{DECIMAL_COMMAS}, and pass {api:separator={other!r}}"
            return f"did you mean {api:separator={other!r}}?"
    return f"convert it to a number, {api:or name the column of labels by target}"


def _number(field: str) -> float | None:
    try:
        return None if "_" in field else float(field)
    except ValueError:
        return None


def _value(field: str) -> float | None:
    """Convert a number or a boolean."""
    return _BOOLEANS.get(field.lower(), _number(field))


def _looks_numeric(field: str) -> bool:
    return _value(field) is not None or _DECIMAL_COMMA.fullmatch(field) is not None


def _boolean(field: str) -> float:
    value = _value(field.strip())
    if value is None:
        raise ValueError(f"{field!r} is neither true nor false")
    return value


def _records(source: Source, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the last line number and the fields of every nonempty record."""
    with _text(source) as text:
        reader = csv.reader(text, delimiter=separator)
        try:
            for fields in reader:
                if fields:
                    yield reader.line_num, [field.strip() for field in fields]
        except csv.Error as error:
            raise ValueError(f"{source}, line {reader.line_num}: {error}") from error


@contextmanager
def _text(source: Source) -> Iterator[io.TextIOWrapper]:
    with source.unpacked() as file, io.TextIOWrapper(file, "utf-8-sig", newline="") as text:
        try:
            yield text
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{source} is not UTF-8 text ({error}); convert it to UTF-8"
            ) from error
