"""NumPy files."""

from __future__ import annotations

import tokenize
import zipfile
import zlib
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from hssvm.io.columns import ColumnRule, Known
from hssvm.io.files import ALWAYS_ALLOWED, MAX_RATIO, Source
from hssvm.io.table import Table, as_features, as_labels

_DAMAGE = (
    EOFError, KeyError, MemoryError, OSError, OverflowError, RuntimeError, SyntaxError, TypeError,
    ValueError, tokenize.TokenError, zipfile.BadZipFile, zlib.error,
)  # fmt: skip
"""Exceptions that `numpy.load` may raise for a corrupted file: it evaluates the header of an array,
and trusts its shape."""


def read_numpy(source: Source, dtype: np.dtype[Any], rule: ColumnRule) -> Table:
    """Read the arrays X and y of an .npz file, or the table in an .npy file."""
    with source.open() as file:
        try:
            arrays = _load(file)
        except _DAMAGE as error:
            raise ValueError(f"{source} cannot be read as a NumPy file: {error}") from error
    if "table" in arrays:
        return _from_table(source, arrays["table"], dtype, rule)
    rule.check_no_table("the labels of an .npz file are its array y")
    if "X" not in arrays:
        raise ValueError(f"{source} has no array X; its arrays are {', '.join(arrays) or 'none'}")
    X = as_features(source, arrays["X"], dtype)
    if isinstance(rule, Known) and X.shape[1] != rule.n_features:
        raise ValueError(f"{source} has {X.shape[1]} features, but the model has {rule.n_features}")
    if "y" not in arrays:
        return Table(X)
    if arrays["y"].shape != X.shape[:1]:
        raise ValueError(f"{source}: X has {len(X)} rows, but y has shape {arrays['y'].shape}")
    return Table(X, as_labels(source, arrays["y"]))


def _load(file: IO[bytes]) -> dict[str, NDArray[Any]]:
    """Load the table of an .npy file, or the arrays of an .npz file; only X and y are read."""
    loaded = np.load(file, allow_pickle=False)
    if isinstance(loaded, np.ndarray):
        return {"table": loaded}
    for member in loaded.zip.infolist():
        if member.file_size > max(ALWAYS_ALLOWED, MAX_RATIO * member.compress_size):
            raise ValueError(
                f"{member.filename} decompresses to more than {MAX_RATIO} times its size; if this "
                "is intended, save it with np.savez"
            )
    unread = np.empty(0)
    return {k: np.asarray(loaded[k]) if k in ("X", "y") else unread for k in loaded.files}


def _from_table(
    source: Source, table: NDArray[Any], dtype: np.dtype[Any], rule: ColumnRule
) -> Table:
    if table.ndim != 2:
        raise ValueError(f"{source}: expected a table, got shape {table.shape}")
    columns = rule.choose(source, table.shape[1], None)
    return Table.of(
        columns,
        as_features(source, table[:, columns.features], dtype),
        None if columns.label is None else as_labels(source, table[:, columns.label]),
        None if columns.weight is None else table[:, columns.weight],
    )
