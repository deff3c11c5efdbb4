"""LIBSVM text: ``label index:value index:value ...`` in each line, with indices from 1."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse

from hssvm import _core
from hssvm.io.files import Source
from hssvm.io.table import Table

MAX_FEATURES = 2**31 - 1
_CHUNK = 1 << 24  # bytes of text that are parsed at a time


def read_libsvm(source: Source, n_features: int | None, dtype: np.dtype[Any]) -> Table:
    """Read X, dense if more than half full, else CSR, and y, None if no line has a label."""
    text = _parser(n_features, dtype)
    for _ in _fed(source, text):
        pass
    table = _take(text, n_features)
    if table is None:
        raise ValueError(f"{source} has no rows")
    return table


def read_libsvm_parts(source: Source, n_features: int, dtype: np.dtype[Any]) -> Iterator[Table]:
    """Read some rows at a time."""
    text, empty = _parser(n_features, dtype), True
    for _ in _fed(source, text):
        table = _take(text, n_features)
        if table is not None:
            yield table
            empty = False
    if empty:
        raise ValueError(f"{source} has no rows")


def _parser(n_features: int | None, dtype: np.dtype[Any]) -> Any:
    parser = _core.LibsvmText_f32 if dtype == np.float32 else _core.LibsvmText_f64
    return parser(MAX_FEATURES if n_features is None else n_features)


def _fed(source: Source, text: Any) -> Iterator[None]:
    """Parse the text, and yield after every chunk."""
    with source.unpacked() as file:
        lines = (file.read(_CHUNK) + file.readline()).removeprefix(codecs.BOM_UTF8)
        while lines:
            try:
                text.feed(lines)
            except ValueError as error:
                raise ValueError(f"{source}, {error}") from None
            yield
            lines = file.read(_CHUNK) + file.readline()


def _take(text: Any, n_features: int | None) -> Table | None:
    """Return the rows that were parsed since the last call, if any."""
    y, counts, columns, values, width = text.take()
    if counts.size == 0:
        return None
    indptr = np.concatenate([[0], np.cumsum(counts)])
    shape = counts.size, n_features or width
    X = scipy.sparse.csr_array((values, columns, indptr), shape=shape)
    return Table(X.toarray() if 2 * X.nnz > shape[0] * shape[1] else X, y)
