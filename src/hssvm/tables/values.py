"""The values of a column as numbers, text or dates, whatever their type in the table.

Every value is converted on its own, so that it does not matter which rows come together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hssvm.tables.formats import NumberFormat

if TYPE_CHECKING:
    import pandas as pd

WORDS = {"true": 1.0, "false": 0.0}
"""Words that are numbers."""

COLLECTIONS = (list, tuple, dict, set, np.ndarray)

NULL_STRINGS = {"", "?", "na", "n/a", "nan", "null", "none", "nat", "<na>"}
"""Text that means a missing value, in lower case; no warning of it is necessary."""


def as_kind(column: pd.Series, kind: str | None, format: NumberFormat | None = None) -> pd.Series:
    """Return a dense column, converted if its kind is given; numbers may have a format."""
    import pandas as pd

    if isinstance(column.dtype, pd.SparseDtype):
        column = column.sparse.to_dense()
    if isinstance(column.dtype, pd.PeriodDtype):
        column = column.dt.to_timestamp()
    column = column.infer_objects()
    if column.dtype == object and any(issubclass(t, COLLECTIONS) for t in set(map(type, column))):
        raise ValueError("it contains lists or other collections")
    if column.dtype.kind == "m" and kind != "categories":
        column = column.dt.total_seconds()
    if column.dtype.kind == "c":
        raise ValueError("it contains complex numbers")
    if kind == "numbers":
        return as_numbers(column) if format is None else format.parse(as_text(column))
    is_text = column.dtype == object or isinstance(column.dtype, pd.StringDtype)
    return as_text(column) if kind == "categories" or is_text else column


def as_numbers(values: pd.Series) -> pd.Series:
    """Convert values to float64; those that are not numbers are NaN."""
    import pandas as pd

    if not pd.api.types.is_numeric_dtype(values.dtype):
        text = as_text(values).str.lower()
        values = text.where(~text.isin(WORDS), text.map(WORDS))
    return pd.to_numeric(values, errors="coerce").astype(np.float64)


def as_text(values: pd.Series) -> pd.Series:
    """Convert values to text, one by one: whole numbers have no decimal point, missing are None."""
    text = values.astype(str).str.strip().str.replace(r"^([-+]?\d+)\.0+$", r"\1", regex=True)
    missing = values.isna() | text.str.lower().isin(NULL_STRINGS)
    return text.astype(object).where(~missing, None)


def as_dates(text: pd.Series) -> pd.Series:
    """Read text as dates, in the order year, month, day; others are missing."""
    import pandas as pd

    first = pd.to_datetime(text.dropna().head(1), errors="coerce", format="ISO8601")
    zoned = first.dtype.kind == "M" and first.dt.tz is not None
    return pd.to_datetime(text, errors="coerce", format="ISO8601", utc=zoned)
