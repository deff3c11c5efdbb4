"""Columns of a fit that ends early: each has a status of its own."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from hssvm import SVC, svc_path
from hssvm.estimators.callbacks import FitMonitor
from hssvm.solvers import Status


def easy_and_hard(rng, n):
    """Two classes that overlap, and one far away from both."""
    X = rng.standard_normal((n, 4))
    y = np.where(X[:, 0] + rng.standard_normal(n) > 0, 1, 0)
    X[: n // 5] += 100
    y[: n // 5] = 2
    return X, y


def end_between(monkeypatch, goal):
    """Run out of time when the gap of one column is below the goal, and that of another above."""

    def after_check(self, iteration, gap):
        return Status.MAX_TIME if gap.min() <= goal < gap.max() else None

    monkeypatch.setattr(FitMonitor, "after_check", after_check)


def test_a_column_below_tol_is_converged(rng, monkeypatch):
    """Of few rows, which go on to a smaller gap."""
    monkeypatch.setattr("hssvm.training.plan.INTERIOR_ROWS", 0)  # SMO would need one check only
    X, y = easy_and_hard(rng, 500)
    end_between(monkeypatch, 0.3)
    model = SVC(C=1e4, gamma=0.5, tol=0.3, multi_class="ovr", random_state=0)
    with pytest.warns(ConvergenceWarning, match="max_time"):
        model.fit(X, y)
    report = model.fit_report_
    expected = ["CONVERGED" if gap <= 0.3 else "MAX_TIME" for gap in report.gap]
    assert report.status == expected
    assert len(set(expected)) == 2


def test_a_start_without_refinement_is_not_converged(rng, monkeypatch):
    """It stops at a larger gap than was asked for."""
    X = rng.standard_normal((2500, 4))
    y = X[:, 0] + rng.standard_normal(2500) > 0
    end_between(monkeypatch, 1e-2)
    monkeypatch.setattr(SVC, "_compressed_start", True)
    with pytest.warns(ConvergenceWarning, match="max_time"):
        path = svc_path(X, y, [1e-3, 1e5], gamma=0.5, tol=1e-9, refine=True, random_state=0)
    report = path.fit_report_
    assert report.gap[0] <= 1e-2 < report.gap[1]
    expected = ["CONVERGED" if gap <= 1e-9 else "MAX_TIME" for gap in report.gap]
    assert report.status == expected
    assert not report.exact_kernel
