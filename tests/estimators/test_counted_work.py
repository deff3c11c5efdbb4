"""No clock decides what a default fit does: the same seed gives the same model."""

import time

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from hssvm import SVC, costs
from hssvm.kernels import Gaussian
from hssvm.training import TrainingConfig


def hurried(monkeypatch, factor):
    """Let the clock run faster by a factor, as if the machine were slower by it."""
    monkeypatch.setattr(time, "perf_counter", lambda: factor * time.monotonic())


def test_fits_do_not_depend_on_the_clock(rng, monkeypatch):
    X = rng.standard_normal((3000, 3))
    y = X[:, 0] * X[:, 1] > 0.5 * rng.standard_normal(3000)
    models = []
    for factor in (1.0, 1e6):
        hurried(monkeypatch, factor)
        models.append(SVC(C=30.0, random_state=0).fit(X, y))
        assert models[-1].fit_report_.status == ["CONVERGED"]
        assert models[-1].fit_report_.exact_kernel
    assert_array_equal(models[0].dual_coef_, models[1].dual_coef_)
    assert_array_equal(models[0].intercept_, models[1].intercept_)


def test_the_choice_is_by_counted_operations(rng, monkeypatch):
    hurried(monkeypatch, 1e6)
    kernel = Gaussian(1.0)

    def refines(n, p, dtype):
        X = np.broadcast_to(np.zeros((1, p), dtype), (n, p))
        return TrainingConfig().is_exact(kernel, X)

    assert refines(200_000, 50, np.float32)
    assert refines(300_000, 20, np.float32)
    assert not refines(500_000, 50, np.float32)
    assert refines(60_000, 784, np.float64)
    assert not refines(400_000, 20, np.float64)


def test_auto_gives_up_after_so_many_operations(rng, monkeypatch):
    X = rng.standard_normal((3000, 5))
    y = rng.random(3000) < 0.5
    monkeypatch.setattr("hssvm.costs.MAX_PASSES", 1e-4 / costs.AFFORDABLE_PASS)
    models = []
    for factor in (1.0, 1e6):
        hurried(monkeypatch, factor)
        with pytest.warns(ConvergenceWarning, match="refine=True"):
            models.append(SVC(C=100.0, random_state=0).fit(X, y))
        assert models[-1].fit_report_.status == ["MAX_WORK"]
    assert_array_equal(models[0].dual_coef_, models[1].dual_coef_)
    assert SVC(C=100.0, refine=True).fit(X, y).fit_report_.status == ["CONVERGED"]
