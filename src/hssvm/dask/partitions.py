"""Conversion of all accepted inputs to lists of partitions."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import scipy.sparse
from dask import delayed
from dask.delayed import Delayed
from distributed import Client, Future
from numpy.typing import NDArray

from hssvm.kernels.base import Floats, Rows, as_rows, require_finite

SENT_BYTES = 8e6
"""Size of the blocks into which data of the driver is split. They are part of their tasks, and Dask
warns about tasks of more than 10 MB."""


@dataclass(frozen=True, eq=False)
class Partition:
    """A block of input rows.

    Attributes
    ----------
    X : (n, p) array or CSR matrix, float32 or float64
    y : (n,) array or None
    weight : (n,) float64 or None
    """

    X: Rows
    y: NDArray[Any] | None = None
    weight: Floats | None = None

    @classmethod
    def of(cls, X: Any, y: Any = None, weight: Any = None) -> Partition:
        """Convert and validate rows.

        Raises
        ------
        ValueError
            If the numbers of rows differ, values are missing or infinite, or weights are negative.
        """
        X = as_rows(X)
        require_finite(X)
        if y is not None:
            y = np.asarray(y)
            _require_column(y, "y", X.shape[0])
            missing = not np.isfinite(y).all() if y.dtype.kind == "f" else pd.isna(y).any()
            if missing:
                raise ValueError("y has NaN, infinite or missing entries; drop these rows")
        if weight is not None:
            weight = np.asarray(weight, np.float64)
            _require_column(weight, "sample_weight", X.shape[0])
            if not (np.isfinite(weight).all() and (weight >= 0).all()):
                raise ValueError("sample_weight must be finite and nonnegative")
        return cls(X, y, weight)


def _require_column(values: NDArray[Any], name: str, n_rows: int) -> None:
    if values.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {values.shape}")
    if values.shape[0] != n_rows:
        raise ValueError(
            f"{name} has {values.shape[0]} rows, but X has {n_rows}; partition both in the same way"
        )


def as_partitions(
    client: Client, X: Any, y: Any = None, sample_weight: Any = None
) -> list[Delayed]:
    """Convert data to lazy partitions.

    Parameters
    ----------
    client : distributed.Client
    X : rows, in one of these forms
        - a dask array; `y` and `sample_weight` are dask arrays too;
        - a dask DataFrame; `y` and `sample_weight` are Series with as many partitions, or names of
          columns, and the other columns are the features;
        - the path of Parquet files, or a list of paths, which the workers read; `y` and
          `sample_weight` are names of columns;
        - a list of delayed objects or futures, each of which returns X, (X, y) or
          (X, y, sample_weight) for some rows;
        - a NumPy array, CSR matrix or pandas DataFrame of the driver, with array-likes (or names
          of columns of the DataFrame).
    y, sample_weight : optional

    Returns
    -------
    list of Delayed, each of a `Partition`

    Notes
    -----
    Data of the driver becomes tasks that contain a block each. Scattered data is lost with the
    worker that stores it; blocks in tasks can be sent again by the scheduler. They are sent one at
    a time, and stay on the workers as long as the partitions are in use.
    """
    if isinstance(X, da.Array):
        return _of_array(X, y, sample_weight)
    if _is_path(X) or (_is_list(X) and all(map(_is_path, X))):
        if not (_is_name(y) and _is_name(sample_weight)):
            raise TypeError("if X is a path, y and sample_weight must be names of columns")
        paths = [os.fspath(path) for path in X] if _is_list(X) else os.fspath(X)
        return _of_frame(dd.read_parquet(paths), y, sample_weight)
    if isinstance(X, dd.DataFrame):
        return _of_frame(X, y, sample_weight)
    if _is_list(X) and all(isinstance(item, Delayed | Future) for item in X):
        if y is not None or sample_weight is not None:
            raise TypeError(
                "if X is a list of delayed objects or futures, y and sample_weight must be None; "
                "let every object return (X, y) or (X, y, sample_weight)"
            )
        return _delayed_partitions("item", _partition_of_yield, ((item,) for item in X))
    if isinstance(X, np.ndarray | pd.DataFrame) or scipy.sparse.issparse(X):
        return _of_driver(client, X, y, sample_weight)
    raise TypeError(
        f"X is a {type(X).__name__}; pass a dask array or DataFrame, paths of Parquet files, a "
        "list of delayed objects or futures, or a NumPy array, CSR matrix or pandas DataFrame"
    )


def feature_names(X: Any, *other: Any) -> list[str] | None:
    """Names of the features; None if the columns have no names.

    Parameters
    ----------
    X : rows, as in `as_partitions`
    *other
        y and sample_weight; if they are names, these columns are not features.
    """
    if _is_path(X) or (_is_list(X) and all(map(_is_path, X))):
        X = dd.read_parquet([os.fspath(path) for path in X] if _is_list(X) else os.fspath(X))
    if not isinstance(X, dd.DataFrame | pd.DataFrame):
        return None
    left_out = {name for name in other if isinstance(name, str)}
    names = [name for name in X.columns if name not in left_out]
    return names if all(isinstance(name, str) for name in names) else None


def _is_list(X: Any) -> bool:
    return isinstance(X, list | tuple) and len(X) > 0


def _is_path(X: Any) -> bool:
    return isinstance(X, str | os.PathLike)


def _is_name(y: Any) -> bool:
    return y is None or isinstance(y, str)


def _delayed_partitions(
    kind: str, make: Callable[..., Partition], sources: Iterable[Any]
) -> list[Delayed]:
    """Return a task for every partition, whose errors name the partition."""
    task = delayed(_make, pure=False, traverse=False)
    return [task(f"{kind} {i}", make, *source) for i, source in enumerate(sources)]


def _make(place: str, make: Callable[..., Partition], *source: Any) -> Partition:
    try:
        return make(*source)
    except (TypeError, ValueError) as error:
        raise ValueError(f"in {place}: {error}") from error


def _of_array(X: da.Array, y: Any, weight: Any) -> list[Delayed]:
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions, (rows, features), got shape {X.shape}")
    if X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    rows = X.to_delayed().ravel()
    columns = [_chunks_like(X, y, "y"), _chunks_like(X, weight, "sample_weight")]
    return _delayed_partitions("chunk", Partition.of, zip(rows, *columns, strict=True))


def _chunks_like(X: da.Array, column: Any, name: str) -> list[Any]:
    """Chunks of y or sample_weight, one for every chunk of rows."""
    if column is None:
        return [None] * X.numblocks[0]
    if not isinstance(column, da.Array):
        raise TypeError(
            f"X is a dask array, but {name} is a {type(column).__name__}; convert it to one"
        )
    if column.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {column.shape}")
    if np.isnan(X.shape[0]) or np.isnan(column.shape[0]):
        if column.numblocks[0] != X.numblocks[0]:
            raise ValueError(
                f"X has {X.numblocks[0]} chunks of rows, but {name} has {column.numblocks[0]}; "
                "call compute_chunk_sizes() on both, or create them from the same partitions"
            )
    elif column.shape[0] != X.shape[0]:
        raise ValueError(f"X has {X.shape[0]} rows, but {name} has {column.shape[0]}")
    elif column.chunks[0] != X.chunks[0]:
        column = column.rechunk((X.chunks[0],))
    return list(column.to_delayed())


def _of_frame(X: Any, y: Any, weight: Any) -> list[Delayed]:
    for name in (y, weight):
        if isinstance(name, str):
            _require_known(name, X.columns)
    columns = [_partitions_like(X, y, "y"), _partitions_like(X, weight, "sample_weight")]
    return _delayed_partitions(
        "partition", _partition_of_frame, zip(X.to_delayed(), *columns, strict=True)
    )


def _partitions_like(X: Any, column: Any, name: str) -> list[Any]:
    """Partitions of y or sample_weight, or the name of the column for each partition."""
    if _is_name(column):
        return [column] * X.npartitions
    if not isinstance(column, dd.Series):
        raise TypeError(
            f"X is a dask DataFrame, but {name} is a {type(column).__name__}; pass a dask Series "
            "or the name of a column"
        )
    if column.npartitions != X.npartitions:
        raise ValueError(
            f"X has {X.npartitions} partitions, but {name} has {column.npartitions}; take both "
            "from the same DataFrame"
        )
    return column.to_delayed()


def _require_known(name: str, columns: Any) -> None:
    if name not in columns:
        raise ValueError(
            f"X has no column {name!r}; its columns are {', '.join(map(str, columns))}"
        )


def _partition_of_frame(frame: pd.DataFrame, y: Any, weight: Any) -> Partition:
    names = [column for column in (y, weight) if isinstance(column, str)]
    y, weight = (frame[c] if isinstance(c, str) else c for c in (y, weight))
    return Partition.of(frame.drop(columns=names), y, weight)


def _partition_of_yield(item: Any) -> Partition:
    if not isinstance(item, tuple | list):
        return Partition.of(item)
    if not 1 <= len(item) <= 3:
        raise ValueError(
            f"a partition has {len(item)} items; it must be X, (X, y) or (X, y, sample_weight)"
        )
    return Partition.of(*item)


def _of_driver(client: Client, X: Any, y: Any, weight: Any) -> list[Delayed]:
    if isinstance(X, pd.DataFrame):
        names = [column for column in (y, weight) if isinstance(column, str)]
        for name in names:
            _require_known(name, X.columns)
        y, weight = (X[c] if isinstance(c, str) else c for c in (y, weight))
        X = X.drop(columns=names).to_numpy()
    elif isinstance(y, str) or isinstance(weight, str):
        raise TypeError("y and sample_weight can be names of columns only if X is a DataFrame")
    elif scipy.sparse.issparse(X):
        X = X.tocsr()
    y, weight = (None if c is None else np.asarray(c) for c in (y, weight))
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions, (rows, features), got shape {X.shape}")
    for column, name in ((y, "y"), (weight, "sample_weight")):
        if column is not None:
            _require_column(column, name, X.shape[0])
    n_bytes = X.data.nbytes + X.indices.nbytes if scipy.sparse.issparse(X) else X.nbytes
    step = max(1, int(SENT_BYTES * X.shape[0] / max(n_bytes, 1)))
    task = delayed(identity, pure=False, traverse=False)
    partitions = []
    for begin in range(0, max(X.shape[0], 1), step):
        rows = slice(begin, begin + step)
        block = [column if column is None else column[rows] for column in (X, y, weight)]
        place = f"the rows from {begin} on"
        partitions.append(task(client.submit(_make, place, Partition.of, *block, pure=False)))
    return partitions


def identity(value: Any) -> Any:
    """Return the value unchanged, as a task."""
    return value
