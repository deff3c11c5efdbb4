"""Validation of rows and targets, with errors that name what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from hssvm.estimators.inputs.containers import as_known
from hssvm.estimators.inputs.frames import (
    are_numbers,
    dtypes_of,
    is_frame,
    names_of,
    require_no_missing,
    require_numbers,
)
from hssvm.estimators.inputs.labels import require_one_type
from hssvm.kernels.sparse_format import require_valid_sparse
from hssvm.messages import api, value_error

FLOATS = [np.float64, np.float32]
"""Accepted dtypes of X; others are converted to the first."""


def validate_rows(
    estimator: Any, X: Any, y: Any = "no_validation", *, reset: bool, **options: Any
) -> Any:
    """Return validated rows, and targets if there are any; see `validate_data` of scikit-learn."""
    X = as_known(X)
    if options["dtype"] is FLOATS:
        options["dtype"] = floats_of(X)
    if not reset and _has_other_names(estimator, X):  # an error of scikit-learn
        return validate_data(estimator, X, y, reset=reset, **options)
    with naming_columns(X):
        return validate_data(estimator, X, y, reset=reset, **options)


def floats_of(X: Any) -> Any:
    """Accepted dtypes of `X`: float32 if it is a frame with no others.

    scikit-learn finds this out for arrays and frames of pandas only, and converts others.
    """
    if not is_frame(X) or hasattr(X, "iloc"):
        return FLOATS
    return np.float32 if {str(dtype) for dtype in dtypes_of(X)} <= {"Float32", "float"} else FLOATS


@contextmanager
def naming_columns(X: Any) -> Iterator[None]:
    """Context in which rows are validated; its errors name the columns that are not numbers."""
    require_numbers(X)
    require_valid_sparse(X)
    try:
        yield
    except ValueError:
        require_no_missing(X)
        raise


def _has_other_names(estimator: Any, X: Any) -> bool:
    """Whether the column names differ from the training data."""
    names = getattr(estimator, "feature_names_in_", None)
    return names is not None and is_frame(X) and names_of(X) != list(names)


def require_complete_target(y: Any, *, numeric: bool = False) -> None:
    """Raise ValueError if targets are missing, or are not numbers although they should be."""
    values = np.asarray(y)
    missing = _is_missing(y, values)
    if missing.any():
        rows = np.flatnonzero(missing.reshape(values.shape[0], -1).any(axis=1))
        raise ValueError(
            f"y has missing values in {rows.size:,} of {values.shape[0]:,} rows, first in row "
            f"{rows[0]}; remove these rows from X and y"
        )
    if numeric and values.ndim and not are_numbers(values):
        raise value_error(f"y contains labels, not numbers; use {api:SVC} for classification")
    if values.dtype.kind == "U" and isinstance(y, list | tuple):  # NumPy has converted numbers
        require_one_type(y)


def _is_missing(y: Any, values: NDArray[Any]) -> NDArray[np.bool_]:
    if values.ndim == 0 or values.dtype.kind not in "fO":
        return np.zeros(1, np.bool_)
    if hasattr(y, "isna"):
        return np.asarray(y.isna())
    if values.dtype.kind == "f":
        return np.isnan(values)
    return np.array([value is None or _is_nan(value) for value in values.flat])


def _is_nan(value: Any) -> bool:
    return isinstance(value, float | np.floating) and bool(np.isnan(value))
