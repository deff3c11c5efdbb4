"""Quantile regression: the solution of its dual, quantiles that hold, and what models have."""

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from reference import dual_by_clarabel
from sklearn.metrics import mean_pinball_loss
from sklearn.utils.estimator_checks import parametrize_with_checks

import hssvm
from hssvm import HSS, SVR, Cells, QuantileSVR
from hssvm.estimators.inputs.parameters import InvalidParameterError
from hssvm.exceptions import DataWarning
from hssvm.kernels import Gaussian
from hssvm.problems import QuantileProblem

QUANTILES = [0.1, 0.5, 0.9]


@parametrize_with_checks([QuantileSVR(), QuantileSVR(quantile=0.9, refine=False)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def widening(rng, n, dtype=np.float64):
    """The spread of y grows with the first feature."""
    X = rng.uniform(0, 1, (n, 2))
    y = np.sin(3 * X[:, 1]) + (0.1 + X[:, 0]) * rng.standard_normal(n)
    return X.astype(dtype), y


@pytest.mark.parametrize("n", [300, pytest.param(2000, marks=pytest.mark.slow)])
def test_solution_by_another_solver(n, rng):
    X, y = widening(rng, n)
    weight = rng.uniform(0.5, 2, n)
    model = QuantileSVR(C=3, quantile=QUANTILES, gamma=2.0, tol=1e-9).fit(X, y, weight)
    cost = np.tile(3 * weight[:, None], 3)
    problem = QuantileProblem(np.tile(y[:, None], 3), cost, np.array(QUANTILES))
    K, certificate = Gaussian(2.0).block(X), model.certify(X, y, weight)
    for j in range(3):
        z, dual = dual_by_clarabel(K, problem, j)
        assert_allclose(certificate.dual[j], dual, rtol=1e-6)
        found = model._values_without_intercept(X)[:, j]
        assert_allclose(found, K @ z, atol=2e-3 * np.abs(y).max())


def test_the_median_is_a_regression_without_a_tube(rng):
    X, y = widening(rng, 400)
    median = QuantileSVR(C=6, gamma=1.0, tol=1e-8).fit(X, y)
    same = SVR(C=3, epsilon=0, gamma=1.0, tol=1e-8).fit(X, y)
    assert_allclose(median.predict(X), same.predict(X), atol=1e-3)
    assert median.predict(X).shape == (400,)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("quantile", [0.05, 0.3, 0.8])
def test_the_fraction_below_is_the_quantile(quantile, dtype, rng):
    """Optimality of the intercept: at most n q rows are below, and at most n (1 - q) above."""
    X, y = widening(rng, 600, dtype)
    predicted = QuantileSVR(C=2, quantile=quantile, tol=1e-6).fit(X, y).predict(X)
    near = 1e-3 * np.std(y)
    assert (y < predicted - near).mean() <= quantile + 1e-9
    assert (y > predicted + near).mean() <= 1 - quantile + 1e-9


def test_quantiles_do_not_cross(rng):
    """In any order, and with the smaller loss."""
    X, y = widening(rng, 200)
    quantile = [0.9, 0.1, 0.5, 0.45, 0.55]
    model = QuantileSVR(C=1e3, quantile=quantile, gamma=30.0, random_state=0).fit(X, y)
    new = rng.uniform(0, 1, (2000, 2))
    values, predicted = model._decision_values(new), model.predict(new)
    order = np.argsort(quantile)
    assert (np.diff(values[:, order]) < 0).any()
    assert (np.diff(predicted[:, order]) >= 0).all()
    assert_array_equal(np.sort(predicted), np.sort(values))
    target = np.sin(3 * new[:, 1]) + (0.1 + new[:, 0]) * rng.standard_normal(2000)
    losses = [
        sum(mean_pinball_loss(target, own, alpha=q) for own, q in zip(P.T, quantile, strict=True))
        for P in (predicted, values)
    ]
    assert losses[0] <= losses[1]
    one = QuantileSVR(C=1e3, quantile=[0.5], gamma=30.0).fit(X, y).predict(new)
    assert one.shape == (2000, 1)


def test_score(rng):
    X, y = widening(rng, 500)
    model = QuantileSVR(C=5, quantile=QUANTILES).fit(X, y)
    scores = []
    for q, own in zip(QUANTILES, model.predict(X).T, strict=True):
        best = mean_pinball_loss(y, np.full(500, np.quantile(y, q)), alpha=q)
        scores.append(1 - mean_pinball_loss(y, own, alpha=q) / best)
    assert_allclose(model.score(X, y), np.mean(scores), rtol=1e-3)


@pytest.mark.parametrize("approximation", [Cells(500, n_trees=2), HSS(n_trees=2)], ids=repr)
def test_approximations(approximation, rng):
    X, y = widening(rng, 4000)
    model = QuantileSVR(C=5, quantile=QUANTILES, approximation=approximation, random_state=0)
    model.fit(X, y)
    assert not model.fit_report_.exact_kernel
    below = (y[:, None] <= model.predict(X)).mean(axis=0)
    assert_allclose(below, QUANTILES, atol=0.05)


def test_intervals_hold_and_follow_the_spread(rng):
    X, y = widening(rng, 3000)
    model = QuantileSVR(C=3, quantile=[0.2, 0.8], out_of_fold=True, random_state=0)
    model.fit(X[:1500], y[:1500])
    low, high = model.predict_interval(X[1500:], coverage=0.9).T
    assert abs(((low <= y[1500:]) & (y[1500:] <= high)).mean() - 0.9) < 0.05
    wide = X[1500:, 0] > 0.5
    assert (high - low)[wide].mean() > 1.3 * (high - low)[~wide].mean()
    assert model.out_of_fold_decision_.shape == (1500, 2)
    narrow = model.predict_interval(X[1500:], coverage=0.01)
    assert (narrow[:, 0] <= narrow[:, 1]).all()
    few = QuantileSVR(quantile=[0.2, 0.8], out_of_fold=True).fit(X[:30], y[:30])
    assert_array_equal(few.predict_interval(X[:2], coverage=0.99), 2 * [[-np.inf, np.inf]])
    assert "out-of-fold D^2" in model.summary()
    with pytest.raises(ValueError, match="set out_of_fold=True and fit again"):
        QuantileSVR().fit(X[:100], y[:100]).predict_interval(X)


@pytest.mark.parametrize("quantile", [0.25, QUANTILES])
def test_files_and_explanations(quantile, rng, tmp_path):
    X, y = widening(rng, 300)
    model = QuantileSVR(C=2, quantile=quantile, scaling="standard").fit(X, y)
    expected = model.predict(X)
    model.save(tmp_path / "model")
    loaded = hssvm.load(tmp_path / "model")
    assert_array_equal(loaded.predict(X), expected)
    assert loaded.quantile_ == model.quantile_
    assert loaded.score(X, y) == model.score(X, y)
    explanation = model.explain(X[:4])
    total = explanation.values.sum(axis=1) + explanation.base_values
    assert_allclose(total.reshape(4, -1), model._decision_values(X[:4]), atol=1e-8)
    names = None if np.ndim(quantile) == 0 else ["quantile 0.1", "quantile 0.5", "quantile 0.9"]
    assert explanation.output_names == names
    gradient = model.gradient(X[:4])
    assert gradient.shape == ((4, 2) if np.ndim(quantile) == 0 else (4, 2, 3))


def test_what_several_quantiles_refuse(rng, tmp_path):
    X, y = widening(rng, 300)
    model = QuantileSVR(C=2, quantile=QUANTILES).fit(X, y)
    with pytest.raises(ValueError, match="predicts one value, but this one predicts 3"):
        model.save_libsvm(tmp_path / "model")
    with pytest.raises(ValueError, match="pass y"):
        model.reduce(X)
    assert len(model.reduce(X, y).support_vectors_) < 300
    median = QuantileSVR(C=2).fit(X, y)
    median.save_libsvm(tmp_path / "model")
    assert_allclose(hssvm.load_libsvm(tmp_path / "model").predict(X), median.predict(X), atol=1e-6)


@pytest.mark.parametrize("quantile", [0.05, 0.5, [0.01, 0.9]])
def test_a_C_that_is_too_small_for_the_units_of_y(quantile, rng):
    X, y = widening(rng, 2000)
    with pytest.warns(DataWarning, match="C is too small for the units of y"):
        QuantileSVR(quantile=quantile).fit(X, 1e4 * y)


def test_sparse_rows_and_warm_start(rng):
    X, y = widening(rng, 400)
    model = QuantileSVR(C=2, quantile=QUANTILES, tol=1e-6, warm_start=True).fit(X, y)
    same = QuantileSVR(C=2, quantile=QUANTILES, tol=1e-6).fit(scipy.sparse.csr_array(X), y)
    assert_allclose(same.predict(scipy.sparse.csr_array(X)), model.predict(X), atol=1e-3)
    model.set_params(C=2.1).fit(X, y)
    assert model.fit_report_.status == ["CONVERGED"] * 3


@pytest.mark.parametrize("quantile", [0, 1, -0.1, "half", [], [0.5, 1.0], [[0.5]], None])
def test_quantiles_are_checked(quantile):
    with pytest.raises(InvalidParameterError, match="quantile must be a number between 0 and 1"):
        QuantileSVR(quantile=quantile).fit([[0.0], [1.0]], [0.0, 1.0])
