"""`read`: any of the formats."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from hssvm.io.delimited import read_delimited
from hssvm.io.files import FORMATS, format_of, is_packed
from hssvm.io.libsvm import MAX_FEATURES, read_libsvm
from hssvm.io.npy import read_numpy
from hssvm.io.parquet import read_parquet
from hssvm.kernels.base import Rows

_TABLES = {"csv": read_delimited, "parquet": read_parquet, "numpy": read_numpy}


def read(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    n_features: int | None = None,
    dtype: DTypeLike = np.float32,
    target: str | int | None = None,
) -> tuple[Rows, NDArray[Any] | None]:
    r"""Read rows and their labels from a file.

    Parameters
    ----------
    path : str or path-like
        Text may be packed as .gz, .bz2 or .xz.
    format : {"libsvm", "csv", "parquet", "numpy"}, optional
        By default from the ending: LIBSVM text is .libsvm, .svm, .svmlight, .t, .tr, .train,
        .test, .txt, or has none; .csv and .tsv (separated by tabs) are "csv"; .npz has arrays X
        and, perhaps, y; .npy is one table.
    n_features : int, optional
        Number of columns of X. LIBSVM text tells only the largest index it has: pass the
        number of the training file for a test file. Other formats are checked against it.
    dtype : {np.float32, np.float64}
        Of X.
    target : str or int, optional
        Column of a table with the labels: a name, or a number from 0, or from -1 for the last.
        By default the first; False if there are no labels.

    Returns
    -------
    X : (n, p) array, or CSR array from LIBSVM text with at most half of its entries
        No value is NaN or infinite.
    y : (n,) array, or None if there are no labels
        Numbers as float64, other labels as they are.

    Raises
    ------
    ValueError
        If the file is malformed or a value is missing; the message names the line.

    Notes
    -----
    The first line of a CSV file is a header if something in it is not a number while that below
    it is one, or if `target` is a name.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from hssvm.io import read
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "flowers.csv"
    ...     _ = path.write_text("width,length,kind\n0.5,2,iris\n1.5,3,rose\n")
    ...     X, y = read(path, target="kind")
    >>> X
    array([[0.5, 2. ],
           [1.5, 3. ]], dtype=float32)
    >>> y.tolist()
    ['iris', 'rose']
    """
    path = Path(path)
    format = format_of(path) if format is None else format
    dtype = np.dtype(dtype)
    if format not in FORMATS:
        raise ValueError(f"format {format!r} is none of {', '.join(map(repr, FORMATS))}")
    if dtype not in (np.float32, np.float64):
        raise ValueError(f"dtype must be np.float32 or np.float64, got {dtype}")
    if n_features is not None and not 1 <= n_features <= MAX_FEATURES:
        raise ValueError(f"n_features must be between 1 and 2**31 - 1, got {n_features}")
    if format == "libsvm":
        if target is not None:
            raise ValueError("target is for tables; labels of LIBSVM text come first in a line")
        return read_libsvm(path, n_features, dtype)
    if is_packed(path) and format != "csv":
        raise ValueError(f"{path}: only text is unpacked while reading; unpack it first")
    X, y = _TABLES[format](path, dtype, target)
    if n_features not in (None, X.shape[1]):
        raise ValueError(f"{path} has {X.shape[1]} features instead of n_features = {n_features}")
    return X, y
