"""Decision values of random models and of LIBSVM's: the same, or different for a proven reason.

`--n-problems N` draws more problems, and prints how many differences of each kind there are.
"""

import warnings
from itertools import combinations

import numpy as np
import pytest
from helpers.differences import SAME, Box, Comparison
from helpers.random_problems import draw
from numpy.testing import assert_array_equal
from sklearn import svm
from sklearn.exceptions import ConvergenceWarning

from hssvm import SVC, SVR, OneClassSVM
from hssvm.training.routes.exact.route import EXACT_TOL

KERNELS = ["rbf", "rbf", "laplacian", "exponential", "matern32", "poly", "linear"]

REFERENCE = {"kernel": "precomputed", "tol": 1e-7, "max_iter": 200_000}


def pytest_generate_tests(metafunc):
    metafunc.parametrize("number", range(metafunc.config.getoption("--n-problems")))


@pytest.fixture
def rng(request, number):
    return np.random.default_rng([request.config.getoption("--seed"), number])


def fit(model, *arguments, **options):
    """Fit, and return whether the model has converged."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(*arguments, **options)
    return not any(issubclass(w.category, ConvergenceWarning) for w in caught)


def all_coefficients(model, n):
    Z = np.zeros((n, model.dual_coef_.shape[0]))
    Z[model.support_] = model.dual_coef_.T
    return Z


def kind_of(compared, data, gap, converged):
    """Return the kind of the difference after checking that it is one; else fail."""
    compared.assert_bounded()
    if compared.same:
        return "same"
    if not converged:
        return "hssvm has warned"
    if data.single:
        assert compared.excess[0] <= float32_excess(compared)
        return "float32"
    assert compared.excess[0] <= (gap + 1e-6) * compared.scale + 2 * compared.rounding
    if compared.same_but_intercept and compared.flat:
        compared.assert_middle()
        return "the intercept is not unique"
    if compared.libsvm_is_worse:
        return "LIBSVM is less exact"
    assert compared.excess[0] <= 2 * EXACT_TOL * compared.scale + 2 * compared.rounding
    return "both are optimal to seven digits"


def float32_excess(compared):
    """Excess of a model in float32, which stops at tol=1e-3 and rounds the kernel."""
    problem, z, eps = compared.problem, np.abs(compared.z[0]), np.finfo(np.float32).eps
    size = compared.scale + np.diag(problem.K) @ z**2 / 2
    values = np.abs(problem.K) @ z  # largest values that kernel values and coefficients allow
    rounding = 4 * eps * z @ values
    # rows on the edge of their loss are a rounding error within it, and pay for that with C
    cost = np.maximum(problem.upper, -problem.lower)
    free = (z > 0) & (z < cost)
    rounding += eps * cost[free] @ values[free]
    # one-class models raise the intercept, so that support vectors are inside
    raised = eps**0.5 * abs(compared.b[0]) * problem.upper.sum() if problem.total else 0.0
    return 2e-3 * size + rounding + raised


def compare(data, ours, theirs, y):
    """Fit both; return the coefficients of all rows, and whether ours has converged."""
    X = data.X.astype(np.float32) if data.single else data.X
    converged = fit(ours, X, y, sample_weight=data.weight)
    fit(theirs, data.K(data.X, data.X), y, sample_weight=data.weight)
    return [all_coefficients(model, data.n) for model in (ours, theirs)], converged


def rows_of(data):
    everything = np.concatenate([data.X, data.new])
    diagonal = np.array([data.K(x[None], x[None])[0, 0] for x in everything])
    return data.K(everything, data.X), diagonal


def test_classification(rng, number, record_property):
    data = draw(rng, KERNELS)
    y = data.classes(rng, 2 if number % 2 else int(rng.integers(3, 6)))
    weight = "balanced" if data.balanced else None
    ours = SVC(C=data.C, class_weight=weight, scaling=None, **data.kernel)
    theirs = svm.SVC(C=data.C, class_weight=weight, decision_function_shape="ovo", **REFERENCE)
    Z, converged = compare(data, ours, theirs, y)
    K, (rows, diagonal) = data.K(data.X, data.X), rows_of(data)
    cost = data.C * data.weights * theirs.class_weight_[y]
    kinds, sure = [], np.ones(len(rows), bool)
    two = y.max() == 1
    for pair, (i, j) in enumerate(combinations(range(y.max() + 1), 2)):
        first, second = np.flatnonzero(y == i), np.flatnonzero(y == j)
        both, sign = np.r_[first, second], np.repeat([1.0, -1.0], [first.size, second.size])
        z = [-A[both, 0] if two else np.r_[A[first, j - 1], A[second, i]] for A in Z]
        b = [(-1 if two else 1) * model.intercept_[pair] for model in (ours, theirs)]
        problem = Box.of_classes(K[np.ix_(both, both)], sign, cost[both])
        compared = Comparison(problem, z, b, rows[:, both], diagonal, 1.0)
        kinds.append(kind_of(compared, data, ours.fit_report_.gap[pair], converged))
        error = np.finfo(np.float32).eps * np.abs(rows[:, both]) @ np.abs(z[0]) * data.single
        sure &= np.abs(compared.values[1]) > 2 * SAME * compared.size + error
    for kind in kinds:
        record_property("kind", ("two classes: " if two else "pair of classes: ") + kind)
    if set(kinds) == {"same"}:
        new = np.concatenate([data.X, data.new])
        labels = ours.predict(new.astype(np.float32) if data.single else new)
        assert_array_equal(labels[sure], theirs.predict(rows)[sure])


def test_regression(rng, record_property):
    data = draw(rng, KERNELS)
    y = data.signal * 10.0 ** rng.uniform(-2, 2)
    ours = SVR(C=data.C, epsilon=data.epsilon, scaling=None, **data.kernel)
    theirs = svm.SVR(C=data.C, epsilon=data.epsilon, **REFERENCE)
    Z, converged = compare(data, ours, theirs, y)
    cost = data.C * data.weights
    problem = Box(data.K(data.X, data.X), y, -cost, cost, data.epsilon)
    z, b = [A[:, 0] for A in Z], [model.intercept_[0] for model in (ours, theirs)]
    compared = Comparison(problem, z, b, *rows_of(data), y.std())
    kind = kind_of(compared, data, ours.fit_report_.gap[0], converged)
    record_property("kind", f"regression: {kind}")


def test_novelty(rng, record_property):
    data = draw(rng, KERNELS)
    ours = OneClassSVM(nu=data.nu, scaling=None, **data.kernel)
    theirs = svm.OneClassSVM(nu=data.nu, **REFERENCE)
    Z, converged = compare(data, ours, theirs, None)
    total = data.nu * data.weights.sum()
    zero = np.zeros(data.n)
    problem = Box(data.K(data.X, data.X), zero, zero, data.weights, total=total)
    z, b = [A[:, 0] for A in Z], [model.intercept_[0] for model in (ours, theirs)]
    rows, diagonal = rows_of(data)
    # decision values are differences of larger values, and so are their rounding errors
    compared = Comparison(problem, z, b, rows, diagonal, 1e-2 * np.abs(rows @ z[1]).max())
    if not compared.same and compared.no_direction(total):
        kind = "all decision values are 0 up to the tolerance"
    else:
        kind = kind_of(compared, data, ours.fit_report_.gap[0], converged)
    record_property("kind", f"one class: {kind}")
