"""The objective of benchmarks/benchopt by definition, without benchopt."""

import sys
from importlib import import_module
from types import ModuleType
from unittest import mock

import numpy as np
import pytest
from sklearn.svm import SVC

from benchmarks.results import ROOT

FOLDER = ROOT / "benchmarks/benchopt"


class Base:
    """Sets its parameters as attributes, like the base classes of benchopt."""

    def __init__(self, **parameters):
        self.__dict__.update(parameters)

    def get_seed(self):
        return 0


@pytest.fixture
def benchmark(monkeypatch):
    """Import a module of the benchmark, as benchopt does."""
    bare, stopping = ModuleType("benchopt"), ModuleType("benchopt.stopping_criterion")
    bare.BaseObjective = bare.BaseSolver = bare.BaseDataset = Base
    stopping.SufficientProgressCriterion = mock.Mock()
    monkeypatch.syspath_prepend(FOLDER)
    with mock.patch.dict(sys.modules, {bare.__name__: bare, stopping.__name__: stopping}):
        yield import_module  # the modules are forgotten afterwards


def test_objective_and_gap_by_definition(benchmark, rng, monkeypatch):
    module = benchmark("objective")
    monkeypatch.setattr(module, "BLOCK", 7)
    X, gamma, C = rng.standard_normal((20, 3)), 0.7, 2.0
    y = np.where(rng.random(20) < 0.5, -1.0, 1.0)
    z = y * rng.uniform(0, C, 20) * (rng.random(20) < 0.6)
    z[0] = -0.25 * y[0]
    objective = module.Objective(C=C)
    objective.set_data(X=X, y=y, gamma=gamma)
    found = objective.evaluate_result(z=z, intercept=0.3)
    square, slack = 0.0, 0.0
    for i in range(20):
        f = sum(z[j] * np.exp(-gamma * ((X[i] - X[j]) ** 2).sum()) for j in range(20))
        square += z[i] * f
        slack += max(0.0, 1 - y[i] * (f + 0.3))
    dual, primal = sum(abs(z)) - square / 2, square / 2 + C * slack
    assert found["value"] == pytest.approx(-dual)
    assert found["relative_gap"] == pytest.approx((primal - dual) / primal)
    assert found["violation"] == pytest.approx(max(0.25, abs(z.sum())))
    assert objective.evaluate_result(**objective.get_one_result())["value"] == 0


@pytest.mark.parametrize("name", ["hssvm", "libsvm"])
def test_solvers_reach_the_optimum(name, benchmark):
    data = benchmark("datasets.simulated").Dataset(n_rows=200, n_features=3).get_data()
    objective = benchmark("objective").Objective(C=1.0)
    objective.set_data(**data)
    solver = benchmark(f"solvers.{name}").Solver()
    solver.set_objective(**objective.get_objective())
    gaps = []
    for tol in (1e-1, 1e-6):
        solver.run(tol)
        found = objective.evaluate_result(**solver.get_result())
        assert found["violation"] < 1e-5
        gaps.append(found["relative_gap"])
    assert gaps[1] < 1e-4
    exact = SVC(C=1.0, gamma=data["gamma"], tol=1e-8).fit(data["X"], data["y"])
    z = np.zeros(200)
    z[exact.support_] = exact.dual_coef_[0]
    best = objective.evaluate_result(z=z, intercept=exact.intercept_[0])["value"]
    assert found["value"] == pytest.approx(best, rel=1e-4)
