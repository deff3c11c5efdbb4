"""Kernel ridge regression: scikit-learn's solution, closed forms, and what models have."""

import hypothesis
import numpy as np
import pytest
import scipy.sparse
import sklearn.kernel_ridge
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.utils.estimator_checks import parametrize_with_checks

from hssvm import HSS, Cells, KernelRidge
from hssvm.hss import HSSANN
from hssvm.kernels import Gaussian, Laplacian
from hssvm.problems import LeastSquaresProblem
from hssvm.training.out_of_fold import assign_folds

TREES = HSS(2, leaf_size=100, max_rank=40)
START = HSS(leaf_size=100, max_rank=20)


@pytest.fixture
def small_data_has_leaves(monkeypatch):
    monkeypatch.setattr("hssvm.training.config.EXACT_ROWS", 0)


@parametrize_with_checks([KernelRidge(), KernelRidge(refine=False)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def waves(rng, n, n_targets=1):
    """X, targets far from 0, and weights of which some are 0."""
    X = rng.uniform(-2, 2, (n, 2))
    phases = np.arange(n_targets)
    Y = np.sin(2 * X[:, :1] + phases) + X[:, 1:] + 0.1 * rng.standard_normal((n, n_targets)) + 5
    weight = rng.uniform(0, 2, n)
    weight[:: max(2, n // 7)] = 0
    return X, Y[:, 0] if n_targets == 1 else Y, weight


def by_scikit_learn(X, y, weight, new, alpha, gamma, kernel="rbf"):
    mean = np.average(y, axis=0, weights=weight)
    model = sklearn.kernel_ridge.KernelRidge(alpha=alpha, kernel=kernel, gamma=gamma)
    return model.fit(X, y - mean, sample_weight=weight).predict(new) + mean


@pytest.mark.parametrize("n_targets", [1, 3])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
@pytest.mark.parametrize("refined", [False, True])
def test_like_scikit_learn(n_targets, kernel, refined, rng, request):
    if refined:
        request.getfixturevalue("small_data_has_leaves")
    X, y, weight = waves(rng, 600, n_targets)
    new = rng.uniform(-2, 2, (50, 2))
    given = {"refine": True, "approximation": START, "tol": 1e-8} if refined else {}
    model = KernelRidge(0.1, kernel=kernel, gamma=0.5, **given).fit(X, y, weight)
    assert (model.n_iter_[0] > 1) == refined
    expected = by_scikit_learn(X, y, weight, new, 0.1, 0.5, kernel)
    assert_allclose(model.predict(new), expected, atol=1e-3 if refined else 1e-7)
    assert_array_equal(model.support_, np.flatnonzero(weight))


@hypothesis.settings(max_examples=40, deadline=None)
@hypothesis.given(
    n=st.integers(2, 120),
    seed=st.integers(0, 10**6),
    alpha=st.sampled_from([1e-4, 0.1, 1.0, 1e4]),
    dtype=st.sampled_from([np.float32, np.float64]),
    sparse=st.booleans(),
)
def test_any_small_problem(n, seed, alpha, dtype, sparse):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3)).astype(dtype)
    y, weight = rng.standard_normal(n), rng.uniform(0.1, 2, n)
    rows = scipy.sparse.csr_array(X) if sparse else X
    model = KernelRidge(alpha, gamma=0.3).fit(rows, y, weight)
    expected = by_scikit_learn(X.astype(np.float64), y, weight, X, alpha, 0.3)
    # coefficients are up to 1 / alpha times as large as their sums, of which float32 rounds each
    atol = 1e-6 if dtype == np.float64 else 1e-4 + 1e-5 / alpha
    assert_allclose(model.predict(rows), expected, atol=atol)
    assert model.certify(rows, y, weight).gap[0] > -1e-6


@pytest.mark.parametrize("n_targets", [1, 2])
def test_out_of_fold_leaves_out_single_rows(n_targets, rng):
    X, y, weight = waves(rng, 300, n_targets)
    model = KernelRidge(0.1, gamma=0.5, out_of_fold=True).fit(X, y, weight)
    center = np.average(y, axis=0, weights=weight)
    for i in rng.choice(np.flatnonzero(weight), 5):
        others = np.arange(300) != i
        ridge = sklearn.kernel_ridge.KernelRidge(alpha=0.1, kernel="rbf", gamma=0.5)
        ridge.fit(X[others], (y - center)[others], sample_weight=weight[others])
        expected = ridge.predict(X[i : i + 1])[0] + center
        assert_allclose(model.out_of_fold_decision_[i], expected, atol=1e-6)
    left_out = weight == 0
    assert_allclose(model.out_of_fold_decision_[left_out], model.predict(X[left_out]), atol=1e-4)


@pytest.mark.parametrize("n_targets", [1, 2])
def test_out_of_fold_of_refined_models_leaves_out_folds(small_data_has_leaves, n_targets, rng):
    X, y, weight = waves(rng, 300, n_targets)
    given = {"refine": True, "approximation": HSS(leaf_size=60, max_rank=10), "tol": 1e-10}
    model = KernelRidge(1e-2, gamma=0.5, out_of_fold=True, random_state=0, **given)
    model.fit(X, y, weight)
    assert model.n_iter_[0] > 1
    center = np.average(y, axis=0, weights=weight)
    fold = assign_folds(np.zeros(300, int), model._forest_seed)
    for f in range(5):
        others, held_out = fold != f, fold == f
        ridge = sklearn.kernel_ridge.KernelRidge(alpha=1e-2, kernel="rbf", gamma=0.5)
        ridge.fit(X[others], (y - center)[others], sample_weight=weight[others])
        expected = ridge.predict(X[held_out]) + center
        assert_allclose(model.out_of_fold_decision_[held_out], expected, atol=1e-3)


def test_indefinite_compressors_are_refused(rng):
    X, y, _ = waves(rng, 50)
    with pytest.raises(ValueError, match=r"set its compressor to None, or to hssvm.hss.Nested"):
        KernelRidge(approximation=HSS(compressor=HSSANN())).fit(X, y)


def test_rounding_is_reported(rng):
    X, y, _ = waves(rng, 300)
    model = KernelRidge(1e-5, gamma=0.01, tol=1e-9)
    with pytest.warns(match="rounding in float32"):
        model.fit(X.astype(np.float32), y)
    assert model.fit_report_.status == ["PRECISION"]
    assert KernelRidge(1e-5, gamma=0.01).fit(X, y).fit_report_.status == ["CONVERGED"]
    with pytest.raises(ValueError, match="1 / alpha has values up to inf"):
        KernelRidge(1e-320).fit(X, y)


def test_intervals_cover(rng):
    X, y, _ = waves(rng, 3000)
    model = KernelRidge(0.1, out_of_fold=True, random_state=0).fit(X[:2000], y[:2000])
    low, high = model.predict_interval(X[2000:], 0.9).T
    assert 0.86 < np.mean((low <= y[2000:]) & (y[2000:] <= high)) < 0.94


def test_certificate_by_definition(small_data_has_leaves, rng):
    X, y, weight = waves(rng, 400)
    model = KernelRidge(0.3, gamma=1.0, approximation=START, prediction="exact").fit(X, y, weight)
    certificate = model.certify(X, y, weight)
    K, z = Gaussian(1.0).block(X), np.zeros(400)
    z[model.support_] = model.dual_coef_[0]
    f, ridge, used = K @ z, 0.3 / weight[weight > 0], weight > 0
    centered = y - np.average(y, weights=weight)
    primal = z @ f / 2 + ((centered - f)[used] ** 2 / (2 * ridge)).sum()
    dual = centered @ z - z @ f / 2 - (ridge * z[used] ** 2).sum() / 2
    assert_allclose([certificate.primal[0], certificate.dual[0]], [primal, dual], rtol=1e-9)
    assert certificate.gap[0] > 0
    sampled = model.certify(X, y, weight, n_rows=200)
    assert sampled.low[0] <= sampled.gap[0] <= sampled.high[0]


def test_problem_of_rows_and_columns(rng):
    y, ridge = rng.standard_normal((6, 3)), np.array([1.0, np.inf, 2.0, 1.0, 1.0, np.inf])
    problem = LeastSquaresProblem(y, ridge)
    part = problem.columns(np.array([2, 0])).rows(np.array([0, 1, 2]))
    assert_array_equal(part.linear, y[:3, [2, 0]])
    assert_array_equal(part.used, [[True] * 2, [False] * 2, [True] * 2])
    assert (part.shift[1] > 1e5).all()


def test_forest_is_close_and_grows(rng):
    X, y, weight = waves(rng, 3000)
    exact = KernelRidge(0.1, refine=True, approximation=HSS(leaf_size=100)).fit(X, y, weight)
    model = KernelRidge(0.1, approximation=TREES, random_state=0, warm_start=True)
    model.fit(X, y, weight)
    assert model.fit_report_.n_trees == 2
    assert_allclose(model.predict(X), exact.predict(X), atol=0.1)
    more = HSS(3, leaf_size=100, max_rank=40)
    new = KernelRidge(0.1, approximation=more, random_state=0).fit(X, y, weight)
    model.set_params(approximation=more).fit(X, y, weight)
    assert_allclose(model.predict(X), new.predict(X), rtol=1e-10)
    model.set_params(alpha=0.2).fit(X, y, weight)  # other trees, not those of the last alpha
    fresh = KernelRidge(0.2, approximation=more, random_state=0).fit(X, y, weight)
    assert_allclose(model.predict(X), fresh.predict(X), rtol=1e-10)


def test_warm_start_saves_products(small_data_has_leaves, rng):
    X, y, _ = waves(rng, 2000)
    model = KernelRidge(1e-3, refine=True, approximation=START, warm_start=True, tol=1e-6)
    first = model.fit(X, y).n_iter_[0]
    assert model.fit(X, y).n_iter_[0] < first


def test_stops_and_says_so(small_data_has_leaves, rng):
    X, y, _ = waves(rng, 2000)
    model = KernelRidge(1e-4, refine=True, approximation=HSS(leaf_size=100, max_rank=4), max_iter=2)
    with pytest.warns(match="Reached max_iter"):
        model.fit(X, y)
    assert model.n_iter_[0] <= 4
    with pytest.warns(match="Reached max_time"):
        model.set_params(max_time=1e-9, max_iter=None).fit(X, y)


def test_cells_are_refused_with_advice(rng):
    X, y, _ = waves(rng, 50)
    with pytest.raises(ValueError, match=r"not available with KernelRidge.*HSS\(\)"):
        KernelRidge(approximation=Cells()).fit(X, y)


def test_derivatives_and_explanations(rng):
    X, y, _ = waves(rng, 300)
    model = KernelRidge(0.1, kernel=Laplacian(0.5)).fit(X, y)
    explained = model.explain(X[:5])
    assert_allclose(explained.base_values + explained.values.sum(axis=1), model.predict(X[:5]))
    assert model.estimate_cost(X, y).n_rows == 300
