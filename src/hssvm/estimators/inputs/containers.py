"""What users pass, in the containers that validation knows.

Arrow tables, queries of Polars, and arrays of other libraries are recognized by their attributes;
no library is imported for that.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing, indexable


def as_known(values: Any) -> Any:
    """Convert Arrow record batches to tables, and arrays of other libraries to NumPy arrays.

    All else is returned as it is.
    """
    if isinstance(values, np.ndarray):
        return values
    if is_arrow(values):
        return _as_table(values)
    if hasattr(values, "__dlpack__"):
        return _as_array(values)
    require_collected(values)
    return values


def as_indexable(X: Any) -> Any:
    """Convert rows as `as_known` does, and to a container whose rows can be selected."""
    (rows,) = indexable(as_known(X))
    return rows


def select_rows(X: Any, rows: NDArray[np.int64]) -> Any:
    """Return rows of a container from `as_indexable`; scikit-learn 1.6 cannot for Arrow tables."""
    return X.take(rows) if is_arrow(X) else _safe_indexing(X, rows)


def is_arrow(values: Any) -> bool:
    """Whether `values` is an Arrow table or record batch."""
    kind = type(values)  # a frame of pandas has its columns as attributes
    return hasattr(kind, "column_names") and hasattr(kind, "schema")


def require_collected(values: Any) -> None:
    """Raise ValueError if `values` is a query of Polars, which has no rows yet."""
    if hasattr(type(values), "collect") and hasattr(type(values), "collect_schema"):
        raise ValueError("this is a query, which has no rows yet; call its method collect()")


def _as_table(values: Any) -> Any:
    import pyarrow

    is_batch = isinstance(values, pyarrow.RecordBatch)
    return pyarrow.Table.from_batches([values]) if is_batch else values


def _as_array(values: Any) -> Any:
    try:
        return np.asarray(values)
    except Exception as error:  # each library has its own
        raise TypeError(
            f"NumPy cannot read this {type(values).__module__}.{type(values).__qualname__} "
            f"({error}); copy it to the memory of the CPU, without gradients, as float32 or float64"
        ) from error
