"""Columns of data frames that are not numbers: which they are, and how to encode them.

Frames of pandas and Polars, and Arrow tables, are recognized by their attributes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm.estimators.inputs.containers import is_arrow

NAMED = 5
"""Number of columns that an error names."""


def is_frame(X: Any) -> bool:
    """Whether `X` is a data frame or an Arrow table."""
    return is_arrow(X) or (hasattr(X, "columns") and hasattr(X, "dtypes"))


def names_of(X: Any) -> list[Any]:
    """Names of the columns of a frame."""
    return list(X.column_names if is_arrow(X) else X.columns)


def dtypes_of(X: Any) -> Any:
    """Types of the columns of a frame."""
    return X.schema.types if is_arrow(X) else X.dtypes


def name_of(y: Any) -> str | None:
    """Name of a Series, or of the column of a frame with one; None if it is not a string."""
    columns = names_of(y) if is_frame(y) else ()
    name = columns[0] if len(columns) == 1 else getattr(y, "name", None)
    return name if isinstance(name, str) else None


def require_numbers(X: Any) -> None:
    """Raise ValueError if `X` contains text, categories or dates; reads the dtypes only.

    Columns of objects are converted to find out.
    """
    if is_frame(X):
        text, dates = _not_numeric(X)
        if text or dates:
            raise ValueError(_message(X, text, dates, _missing(X, {*text, *dates})))
    elif isinstance(X, np.ndarray) and X.dtype.kind in "mM":
        raise ValueError("X contains dates; convert them, for example with X.astype('int64')")


def require_no_missing(X: Any) -> None:
    """Raise ValueError if a frame of numbers has missing values."""
    if is_frame(X) and (missing := _missing(X, set())):
        raise ValueError(_message(X, [], [], missing)) from None


def _not_numeric(X: Any) -> tuple[list[int], list[int]]:
    """Return the positions of columns with text or categories, and of columns with dates."""
    text, dates = [], []
    for position, dtype in enumerate(dtypes_of(X)):
        if _is_temporal(dtype):
            dates.append(position)
        elif not _is_numeric(dtype) and not _holds_numbers(X, position, dtype):
            text.append(position)
    return text, dates


def _is_temporal(dtype: Any) -> bool:
    if hasattr(dtype, "is_temporal"):  # Polars
        return bool(dtype.is_temporal())
    if hasattr(dtype, "kind"):
        return dtype.kind in "mM"
    from pyarrow import types

    return bool(types.is_temporal(dtype))


def _is_numeric(dtype: Any) -> bool:
    if hasattr(dtype, "is_numeric"):  # Polars
        return bool(dtype.is_numeric()) or str(dtype) in ("Boolean", "Null")
    if hasattr(dtype, "kind"):
        return dtype.kind in "biufc"
    from pyarrow import types

    numeric = types.is_integer, types.is_floating, types.is_decimal, types.is_boolean, types.is_null
    return any(holds(dtype) for holds in numeric)


def _holds_numbers(X: Any, position: int, dtype: Any) -> bool:
    """Whether all values of a pandas column of objects are numbers or missing."""
    if not (isinstance(dtype, np.dtype) and dtype.kind == "O"):
        return False
    column = X.iloc[:, position]
    return are_numbers(column[column.notna()].to_numpy())


def are_numbers(values: NDArray[Any]) -> bool:
    """Whether an array contains numbers; objects are converted to find out."""
    if values.dtype.kind != "O":
        return _is_numeric(values.dtype)
    try:
        values.astype(np.float64)
    except (TypeError, ValueError):
        return False
    return True


def _missing(X: Any, others: set[int]) -> list[int]:
    """Return the positions of columns with missing values, except for `others`."""
    if hasattr(X, "isna"):
        flags = np.asarray(X.isna().any(axis=0))
        return [int(position) for position in np.flatnonzero(flags) if position not in others]
    numeric = (position for position in range(X.shape[1]) if position not in others)
    return [p for p in numeric if np.isnan(_values(X, p).astype(np.float64)).any()]


def _values(X: Any, position: int) -> NDArray[Any]:
    """The column of a frame of Polars, or of an Arrow table."""
    return np.asarray(X.column(position)) if is_arrow(X) else X[:, position].to_numpy()


def _message(X: Any, text: list[int], dates: list[int], missing: list[int]) -> str:
    names = names_of(X)
    found = [(text, "text or categories"), (dates, "dates"), (missing, "missing values")]
    clauses = [_clause([names[p] for p in where], what) for where, what in found if where]
    return (
        f"X must contain numbers, but {' and '.join(clauses)}; encode the columns with "
        "hssvm.tables.TableEncoder: make_pipeline(TableEncoder(), model), where the model has "
        'scaling="standard"'
    )


def _clause(names: Sequence[Any], what: str) -> str:
    shown = ", ".join(map(repr, names[:NAMED]))
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    noun, verb = ("column", "contains") if len(names) == 1 else ("columns", "contain")
    return f"{noun} {shown}{more} {verb} {what}"
