"""Reports of models that were not trained here, and reports as JSON values."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from hssvm.persistence.archive import has_form, require
from hssvm.persistence.plain import from_plain, to_plain
from hssvm.training import FitReport

SAVED_FIELDS = [field.name for field in fields(FitReport) if field.metadata.get("saved", True)]
"""Fields of a report that are saved."""

ITEMS = {"status": str, "advice": str, "ranks": int, "seconds": float, "scale_errors": float}
"""Types of the items of lists and dicts in a report."""


def untrained_report(
    task: str,
    *,
    n_columns: int,
    n_features: int,
    n_classes: int,
    n_support: int,
    reduced_from: int = 0,
) -> FitReport:
    """Return the report of a model that is not the result of a fit: its number of rows is 0."""
    unknown, none = np.full(n_columns, np.nan), np.zeros(n_columns, np.int64)
    return FitReport(
        task=task,
        n_columns=n_columns,
        n_features=n_features,
        n_classes=n_classes,
        n_support=n_support,
        reduced_from=reduced_from,
        exact_kernel=True,
        gap=unknown,
        objective=unknown,
        n_iter=none,
        n_rounds=none,
        n_steps=none,
        spread=np.zeros(n_columns),
        disagreement=np.zeros(n_columns),
        objective_error=np.zeros(n_columns),
    )


def pack_report(report: FitReport) -> dict[str, Any]:
    """Return the fields that are saved as JSON values."""
    return {name: to_plain(getattr(report, name)) for name in SAVED_FIELDS}


def unpack_report(document: dict[str, Any], n_columns: int) -> FitReport:
    """Return the report of a model with `n_columns` columns; ValueError if a field is invalid."""
    require(document.keys() == set(SAVED_FIELDS), "the fit report has missing or unexpected fields")
    report, empty = FitReport(**{name: from_plain(v) for name, v in document.items()}), FitReport()
    for name in SAVED_FIELDS:
        value, default = getattr(report, name), getattr(empty, name)
        valid = type(value) is type(default)
        if isinstance(default, np.ndarray):
            valid = has_form(value, default.dtype, (n_columns,))
        elif valid and isinstance(default, list | dict):
            items = value.values() if isinstance(value, dict) else value
            valid = all(type(item) is ITEMS[name] for item in items)
        require(valid, f"{name} of the fit report is invalid")
    require(report.n_columns == n_columns, "the fit report belongs to another model")
    report.summary()  # raises OverflowError for numbers that cannot be displayed
    return report
