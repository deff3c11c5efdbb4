"""The fitted attributes of an estimator, trained here or on a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from hssvm.estimators.monitoring.warn import warn
from hssvm.predictors import ExpansionPredictor, LeafwisePredictor
from hssvm.solvers import Status
from hssvm.training import FitReport

if TYPE_CHECKING:
    from hssvm.estimators.base import BaseKernelSVM


def set_fitted(
    estimator: BaseKernelSVM,
    *,
    support: NDArray[np.int64],
    exact: ExpansionPredictor,
    intercept: NDArray[np.float64],
    compressed: LeafwisePredictor | None,
    report: FitReport,
) -> None:
    """Set the fitted attributes of a model that was trained here or on a cluster."""
    estimator.__dict__.update(
        support_=support,
        support_vectors_=exact.X,
        dual_coef_=np.ascontiguousarray(exact.Z.T),
        intercept_=intercept,
        kernel_=exact.kernel,
        fit_report_=report,
        _compressed=compressed,
        _exact=exact,
    )


def require_one_model(report: FitReport) -> None:
    """Raise ValueError if there is a model for each cell, so that none can be certified."""
    if report.n_cells:
        raise ValueError(
            "certify needs one model of all rows, but this one has a model for each cell; fit with "
            "approximation=HSS(), or with refine=True and approximation=None"
        )


def warn_unconverged(report: FitReport) -> None:
    """Warn about columns that have not converged."""
    for advice in sorted({Status[name].value for name in report.status} - FINAL):
        warn(advice, ConvergenceWarning)


FINAL = {Status.CONVERGED.value, Status.FIXED.value}
"""Statuses that need no warning."""
