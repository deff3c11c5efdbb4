"""Up to 2,000 rows the solution is exact, also where ADMM does not get there."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.svm import SVC as ExactSVC

from hssvm import SVC, SVR, svc_path


def nearly_linear(rng, n, dtype):
    X = rng.standard_normal((n, 10)).astype(dtype)
    return X, X[:, 0] + 0.05 * rng.standard_normal(n) > 0


def dual_value(model, X):
    z = model.dual_coef_[0].astype(float)
    w = z @ X[model.support_].astype(float)
    return np.abs(z).sum() - w @ w / 2


@pytest.fixture
def without_smo(monkeypatch):
    """As if SMO on all rows had taken too long."""
    monkeypatch.setattr("hssvm.training.exact.ADMM_WORK", 1e-20)


@pytest.mark.usefixtures("without_smo")
def test_the_working_set_solver_takes_over(rng):
    X, y = nearly_linear(rng, 800, np.float32)
    model = SVC(kernel="linear", C=2287.0, max_iter=50, random_state=0).fit(X, y)
    report = model.fit_report_
    assert report.status == ["CONVERGED"]
    assert report.n_rounds[0] > 0
    assert model.certify(X, y).gap[0] <= 1.2e-3
    exact = ExactSVC(kernel="linear", C=2287.0, tol=1e-4).fit(X, y)
    assert dual_value(model, X) >= (1 - 1e-2) * dual_value(exact, X)


@pytest.mark.usefixtures("without_smo")
def test_it_takes_columns_to_an_exact_solution(rng):
    """Those that a few iterations have left short of it."""
    X, _ = nearly_linear(rng, 600, np.float64)
    y = X[:, 0] + 0.5 * rng.standard_normal(600) > 0
    path = svc_path(X, y, [1e-3, 10.0], gamma=0.1, max_iter=20, random_state=0)
    assert path.fit_report_.status == ["CONVERGED"] * 2
    assert path.fit_report_.gap.max() <= 1e-7
    assert path.fit_report_.n_rounds[1] > 0
    enough = svc_path(X, y, [1e-3, 10.0], gamma=0.1, random_state=0)
    assert_allclose(path.fit_report_.objective, enough.fit_report_.objective, rtol=1e-6)


@pytest.mark.usefixtures("without_smo")
def test_ordinary_fits_do_not_need_it(rng):
    X, y = nearly_linear(rng, 500, np.float64)
    report = SVC(C=1.0, random_state=0).fit(X, y).fit_report_
    assert "refine" not in report.seconds
    assert report.gap[0] <= 1e-7


def test_ordinary_fits_compress_nothing(rng):
    X, y = nearly_linear(rng, 500, np.float64)
    for model, target in ((SVC(), y), (SVR(), X[:, 1])):
        report = model.fit(X, target).fit_report_
        assert set(report.seconds) == {"solve"} and report.n_factors == 0
        assert report.gap[0] <= 1e-7 and report.exact_kernel
        assert model.set_params(prediction="compressed").predict(X).shape == (500,)


def test_admm_is_faster_with_a_large_C(rng):
    """Where SMO would take a million steps."""
    X, _ = nearly_linear(rng, 300, np.float64)
    y = X[:, 0] + rng.standard_normal(300) > 0
    report = SVC(C=1e6, gamma=0.01, random_state=0).fit(X, y).fit_report_
    assert report.n_factors > 0
    assert report.status == ["CONVERGED"]
