"""Regression of censored targets: the solution of its dual, its score, and what models have."""

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from reference import dual_by_clarabel
from sklearn.utils.estimator_checks import parametrize_with_checks

import hssvm
from hssvm import HSS, SVR, Cells, CensoredSVR
from hssvm.exceptions import DataWarning
from hssvm.kernels import Gaussian
from hssvm.problems import CensoredProblem
from hssvm.training.data.censoring import concordance_index, gehan_scores, known_ends


@parametrize_with_checks([CensoredSVR(), CensoredSVR(refine=False)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def lifetimes(rng, n, *, left=0.0):
    """X, the logarithms of lifetimes, their ends, of which about half are open, and the truth."""
    X = rng.uniform(0, 1, (n, 2))
    truth = np.sin(3 * X[:, 1]) + X[:, 0]
    y = truth + 0.2 * rng.standard_normal(n)
    observed = np.sort(rng.uniform(0, 2, (n, 2)), axis=1)
    low, high = (
        np.where(y < observed[:, 1], y, observed[:, 1]),
        np.where(y < observed[:, 1], y, np.inf),
    )
    early = (y < observed[:, 0]) & (rng.random(n) < left)
    low[early], high[early] = -np.inf, observed[early, 0]
    return X, y, np.stack([low, high], axis=1), truth


@pytest.mark.parametrize("n", [300, pytest.param(2000, marks=pytest.mark.slow)])
def test_solution_by_another_solver(n, rng):
    X, _, ends, _ = lifetimes(rng, n, left=0.5)
    weight = rng.uniform(0.5, 2, n)
    model = CensoredSVR(C=3, epsilon=0.05, gamma=2.0, tol=1e-9).fit(X, ends, weight)
    low, high = np.split(ends, 2, axis=1)
    problem = CensoredProblem(low, high, 3 * weight[:, None], np.array([0.05]))
    K, certificate = Gaussian(2.0).block(X), model.certify(X, ends, weight)
    z, dual = dual_by_clarabel(K, problem, 0)
    assert_allclose(certificate.dual[0], dual, rtol=1e-6)
    assert_allclose(model._values_without_intercept(X)[:, 0], K @ z, atol=2e-3)
    assert certificate.primal[0] >= dual * (1 - 1e-9)
    b = model.intercept_[0]
    predicted = model._values_without_intercept(X)[:, 0] + b
    loss = np.maximum(0, np.maximum(low[:, 0] - predicted, predicted - high[:, 0]) - 0.05)
    assert_allclose(certificate.primal[0], z @ K @ z / 2 + 3 * weight @ loss, rtol=1e-4)


@pytest.mark.parametrize("approximation", [None, Cells(500, n_trees=2), HSS(n_trees=2)], ids=repr)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_predictions_are_not_dragged_down_by_censoring(approximation, dtype, rng):
    X, _, ends, truth = lifetimes(rng, 3000)
    X = X.astype(dtype)
    known = np.isfinite(ends).all(axis=1)
    model = CensoredSVR(C=3, approximation=approximation, random_state=0).fit(X, ends)
    error = np.abs(model.predict(X) - truth).mean()
    taken_as_known = SVR(C=3, random_state=0).fit(X, ends[:, 0])
    left_out = SVR(C=3, random_state=0).fit(X[known], ends[known, 0])
    assert error < 0.7 * np.abs(taken_as_known.predict(X) - truth).mean()
    assert error < np.abs(left_out.predict(X) - truth).mean()


def test_known_targets_give_an_svr(rng):
    X, y, _, _ = lifetimes(rng, 400)
    expected = SVR(C=3, gamma=1.0, tol=1e-8).fit(X, y).predict(X)
    model = CensoredSVR(C=3, gamma=1.0, tol=1e-8)
    assert_allclose(model.fit(X, y).predict(X), expected, atol=1e-5)
    assert_allclose(model.fit(X, np.stack([y, y], axis=1)).predict(X), expected, atol=1e-5)
    assert_allclose(model.fit(X, -np.stack([y, y], axis=1)).predict(X), -expected, atol=1e-5)


def test_left_censoring_is_the_mirror_image(rng):
    X, _, ends, _ = lifetimes(rng, 400)
    right = CensoredSVR(C=3, gamma=1.0, tol=1e-8).fit(X, ends)
    left = CensoredSVR(C=3, gamma=1.0, tol=1e-8).fit(X, -ends[:, ::-1])
    assert_allclose(left.predict(X), -right.predict(X), atol=1e-4)
    assert_allclose(left.score(X, -ends[:, ::-1]), right.score(X, ends), atol=1e-3)


def test_structured_arrays(rng):
    X, _, ends, _ = lifetimes(rng, 400)
    y = np.zeros(400, [("event", "?"), ("time", "f8")])
    y["event"], y["time"] = np.isfinite(ends[:, 1]), ends[:, 0]
    model = CensoredSVR(random_state=0).fit(X, y)
    assert_array_equal(model.predict(X), CensoredSVR(random_state=0).fit(X, ends).predict(X))
    assert model.score(X, y) == model.score(X, ends)
    assert model.certify(X, y).dual[0] == model.certify(X, ends).dual[0]


def surely_before(ends):
    """Mask (n, n) of the pairs in a sure order; one that is censored at t is beyond t."""
    (low, high), n = ends.T, len(ends)
    before = np.zeros((n, n), bool)
    for i in range(n):
        for j in range(n):
            strict = low[i] == high[i] and low[j] == high[j]
            before[i, j] = i != j and (high[i] < low[j] or (high[i] == low[j] and not strict))
    return before


@st.composite
def censored_targets(draw):
    n = draw(st.integers(1, 12))
    value = st.integers(0, 5).map(float)
    pairs = st.one_of(
        value.map(lambda t: (t, t)),
        value.map(lambda t: (t, np.inf)),
        value.map(lambda t: (-np.inf, t)),
    )
    ends = np.array(draw(st.lists(pairs, min_size=n, max_size=n)))
    predicted = np.array(draw(st.lists(value, min_size=n, max_size=n)))
    return ends, predicted, np.array(draw(st.lists(value, min_size=n, max_size=n)))


@hypothesis.given(censored_targets())
def test_scores_by_definition(drawn):
    ends, predicted, weight = drawn
    before = surely_before(ends)
    assert_array_equal(gehan_scores(ends), before.sum(axis=0) - before.sum(axis=1))
    pairs = before * np.outer(weight, weight)
    alike = (predicted[:, None] < predicted) + 0.5 * (predicted[:, None] == predicted)
    found = concordance_index(ends, predicted, weight)
    if pairs.sum() == 0:
        assert np.isnan(found)
    else:
        assert_allclose(found, (pairs * alike).sum() / pairs.sum(), atol=1e-12)


def test_score_is_that_of_scikit_survival(rng):
    metrics = pytest.importorskip("sksurv.metrics")
    time, event = rng.integers(1, 200, 1500) * 1.0, rng.random(1500) < 0.4
    predicted = time + rng.integers(0, 100, 1500)
    ends = np.stack([time, np.where(event, time, np.inf)], axis=1)
    expected = metrics.concordance_index_censored(event, time, -predicted)[0]
    assert_allclose(concordance_index(ends, predicted, np.ones(1500)), expected, rtol=1e-12)


def test_learned_scales_find_the_relevant_features(rng):
    X, _, ends, _ = lifetimes(rng, 1500)
    X = np.hstack([X, rng.uniform(0, 1, (1500, 6))])
    model = CensoredSVR(C=3, scaling="learned", random_state=0).fit(X, ends)
    assert model.feature_importances_[:2].sum() > 0.7
    plain = CensoredSVR(C=3, scaling="standard", random_state=0).fit(X, ends)
    new, _, new_ends, _ = lifetimes(rng, 1500)
    new = np.hstack([new, rng.uniform(0, 1, (1500, 6))])
    assert model.score(new, new_ends) > plain.score(new, new_ends)


@pytest.mark.parametrize("approximation", [None, Cells(200)], ids=repr)
def test_files_exports_explanations_and_out_of_fold_values(approximation, rng, tmp_path):
    X, _, ends, _ = lifetimes(rng, 600)
    model = CensoredSVR(C=2, approximation=approximation, out_of_fold=True, random_state=0)
    model.fit(X, ends)
    out_of_fold = concordance_index(ends, model.out_of_fold_decision_, np.ones(600))
    assert_allclose(model.fit_report_.out_of_fold_score, out_of_fold)
    assert "out-of-fold concordance index" in model.summary()
    model.save(tmp_path / "model")
    loaded = hssvm.load(tmp_path / "model")
    assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.score(X, ends) == model.score(X, ends)
    explanation = model.explain(X[:4])
    total = explanation.values.sum(axis=1) + explanation.base_values
    assert_allclose(total, model.predict(X[:4]), atol=1e-8)
    assert not hasattr(model, "predict_interval")
    with pytest.raises(AttributeError, match="unknown if targets are censored"):
        _ = model.predict_interval


def test_reduce_and_warm_start(rng):
    X, _, ends, _ = lifetimes(rng, 600)
    model = CensoredSVR(C=2, warm_start=True).fit(X, ends)
    assert len(model.reduce(X, ends).support_vectors_) < len(model.support_vectors_)
    model.set_params(C=2.2).fit(X, ends)
    assert model.fit_report_.status == ["CONVERGED"]


@pytest.mark.parametrize("n", [300, 6000])
def test_estimate_cost(n, rng):
    X, _, ends, _ = lifetimes(rng, n)
    assert CensoredSVR().estimate_cost(X, ends).n_rows == n
    assert CensoredSVR(approximation=Cells(200)).estimate_cost(X, ends).n_rows == n


def test_a_C_that_is_too_small_for_the_units_of_y(rng):
    X, _, ends, _ = lifetimes(rng, 2000)
    with pytest.warns(DataWarning, match="C is too small for the units of y"):
        CensoredSVR().fit(X, 1e4 * ends)


def test_targets_that_are_all_censored_on_one_side_teach_nothing(rng):
    X, _, ends, _ = lifetimes(rng, 300)
    ends[:, 1] = np.inf
    with pytest.raises(ValueError, match="all targets are censored on the same side, at least"):
        CensoredSVR().fit(X, ends)
    with pytest.raises(ValueError, match="all targets are censored on the same side, at most"):
        CensoredSVR().fit(X, -ends[:, ::-1])


INVALID = [
    ([[1.0, 2.0], [1.0, 1.0]], "first row 0, with two different finite ends; pass the middle"),
    ([[1.0, 1.0], [np.inf, 1.0]], "first row 1, with a low end above the high end; swap them"),
    ([[1, 2.0], [1, 0.5]], "swap them, or, if the columns are events and times"),
    ([[True, False], [True, False]], "y has a column of True and False"),
    ([[1j, 1j], [1j, 1j]], "y must be real|Complex data not supported"),
    ([[-np.inf, np.inf], [1.0, 1.0]], "with two infinite ends, which say nothing; remove them"),
    ([[1.0, np.nan], [1.0, 1.0]], "y has missing values in 1 of 2 rows"),
    ([[1.0, 1.0, 1.0]] * 2, "y should be a 1d array"),
    (np.array([(1.0, True)] * 2, [("t", "f8"), ("e", "?")]), "structured array of events"),
    (np.array([(True, np.nan)] * 2, [("e", "?"), ("t", "f8")]), "y has missing values"),
    (np.array([(True, -np.inf)] * 2, [("e", "?"), ("t", "f8")]), "take no logarithm of 0"),
    ([np.inf, 1.0], "infinity"),
]


@pytest.mark.parametrize(("y", "message"), INVALID)
def test_invalid_targets(y, message):
    with pytest.raises(ValueError, match=message):
        CensoredSVR().fit([[0.0], [1.0]], y)
    model = CensoredSVR().fit([[0.0], [1.0]], [0.0, 1.0])
    with pytest.raises(ValueError, match=message):
        model.score([[0.0], [1.0]], y)


def test_invalid_weights_of_a_score(rng):
    X, _, ends, _ = lifetimes(rng, 60)
    model = CensoredSVR().fit(X, ends)
    for weight in (np.ones((60, 2)), np.ones(59), -np.ones(60), np.full(60, np.nan)):
        with pytest.raises(ValueError, match=r"[Ww]eight"):
            model.score(X, ends, weight)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.score(X, ends[:10])


def test_known_ends(rng):
    _, _, ends, _ = lifetimes(rng, 100, left=0.5)
    assert np.isfinite(known_ends(ends)).all()
    assert np.isinf(ends).any(axis=0).all()
