"""The drop-ins and scikit-learn's classes find the same models."""

import logging

import numpy as np
import pytest
import scipy.sparse
import sklearn.svm
from sklearn.metrics.pairwise import pairwise_kernels

from hssvm import dropin

pytestmark = pytest.mark.usefixtures("few_rows")

TOL = 1e-5

MODELS = {
    "SVC of 2": ("SVC", 2, {"C": 2.0}),
    "SVC of 4": ("SVC", 4, {"C": 2.0}),
    "SVC, balanced": ("SVC", 3, {"class_weight": "balanced"}),
    "SVC, weighted": ("SVC", 3, {"class_weight": {0: 0.5, 2: 2.0}}),
    "NuSVC of 2": ("NuSVC", 2, {"nu": 0.4123}),
    "NuSVC of 3": ("NuSVC", 3, {"nu": 0.4123}),
    "SVR": ("SVR", 0, {"C": 3.0, "epsilon": 0.2}),
    "NuSVR": ("NuSVR", 0, {"C": 3.0, "nu": 0.4123}),
    "NuSVR, no tube": ("NuSVR", 0, {"C": 3.0, "nu": 1.0}),
    "OneClassSVM": ("OneClassSVM", 1, {"nu": 0.3123}),
}


CASES = [
    (case, kernel)
    for case, (name, _, _) in MODELS.items()
    for kernel in (["rbf"] if "Nu" in name else ["rbf", "poly", "linear"])
]


def draw(rng, n_classes, n=120, p=4):
    """Rows with noisy labels of about the same frequency, or noisy targets.

    A single class is not around 0, where no hyperplane separates it from 0.
    """
    X = rng.standard_normal((n, p)) + (3 if n_classes == 1 else 0)
    if n_classes == 0:
        return X, np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * rng.standard_normal(n)
    order = np.argsort(X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.5 * rng.standard_normal(n))
    y = np.empty(n, np.int64)
    y[order] = np.arange(n) * n_classes // n
    return X, y


def fit_both(name, X, y, weight, caplog, **parameters):
    models = []
    for module in (sklearn.svm, dropin):
        model = getattr(module, name)(tol=TOL, **parameters)
        with caplog.at_level(logging.INFO, "hssvm.dropin"):
            models.append(model.fit(X, y, sample_weight=weight))
    assert caplog.messages[-1].endswith("trained by hssvm") or "not unique" in caplog.messages[-1]
    return models


def dense(array):
    return array.toarray() if scipy.sparse.issparse(array) else array


def all_coefficients(model, support, n):
    """Coefficients of all rows, (n_columns, n)."""
    coefficients = np.zeros((model.dual_coef_.shape[0], n))
    coefficients[:, support] = dense(model.dual_coef_)
    return coefficients


def dual_value(model, z, K, y):
    """The dual objective; with nu, its linear term is fixed."""
    linear = {"SVC": np.abs(z).sum(), "SVR": y @ z - getattr(model, "epsilon", 0) * np.abs(z).sum()}
    linear["NuSVR"] = y @ z
    return linear.get(type(model).__name__, 0.0) - z @ K @ z / 2


def values(model, X):
    return model.predict(X) if "SVR" in type(model).__name__ else model.decision_function(X)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("case", "kernel"), CASES)
def test_is_the_model_of_scikit_learn(case, weighted, sparse, kernel, rng, caplog):
    name, n_classes, parameters = MODELS[case]
    X, y = draw(rng, n_classes)
    n = y.size
    weight = None
    if weighted:
        weight = rng.uniform(0.5, 1.5, n)
        weight[rng.permutation(n)[: n // 10]] = 0
    rows = np.flatnonzero(weight > 0) if weighted else np.arange(n)
    data = scipy.sparse.csr_array(X) if sparse else X
    parameters = parameters | {"kernel": kernel, "gamma": 0.7, "coef0": 1.0, "degree": 2}
    if kernel == "linear" and name != "OneClassSVM":
        parameters["C"] = 0.1  # LIBSVM needs millions of iterations for larger ones
    if "SVC" in name:
        parameters |= {"decision_function_shape": "ovo"}
    theirs, ours = fit_both(name, data, y, weight, caplog, **parameters)

    test = draw(rng, n_classes, n=50)[0]
    wanted, found = (values(model, test) - model.intercept_ for model in (theirs, ours))
    size = np.abs(wanted).max()
    assert np.abs(found - wanted).max() < 1e-3 * size
    assert np.abs(ours.intercept_ - theirs.intercept_).max() < 1e-3 * size

    # LIBSVM counts only the rows with a weight
    z, z_theirs = (
        all_coefficients(model, support, n)
        for model, support in ((ours, ours.support_), (theirs, rows[theirs.support_]))
    )
    largest = np.abs(z_theirs).max()
    if kernel == "rbf":  # the coefficients of the others are not unique
        assert np.abs(z - z_theirs).max() < 1e-2 * largest
    assert np.array_equal(dense(ours.support_vectors_), X[ours.support_])
    assert ours.support_.dtype == theirs.support_.dtype
    group = y[ours.support_] if "SVC" in name else np.zeros(ours.support_.size)
    assert np.array_equal(np.lexsort([ours.support_, group]), np.arange(ours.support_.size))
    assert ours.n_support_.shape == theirs.n_support_.shape
    assert ours.n_support_.sum() == ours.support_.size
    if "SVC" in name:
        assert np.array_equal(ours.n_support_, np.bincount(y[ours.support_]))
    if kernel == "linear":
        coef = dense(theirs.coef_)
        assert np.abs(dense(ours.coef_) - coef).max() < 1e-3 * np.abs(coef).max()
    if theirs.dual_coef_.shape[0] == 1:
        K = pairwise_kernels(X, metric=kernel, filter_params=True, gamma=0.7, coef0=1.0, degree=2)
        dual, dual_theirs = (dual_value(ours, c[0], K, y) for c in (z, z_theirs))
        assert abs(dual - dual_theirs) < 1e-4 * abs(dual_theirs)


@pytest.mark.parametrize("case", ["SVC of 2", "SVR", "OneClassSVM"])
def test_reaches_the_tolerance_of_libsvm(case, rng):
    """By the definition: no two rows can exchange weight at a gain of more than tol."""
    name, n_classes, parameters = MODELS[case]
    X, y = draw(rng, n_classes, n=200)
    model = getattr(dropin, name)(gamma=0.7, tol=1e-3, **parameters).fit(X, y)
    z = all_coefficients(model, model.support_, y.size)[0]
    C = parameters.get("C", 1.0)
    f = pairwise_kernels(X, metric="rbf", gamma=0.7) @ z
    if name == "SVR":
        up, down = f - y + 0.2 * np.where(z >= 0, 1, -1), f - y - 0.2 * np.where(z <= 0, 1, -1)
        lower, upper = -C, C
    else:
        sign = 2 * y - 1 if name == "SVC" else 1
        up = down = f - (sign if name == "SVC" else 0)
        lower, upper = np.minimum(0, sign * C), np.maximum(0, sign * C)
    assert down[z > lower].max() - up[z < upper].min() <= 1e-3 + 1e-9


@pytest.mark.parametrize("name", ["SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM"])
def test_predicts_the_same_with_default_parameters(name, rng):
    """Labels of thousands of new rows, from models with the default tolerance."""
    n_classes = {"SVC": 3, "NuSVC": 2, "OneClassSVM": 1}.get(name, 0)
    X, y = draw(rng, n_classes, n=700)
    theirs, ours = (getattr(m, name)().fit(X, y) for m in (sklearn.svm, dropin))
    test = draw(rng, n_classes, n=3000)[0]
    if n_classes:
        assert np.mean(theirs.predict(test) == ours.predict(test)) >= 0.999
    else:
        assert np.abs(theirs.predict(test) - ours.predict(test)).max() < 2e-2


def test_solves_what_needs_no_support_vectors(rng):
    X = rng.standard_normal((50, 3))
    model = dropin.SVR(epsilon=1.0).fit(X, rng.uniform(-0.5, 0.5, 50))
    assert model.support_.size == 0
    assert np.ptp(model.predict(X)) == 0


def test_follows_changes_of_the_fitted_attributes(rng):
    X, y = draw(rng, 2)
    model = dropin.SVC(kernel="linear").fit(X, y)
    before = model.decision_function(X)
    model._intercept_ = model._intercept_ - 1
    assert np.allclose(model.decision_function(X), before + 1)


def test_intercept_of_nu_svr_without_free_coefficients(rng):
    """A coefficient between two solutions misses its bound by a rounding error, and is not free."""
    for seeded in rng.spawn(60):
        X, y = seeded.standard_normal((52, 4)), seeded.normal(0, 2, 52)
        theirs, ours = (
            module.NuSVR(C=0.02, nu=0.5, gamma=0.1, tol=TOL).fit(X, y)
            for module in (sklearn.svm, dropin)
        )
        assert abs(ours.intercept_[0] - theirs.intercept_[0]) < 1e-3
