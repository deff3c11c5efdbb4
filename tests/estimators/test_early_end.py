"""Columns of a fit that ends early: each has a status of its own."""

import pytest
from helpers.stops import checked_gaps
from sklearn.exceptions import ConvergenceWarning

from hssvm import svc_path
from hssvm.estimators.monitoring.callbacks import FitMonitor
from hssvm.solvers import Status


def end_between(monkeypatch, goal):
    """Run out of time when the gap of one column is below the goal, and that of another above."""
    gaps = checked_gaps(monkeypatch)

    def stop(self):
        return Status.MAX_TIME if gaps and gaps[-1].min() <= goal < gaps[-1].max() else None

    monkeypatch.setattr(FitMonitor, "stop", stop)


def test_a_column_below_tol_is_converged(rng):
    """Few rows go on to a smaller gap, for which these are too few iterations."""
    X = rng.standard_normal((500, 4))
    y = X[:, 0] + rng.standard_normal(500) > 0
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        path = svc_path(X, y, [3.0, 1e5], gamma=0.5, tol=0.3, max_iter=300, random_state=0)
    report = path.fit_report_
    assert report.status == ["CONVERGED" if gap <= 0.3 else "MAX_ITER" for gap in report.gap]
    assert 1e-7 < report.gap[0] <= 0.3 < report.gap[1]


def test_a_start_without_refinement_is_not_converged(rng, monkeypatch):
    """It stops at a larger gap than was asked for."""
    X = rng.standard_normal((2500, 4))
    y = X[:, 0] + rng.standard_normal(2500) > 0
    end_between(monkeypatch, 1e-2)
    monkeypatch.setattr("hssvm.training.config.START_ROWS", 0)
    monkeypatch.setattr("hssvm.training.config.MANY_ROWS", 0)
    with pytest.warns(ConvergenceWarning, match="max_time"):
        path = svc_path(X, y, [1e-3, 1e5], gamma=0.5, tol=1e-9, refine=True, random_state=0)
    report = path.fit_report_
    assert report.gap[0] <= 1e-2 < report.gap[1]
    expected = ["CONVERGED" if gap <= 1e-9 else "MAX_TIME" for gap in report.gap]
    assert report.status == expected
    assert not report.exact_kernel
