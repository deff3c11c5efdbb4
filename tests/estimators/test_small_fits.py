"""Up to 2,000 rows the solution is exact."""

import numpy as np
import pytest
from helpers.stops import checked_gaps
from scipy.spatial.distance import cdist

from hssvm import HSS, SVC, SVR, svc_path
from hssvm.kernels import Gaussian
from hssvm.problems import SVCProblem
from hssvm.solvers import Status
from hssvm.training.reports.monitor import Monitor
from hssvm.training.routes.exact.solver import ExactSolver


def nearly_linear(rng, n, dtype):
    X = rng.standard_normal((n, 10)).astype(dtype)
    return X, X[:, 0] + 0.05 * rng.standard_normal(n) > 0


def dual_value(model, X):
    z = model.dual_coef_[0].astype(float)
    w = z @ X[model.support_].astype(float)
    return np.abs(z).sum() - w @ w / 2


def test_ordinary_fits_compress_nothing(rng):
    X, y = nearly_linear(rng, 500, np.float64)
    for model, target in ((SVC(), y), (SVR(), X[:, 1])):
        report = model.fit(X, target).fit_report_
        assert set(report.seconds) == {"solve"} and report.n_factors == 0
        assert report.gap[0] <= 1e-7 and report.exact_kernel
        assert model.set_params(prediction="compressed").predict(X).shape == (500,)


@pytest.mark.parametrize("estimator", [SVC(), SVR()])
def test_an_interior_point_method_takes_over(estimator, rng):
    """Where SMO would take a million steps."""
    X, _ = nearly_linear(rng, 300, np.float64)
    y = X[:, 0] + rng.standard_normal(300) > 0
    report = estimator.set_params(C=1e6, gamma=0.01).fit(X, y).fit_report_
    assert report.status == ["CONVERGED"]
    assert report.gap[0] <= 1e-7


def test_a_column_that_was_not_finished_has_not_converged(rng, monkeypatch):
    """SMO takes every column to a larger gap before active-set steps go on."""
    X, _ = nearly_linear(rng, 400, np.float64)
    y = np.where(X[:, :1] + rng.standard_normal((400, 1)) > 0, 1.0, -1.0)

    gaps = checked_gaps(monkeypatch)

    class StopsAtTheSecond(Monitor):
        def stop(self):
            return Status.STOPPED if gaps and np.isfinite(gaps[-1][1]) else None

    solver = ExactSolver(Gaussian(0.3), 1e-12, 1e9, np.inf)
    problem = SVCProblem(y * [30.0, 1e4])
    solution = solver.solve(problem, X, np.zeros((400, 2)), StopsAtTheSecond())
    assert solution.gap[0] <= 1e-4
    finished = Status.CONVERGED if solution.gap[0] <= 1e-12 else Status.STOPPED
    assert solution.status == [finished, Status.STOPPED]


def test_a_large_leaf_can_be_predicted_as_compressed(rng):
    X, y = nearly_linear(rng, 2100, np.float64)
    model = SVC(approximation=HSS(leaf_size=4000), prediction="compressed").fit(X, y)
    assert model.fit_report_.exact_kernel
    assert model.predict(X).shape == (2100,)


def test_a_function_is_called_once_for_all_columns(rng):
    X, _ = nearly_linear(rng, 300, np.float64)
    y = X[:, 0] + rng.standard_normal(300) > 0
    n_values = []

    def kernel(A, B):
        n_values.append(len(A) * len(B))
        return np.exp(-0.3 * cdist(A, B, "sqeuclidean"))

    svc_path(X, y, [0.1, 0.3, 1.0, 3.0, 10.0], kernel=kernel)
    assert sum(n_values) < 10 * 300**2
