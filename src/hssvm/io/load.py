"""`load_data`, which reads all formats."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from hssvm.io.columns import ColumnRule, Known, Roles
from hssvm.io.delimited import read_delimited, read_delimited_parts
from hssvm.io.files import FORMATS, Source
from hssvm.io.libsvm import MAX_FEATURES, read_libsvm, read_libsvm_parts
from hssvm.io.npy import read_numpy
from hssvm.io.parquet import PART_ROWS, read_parquet, read_parquet_parts
from hssvm.io.table import Table
from hssvm.kernels.base import Rows
from hssvm.messages import api, value_error


def load_data(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    n_features: int | None = None,
    dtype: DTypeLike = np.float32,
    target: str | int | None = None,
    separator: str | None = None,
) -> tuple[Rows, NDArray[Any] | None]:
    r"""Read rows and their labels from a file.

    Parameters
    ----------
    path : str or path-like
        Text may be compressed as .gz, .bz2 or .xz.
    format : {"libsvm", "csv", "parquet", "numpy"}, optional
        By default from the file extension: LIBSVM text is .libsvm, .svm, .svmlight, .t, .tr,
        .train, .test, .txt, or has no extension; .csv and .tsv (separated by tabs) are "csv"; .npz
        has an array X and optionally y; .npy is one table.
    n_features : int, optional
        Number of columns of X. In LIBSVM text, only the largest index is known: for a test file,
        pass the number of features of the training file. Other formats are checked against it.
    dtype : {np.float32, np.float64}
        Precision of X.
    target : str or int, optional
        Target column of a table: a name, or an index, which may be negative to count from the end.
        By default the first column; False if there are no labels.
    separator : str, optional
        Separator of a CSV file. By default a comma, or a tab in .tsv.

    Returns
    -------
    X : (n, p) array or CSR array
        CSR if LIBSVM text has at most half of the entries. All values are finite.
    y : (n,) array, or None if there are no labels
        Numbers as float64, other labels as strings.

    Raises
    ------
    ValueError
        If the file is malformed or a value is missing; the message names the line.

    Notes
    -----
    The first line of a CSV file is a header if one of its fields is not a number while the field
    below is, or if `target` is a name.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from hssvm.io import load_data
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "flowers.csv"
    ...     _ = path.write_text("width,length,kind\n0.5,2,iris\n1.5,3,rose\n")
    ...     X, y = load_data(path, target="kind")
    >>> X
    array([[0.5, 2. ],
           [1.5, 3. ]], dtype=float32)
    >>> y.tolist()
    ['iris', 'rose']
    """
    table = read_table(
        Source(path),
        format=format,
        n_features=n_features,
        dtype=dtype,
        rule=Roles(target),
        separator=separator,
    )
    if n_features not in (None, table.X.shape[1]):
        raise ValueError(f"{path} has {table.X.shape[1]} features, but n_features is {n_features}")
    return table.X, table.y


def read_table(
    source: Source,
    *,
    rule: ColumnRule,
    format: str | None = None,
    n_features: int | None = None,
    dtype: DTypeLike = np.float32,
    separator: str | None = None,
) -> Table:
    """Read rows, labels and column names; `rule` selects the columns.

    The other parameters are as in `load_data`; `n_features` is only for LIBSVM text.
    """
    format, dtype = _check(source, format, dtype, rule, separator)
    if isinstance(rule, Known):
        n_features = rule.n_features
    if n_features is not None and not 1 <= n_features <= MAX_FEATURES:
        raise ValueError(f"n_features must be between 1 and 2**31 - 1, got {n_features}")
    if format == "csv":
        return read_delimited(source, dtype, rule, separator)
    if format == "libsvm":
        return read_libsvm(source, n_features, dtype)
    reader = read_numpy if format == "numpy" else read_parquet
    return reader(source, dtype, rule)


def read_parts(
    source: Source,
    *,
    rule: Known,
    format: str | None = None,
    dtype: DTypeLike = np.float32,
    separator: str | None = None,
) -> Iterator[Table]:
    """Read a file that may be larger than memory some rows at a time; NumPy files at once.

    The parameters are as in `read_table`.
    """
    format, dtype = _check(source, format, dtype, rule, separator)
    if format == "csv":
        yield from read_delimited_parts(source, dtype, rule, separator, PART_ROWS)
    elif format == "libsvm":
        yield from read_libsvm_parts(source, rule.n_features, dtype)
    elif format == "parquet":
        yield from read_parquet_parts(source, dtype, rule)
    else:
        yield read_numpy(source, dtype, rule)


def _check(
    source: Source,
    format: str | None,
    dtype: DTypeLike,
    rule: ColumnRule,
    separator: str | None,
) -> tuple[str, np.dtype[Any]]:
    """Return the format and the precision; ValueError if they do not suit the file."""
    format = source.format if format is None else format
    dtype = np.dtype(dtype)
    if format not in FORMATS:
        known = ", ".join(map(repr, FORMATS))
        raise value_error(f"{api:format} must be one of {known}, got {format!r}")
    if dtype not in (np.float32, np.float64):
        raise ValueError(f"dtype must be np.float32 or np.float64, got {dtype}")
    if separator is not None and (format != "csv" or len(separator) != 1):
        raise value_error(
            f"{api:separator} must be a single character, and only CSV files have one; got "
            f"{separator!r}"
        )
    if format == "libsvm":
        rule.check_no_table("LIBSVM text has the label first in each line")
    if format in ("numpy", "parquet") and source.is_packed:
        raise ValueError(f"{source}: only text files may be compressed; decompress it first")
    return format, dtype
