"""Data files as rows of numbers: tables with other columns pass an encoder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hssvm.cli.parsing import given, parse_separator
from hssvm.cli.progress import ProgressLine
from hssvm.cli.streams import data_source
from hssvm.io.columns import ColumnRule, Known, require_distinct
from hssvm.io.files import Source
from hssvm.io.frames import read_frame, read_frame_parts
from hssvm.io.load import read_parts, read_table
from hssvm.io.table import NotNumbersError, Table
from hssvm.loading.parts import used_names
from hssvm.messages import api, value_error
from hssvm.tables import TableEncoder
from hssvm.tables.vectorizer import import_skrub


@dataclass(frozen=True)
class Layout:
    """How files are read.

    Attributes
    ----------
    format, separator : str, optional
    dtype : data type
        Precision of the features.
    """

    format: str | None
    separator: str | None
    dtype: Any

    def read(self, source: Source, rule: ColumnRule) -> Table:
        """Read a file of numbers."""
        return read_table(source, rule=rule, **self._options())

    def read_parts(self, source: Source, rule: Known) -> Iterator[Table]:
        """Read a file of numbers some rows at a time."""
        return read_parts(source, rule=rule, **self._options())

    def format_of(self, source: Source) -> str:
        """Return the format of a file whose columns may be encoded."""
        format = source.format if self.format is None else self.format
        if format not in ("csv", "parquet"):
            raise value_error(
                f"{source}: only columns of CSV and Parquet files can be {api:categorical} or "
                f"{api:numeric}"
            )
        return format

    def _options(self) -> dict[str, Any]:
        separator = parse_separator(self.separator)
        return {"format": self.format, "separator": separator, "dtype": self.dtype}


def read_training(
    path: Path,
    progress: ProgressLine,
    rule: ColumnRule,
    layout: Layout,
    encoder: TableEncoder,
    *,
    labels: bool,
    encode: bool = False,
) -> tuple[Table, TableEncoder | None]:
    """Read rows to train on.

    The columns are encoded, and `encoder` is fitted, if `encode` asks for it, if they are not
    numbers without gaps, or if the parameters of the encoder name some of them.
    """
    source = data_source(path)
    with progress.reading(source.fraction_read):
        if not (encode or encoder.categorical or encoder.numeric):
            try:
                return _require_trainable(layout.read(source, rule), path, labels), None
            except NotNumbersError as error:
                _require_skrub(error)
        frame = read_frame(
            source, layout.format_of(source), rule, parse_separator(layout.separator)
        )
    X = encoder.fit_transform(frame.features, frame.y).astype(layout.dtype)
    return _require_trainable(frame.encoded(X), path, labels), encoder


def read_known(
    path: Path, progress: ProgressLine, rule: Known, layout: Layout, encoder: TableEncoder | None
) -> Table:
    """Read rows with the columns of a model."""
    source = data_source(path)
    with progress.reading(source.fraction_read):
        if encoder is None:
            return layout.read(source, rule)
        frame = read_frame(
            source, layout.format_of(source), rule, parse_separator(layout.separator)
        )
    return frame.encoded(np.asarray(encoder.transform(frame.features), layout.dtype))


def read_known_parts(
    source: Source, rule: Known, layout: Layout, encoder: TableEncoder | None
) -> Iterator[Table]:
    """Read rows with the columns of a model, some rows at a time."""
    if encoder is None:
        yield from layout.read_parts(source, rule)
        return
    separator = parse_separator(layout.separator)
    for frame in read_frame_parts(source, layout.format_of(source), rule, separator):
        yield frame.encoded(np.asarray(encoder.transform(frame.features), layout.dtype))


def make_encoder(
    categorical: list[str] | None,
    numeric: list[str] | None,
    seed: int | None = None,
    encoder: TableEncoder | None = None,
) -> TableEncoder:
    """Return an encoder that is not fitted, with the parameters of the one of a model if given."""
    known = {} if encoder is None else encoder.get_params()
    options = given(categorical=categorical or None, numeric=numeric or None, random_state=seed)
    return TableEncoder(**{**known, **options})


def columns_of(table: Table, encoder: TableEncoder | None, ignored: Sequence[str | int]) -> Known:
    """Return the rule that selects the columns of training rows from another file."""
    names = table.feature_names if encoder is None else used_names(encoder)
    n_features = table.X.shape[1] if names is None else len(names)
    return Known(n_features, None if names is None else list(names), table.target, ignored=ignored)


def _require_skrub(error: NotNumbersError) -> None:
    try:
        import_skrub()
    except ImportError:
        raise ImportError(
            f"{error}; or let hssvm encode the columns: pip install 'hssvm[tables]'"
        ) from error


def _require_trainable(table: Table, path: Path, labels: bool) -> Table:
    """Refuse a table without labels, or with duplicate column names."""
    if labels and table.y is None:
        raise ValueError(f"{path} has no labels; add them, or train with --task one-class")
    if table.feature_names is not None:
        require_distinct(str(path), table.feature_names, table.feature_names)
    return table
