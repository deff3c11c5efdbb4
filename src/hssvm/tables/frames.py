"""Tables of pandas, Polars and Arrow as frames of pandas, and their columns by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hssvm.estimators.inputs.containers import require_collected

if TYPE_CHECKING:
    import pandas as pd

NAMED = 5
"""Number of columns that an error names."""


def as_frame(X: Any) -> pd.DataFrame:
    """Return a frame of pandas with distinct names, which are strings.

    Parameters
    ----------
    X : frame of pandas or Polars, Arrow table, or array
        The columns of an array are named by their positions.
    """
    import pandas as pd

    require_collected(X)
    if isinstance(X, pd.DataFrame):
        frame = X.copy(deep=False)
    elif hasattr(X, "__arrow_c_stream__"):  # Polars, PyArrow
        import pyarrow

        frame = pyarrow.table(X).to_pandas(ignore_metadata=True, integer_object_nulls=True)
    else:
        X = np.asarray(X)
        if X.ndim != 2:
            raise ValueError(f"X must be a table, but it has {X.ndim} dimensions; pass a frame")
        frame = pd.DataFrame(X)
    if len(frame) == 0:
        raise ValueError("X has no rows")
    frame.columns = [str(name) for name in frame.columns]
    repeated = [name for name, count in Counter(frame.columns).items() if count > 1]
    if repeated:
        raise ValueError(f"X has several columns named {listed(repeated)}; rename them")
    return frame.reset_index(drop=True)


def lacking(frame: pd.DataFrame, names: Sequence[str]) -> str:
    """Return the columns that a frame lacks, such as "column 'a'"; empty if there are none."""
    missing = [name for name in names if name not in frame.columns]
    return f"column{'s' * (len(missing) > 1)} {listed(missing)}" if missing else ""


def listed(names: Sequence[str]) -> str:
    """Format the first names of a list."""
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(map(repr, names[:NAMED])) + more
