"""Decision values of random drop-ins and of scikit-learn's classes, with the same tolerance.

They are the same, or they differ for a proven reason, or scikit-learn has trained both. See
`helpers.differences`; `--n-problems N` draws more, and prints how many there are of each kind.
"""

import logging
import warnings

import numpy as np
import pytest
import sklearn.svm
from helpers.differences import Box, Comparison, NuClassifier, NuRegressor
from helpers.random_problems import draw
from sklearn.svm._base import BaseLibSVM

from hssvm import dropin
from hssvm.dropin.patch import NAMES

pytestmark = [
    pytest.mark.usefixtures("few_rows"),
    pytest.mark.filterwarnings("ignore:Solver terminated early"),
]

TOL = 1e-5


class FellBackError(Exception):
    """scikit-learn has to train; it may take forever with a huge C."""


def pytest_generate_tests(metafunc):
    metafunc.parametrize("number", range(metafunc.config.getoption("--n-problems")))


@pytest.fixture
def fit(monkeypatch, caplog):
    """Fit a drop-in, or raise `FellBackError` with the reason; and fit scikit-learn's class."""

    def fall_back(*arguments):
        raise FellBackError(caplog.messages[-1].partition("fit: ")[2])

    def fit(name, data, y, **parameters):
        caplog.set_level(logging.INFO, "hssvm.dropin")
        with monkeypatch.context() as patched, warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # overflow of the kernel
            patched.setattr(BaseLibSVM, "_dense_fit", fall_back)
            model = getattr(dropin, name)(tol=TOL, **parameters)
            model.fit(data.X, y, sample_weight=data.weight)
        other = getattr(sklearn.svm, name)(tol=TOL, max_iter=200_000, **parameters)
        return model, other.fit(data.X, y, sample_weight=data.weight)

    return fit


def points(models, n, problem):
    """Coefficients and intercepts; those of a nu-SVC have been divided by the margin."""
    found = []
    for model in models:
        z, b = np.zeros(n), model.intercept_[0]
        z[model.support_] = model.dual_coef_[0]
        if isinstance(problem, NuClassifier):
            margin = problem.margin(z)
            z, b = margin * z, margin * b
        found.append((z, b))
    return zip(*found, strict=True)


@pytest.mark.parametrize("name", NAMES)
def test_same_as_scikit_learn(name, number, request, fit, record_property):
    rng = np.random.default_rng([request.config.getoption("--seed"), number, NAMES.index(name)])
    data = draw(rng, ["rbf"] if "Nu" in name else ["rbf", "poly", "linear"])
    K, weight, cost = data.K(data.X, data.X), data.weights, data.C * data.weights
    parameters, y, size = dict(data.kernel), None, 0.0
    if "SVC" in name:
        y = data.classes(rng, 2)
        sign, size = 2.0 * y - 1, 1.0
    if "SVR" in name:
        y = data.signal * 10.0 ** rng.uniform(-2, 2)
        size, parameters["C"] = y.std(), data.C
    if name == "SVC":
        parameters |= {"C": data.C, "class_weight": "balanced" if data.balanced else None}
    if name == "SVR":
        parameters["epsilon"] = data.epsilon
    if "Nu" in name or name == "OneClassSVM":
        parameters["nu"] = data.nu

    try:
        models = fit(name, data, y, **parameters)
    except FellBackError as reason:
        record_property("kind", f"{name}: {reason}")
        return
    match name:
        case "SVC":
            problem = Box.of_classes(K, sign, cost * models[1].class_weight_[y])
        case "NuSVC":
            problem = NuClassifier(K, sign, weight, data.nu)
        case "SVR":
            problem = Box(K, y, -cost, cost, data.epsilon)
        case "NuSVR":
            problem = NuRegressor(K, y, cost, data.nu)
        case "OneClassSVM":
            problem = Box(K, 0 * weight, 0 * weight, weight, total=data.nu * weight.sum())
    rows = data.K(np.concatenate([data.X, data.new]), data.X)
    diagonal = np.array([data.K(x[None], x[None])[0, 0] for x in (*data.X, *data.new)])
    z, b = points(models, data.n, problem)
    if name == "OneClassSVM":
        size = 1e-2 * np.abs(rows @ z[1]).max()
    if name == "NuSVC":
        size = 0.0
    compared = Comparison(problem, z, b, rows, diagonal, size)
    record_property("kind", f"{name}: {kind_of(compared)}")


def kind_of(compared):
    compared.assert_bounded()
    if compared.same:
        return "same"
    violation = compared.problem.violation(compared.z[0])
    assert violation <= TOL + compared.rounding_of_slopes
    if np.abs(compared.values[0] - compared.values[1]).max() <= 2 * TOL:
        return "the decision values differ by less than the tolerance"
    if compared.libsvm_is_worse:
        return "LIBSVM is less exact"
    assert not compared.same_but_intercept
    return "both satisfy the stopping rule of LIBSVM"
