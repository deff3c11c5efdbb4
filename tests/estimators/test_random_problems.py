"""Random problems beside scikit-learn's solvers: --n-problems of them, drawn from --seed.

All are small enough to be solved on the exact kernel. The objective of our solution must not exceed
that of LIBSVM's by more than the duality gap that the report claims.
"""

import warnings
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pytest
import scipy.sparse
from helpers.random_problems import kernel_matrix
from numpy.testing import assert_allclose
from sklearn import svm
from sklearn.exceptions import ConvergenceWarning

from hssvm import SVC, SVR, OneClassSVM

KERNELS = ["rbf", "laplacian", "exponential", "matern32", "matern52", "poly", "linear"]


def pytest_generate_tests(metafunc):
    if "number" in metafunc.fixturenames:
        metafunc.parametrize("number", range(metafunc.config.getoption("--n-problems")))


@dataclass
class Problem:
    X: np.ndarray  # float64, with the values of `rows`
    rows: object
    signal: np.ndarray
    weight: np.ndarray | None
    kernel: dict
    C: float

    @property
    def cost(self):
        return self.C * (np.ones(len(self.X)) if self.weight is None else self.weight)

    def K(self, Y=None, shift=0.0):
        return kernel_matrix(self.kernel, self.X if Y is None else Y, self.X, shift)


def draw(rng):
    n, p = int(np.exp(rng.uniform(np.log(5), np.log(400)))), int(rng.integers(1, 31))
    X = rng.standard_normal((n, p)) * 10.0 ** rng.uniform(-1, 1)
    if rng.random() < 0.3:  # rows twice
        X = X[rng.integers(0, n, n)]
    if rng.random() < 0.3:
        X[:, rng.integers(p)] = rng.choice([0.0, 1.0, -3.0])
    if sparse := rng.random() < 0.4:
        X *= rng.random((n, p)) < rng.uniform(0.1, 0.9)
    rows = X.astype(rng.choice([np.float32, np.float64]))
    X = rows.astype(np.float64)
    signal = np.sin(X @ rng.standard_normal(p) / max(X.std(), 1e-3)) + rng.normal(0, 0.3, n)
    return Problem(
        X,
        scipy.sparse.csr_array(rows) if sparse else rows,
        signal,
        rng.uniform(0.1, 3, n) if rng.random() < 0.4 else None,
        {
            "kernel": rng.choice(KERNELS),
            "gamma": 10.0 ** rng.uniform(-2, 1) / (p * max(X.var(), 1e-3)),
            "coef0": float(rng.integers(2)),
            "degree": int(rng.integers(1, 4)),
        },
        10.0 ** rng.uniform(-3, 4),
    )


@pytest.fixture
def problem(request, number):
    return draw(np.random.default_rng([request.config.getoption("--seed"), number]))


def fit(model, problem, *y):
    """Fit, and be told of whatever did not converge."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(problem.rows, *y, sample_weight=problem.weight)
    warned = any(issubclass(w.category, ConvergenceWarning) for w in caught)
    converged = set(model.fit_report_.status) == {"CONVERGED"}
    assert warned != converged
    assert not converged or np.all(model.fit_report_.gap <= model.fit_report_.tol)
    Z = np.zeros((len(problem.X), model.dual_coef_.shape[0]))
    Z[model.support_] = model.dual_coef_.T
    return Z


def reference(estimator, K, y, weight):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        estimator.set_params(kernel="precomputed", tol=1e-7, max_iter=1_000_000)
        estimator.fit(K, y, sample_weight=weight)
    z = np.zeros(len(K))
    z[estimator.support_] = estimator.dual_coef_[0]
    return z, estimator.intercept_[0]


def assert_as_good(ours, theirs, zero, gap, rounding):
    """Compare two objectives; LIBSVM's tol relates to that of zero coefficients."""
    allowed = gap * max(abs(ours), abs(theirs)) + 1e-3 * abs(theirs) + 1e-6 * zero + rounding
    assert ours - theirs <= allowed


def rounding_errors(problem, Z, intercept):
    """Bounds on those of the decision values, (n, k)."""
    K, epsilon = problem.K(), 1e-9 if problem.rows.dtype == np.float64 else 1e-5
    errors = epsilon * np.abs(K)
    if scipy.sparse.issparse(problem.rows):
        # |x|^2 + |y|^2 - 2 x'y: what is left of it has the rounding errors of its terms; of the L1
        # distance, too, whose terms are absolute values
        absolute = problem.kernel["kernel"] == "laplacian"
        terms = (np.abs(problem.X) if absolute else problem.X**2).sum(axis=1)
        shift = 8 * np.finfo(problem.rows.dtype).eps * np.add.outer(terms, terms)
        errors += np.abs(problem.K(shift=shift) - problem.K(shift=-shift))
    return errors @ np.abs(Z) + epsilon * np.abs(intercept)


def assert_predicts(values, problem, Z, intercept):
    expected = problem.K() @ Z + intercept
    errors = np.abs(values.reshape(expected.shape) - expected)
    assert np.all(errors <= rounding_errors(problem, Z, intercept))


def classes_of(problem, n_classes):
    cuts = np.quantile(problem.signal, np.arange(1, n_classes) / n_classes)
    return np.searchsorted(cuts, problem.signal)


def hinge_objective(K, cost, z, b, sign):
    return z @ K @ z / 2 + cost @ np.maximum(0, 1 - sign * (K @ z + b))


def test_one_vs_one(problem, number):
    n_classes = 3 + number % 3
    y = classes_of(problem, n_classes)
    model = SVC(C=problem.C, scaling=None, multi_class="ovo", **problem.kernel)
    Z, K, cost = fit(model, problem, y), problem.K(), problem.cost
    for pair, (i, j) in enumerate(combinations(range(model.classes_.size), 2)):
        first, second = np.flatnonzero(y == i), np.flatnonzero(y == j)
        rows, sign = np.r_[first, second], np.repeat([1.0, -1.0], [first.size, second.size])
        z, b = np.r_[Z[first, j - 1], Z[second, i]], model.intercept_[pair]
        own, block = cost[rows], K[np.ix_(rows, rows)]
        assert np.all(z * sign >= 0) and np.all(np.abs(z) <= own * (1 + 1e-6))
        weight = None if problem.weight is None else problem.weight[rows]
        theirs = reference(svm.SVC(C=problem.C), block, sign, weight)
        padded = np.zeros(len(K))
        padded[rows] = z
        rounding = own @ rounding_errors(problem, padded[:, None], b)[rows, 0]
        assert_as_good(
            hinge_objective(block, own, z, b, sign), hinge_objective(block, own, *theirs, sign),
            own.sum(), model.fit_report_.gap[pair], rounding,
        )  # fmt: skip


def test_classification(problem, number):
    n_classes = 2 + number % 3 if len(problem.X) > 20 else 2
    y = classes_of(problem, n_classes)
    model = SVC(C=problem.C, scaling=None, multi_class="ovr", **problem.kernel)
    Z, K, cost = fit(model, problem, y), problem.K(), problem.cost
    rounding = rounding_errors(problem, Z, model.intercept_)
    assert_predicts(model.decision_function(problem.rows), problem, Z, model.intercept_)

    for j, label in enumerate(model.classes_[1:] if n_classes == 2 else model.classes_):
        sign = np.where(y == label, 1.0, -1.0)
        assert np.all(Z[:, j] * sign >= 0) and np.all(np.abs(Z[:, j]) <= cost * (1 + 1e-6))
        theirs = reference(svm.SVC(C=problem.C), K, sign, problem.weight)
        assert_as_good(
            hinge_objective(K, cost, Z[:, j], model.intercept_[j], sign),
            hinge_objective(K, cost, *theirs, sign),
            cost.sum(), model.fit_report_.gap[j], cost @ rounding[:, j],
        )  # fmt: skip


def test_regression(problem, number):
    epsilon = [0.0, 0.1, 1.0][number % 3]
    y, K, cost = problem.signal, problem.K(), problem.cost
    model = SVR(C=problem.C, epsilon=epsilon, scaling=None, **problem.kernel)
    Z = fit(model, problem, y)
    assert_predicts(model.predict(problem.rows), problem, Z, model.intercept_)

    def objective(z, b):
        return z @ K @ z / 2 + cost @ np.maximum(0, np.abs(K @ z + b - y) - epsilon)

    theirs = reference(svm.SVR(C=problem.C, epsilon=epsilon), K, y, problem.weight)
    ours = objective(Z[:, 0], model.intercept_[0])
    zero = objective(np.zeros(len(y)), np.median(y))
    rounding = cost @ rounding_errors(problem, Z, model.intercept_)[:, 0]
    assert_as_good(ours, objective(*theirs), zero, model.fit_report_.gap[0], rounding)


def test_novelty(problem, number):
    nu = [0.05, 0.3, 0.9][number % 3]
    K = problem.K()
    weight = np.ones(len(K)) if problem.weight is None else problem.weight
    model = OneClassSVM(nu=nu, scaling=None, **problem.kernel)
    Z = fit(model, problem)
    assert_predicts(model.decision_function(problem.rows), problem, Z, model.intercept_)
    z = Z[:, 0]
    total = nu * weight.sum()
    assert_allclose(z.sum(), total, rtol=1e-4)
    assert np.all(z >= 0) and np.all(z <= weight * (1 + 1e-6))

    def objective(z, b):
        return z @ K @ z / 2 + b * total + weight @ np.maximum(0, -(K @ z + b))

    theirs = reference(svm.OneClassSVM(nu=nu), K, None, problem.weight)
    zero = np.diag(K).mean() * total**2 / 2
    ours = objective(z, model.intercept_[0])
    rounding = weight @ rounding_errors(problem, Z, model.intercept_)[:, 0]
    gap = model.fit_report_.gap[0]
    rounding += gap * np.diag(K) @ z**2 / 2  # what the gap refers to if the objective is close to 0
    assert_as_good(ours, objective(*theirs), zero, gap, rounding)
