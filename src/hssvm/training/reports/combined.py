"""The report of the mean of several models."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hssvm.training.reports.report import FitReport

BY_COLUMN = "gap", "objective", "n_iter", "n_rounds", "n_steps", "objective_error"


def combined_report(reports: Sequence[FitReport]) -> FitReport:
    """Combine the reports of models of the same rows, whose columns are side by side."""
    first = reports[0]
    n_columns = sum(report.n_columns for report in reports)
    combined = FitReport(
        task=first.task,
        n_members=len(reports),
        n_rows=first.n_rows,
        n_columns=n_columns,
        n_features=first.n_features,
        n_classes=first.n_classes,
        n_support=sum(report.n_support for report in reports),
        exact_kernel=all(report.exact_kernel for report in reports),
        tol=max(report.tol for report in reports),
        status=[status for report in reports for status in report.status],
        advice=list(dict.fromkeys(advice for report in reports for advice in report.advice)),
        spread=np.zeros(n_columns),
        disagreement=np.zeros(n_columns),
        matrix_bytes=max(report.matrix_bytes for report in reports),
        factor_bytes=max(report.factor_bytes for report in reports),
        seconds=total_seconds(reports),
    )
    for name in BY_COLUMN:
        setattr(combined, name, np.concatenate([getattr(report, name) for report in reports]))
    return combined


def total_seconds(reports: Sequence[FitReport]) -> dict[str, float]:
    """Sum the seconds of reports by stage."""
    seconds: dict[str, float] = {}
    for report in reports:
        for name, value in report.seconds.items():
            seconds[name] = seconds.get(name, 0.0) + value
    return seconds
