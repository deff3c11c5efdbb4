"""Probabilities, prediction sets and intervals, beside scikit-learn's and separate fits."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import sklearn
from helpers.command import run_here
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss
from sklearn.utils.fixes import parse_version

import hssvm
from hssvm import HSS, SVC, SVCCV, SVR, Cells
from hssvm.estimators.calibration import (
    CONFORMITY_SCORES,
    conformal_quantile,
    fit_calibration,
    kept_scores,
    nonconformity,
    probabilities,
)
from hssvm.estimators.configured import HELD_OUT_ROWS
from hssvm.estimators.inputs.parameters import InvalidParameterError
from hssvm.training.out_of_fold import assign_folds
from hssvm.training.plan import FOLDS

NEW = pytest.mark.skipif(
    parse_version(sklearn.__version__) < parse_version("1.8"), reason="needs scikit-learn 1.8"
)
METHODS = ["sigmoid", "isotonic", pytest.param("temperature", marks=NEW)]


def noisy(rng, n, n_classes=2):
    X = rng.standard_normal((n, 3))
    y = np.digitize(
        X[:, 0] + X[:, 1] ** 2 + 0.6 * rng.standard_normal(n), [0.5, 1.5][: n_classes - 1]
    )
    return X, np.array(["a", "b", "c"])[y]


class Values(ClassifierMixin, BaseEstimator):
    """A classifier whose rows are decision values."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return X[:, 0] if self.classes_.size == 2 else X

    def predict(self, X):
        raise NotImplementedError


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_curves_are_those_of_scikit_learn(method, n_classes, rng):
    codes = rng.integers(n_classes, size=400)
    k = 1 if n_classes == 2 else n_classes
    values = rng.standard_normal((400, k)) + (codes[:, None] == np.arange(n_classes))[:, -k:]
    weight, new = rng.uniform(0.5, 2, 400), 2 * rng.standard_normal((100, k))
    theirs = CalibratedClassifierCV(Values(), method=method, ensemble=False)
    expected = theirs.fit(values, codes, sample_weight=weight).predict_proba(new)
    calibration = fit_calibration(method, values, codes, n_classes, weight)
    found = probabilities(calibration, new, n_classes)
    assert_allclose(found, expected, atol=1e-6)
    assert_allclose(found.sum(axis=1), 1)


def test_no_class_is_likely():
    """scikit-learn's answer, too, is the uniform distribution."""
    curves = [np.array([[0.0, 1.0], [0.0, 1.0]])] * 3
    assert_allclose(probabilities(("isotonic", curves), np.full((1, 3), -1.0), 3), 1 / 3)


@pytest.mark.parametrize("n_classes", [2, pytest.param(3, marks=pytest.mark.slow)])
@pytest.mark.parametrize("refine", [True, False])
def test_values_are_those_of_models_without_the_rows(n_classes, refine, rng):
    X, y = noisy(rng, 2600, n_classes)
    parameters = {
        "C": 5.0, "gamma": 0.5, "refine": refine, "approximation": HSS(), "random_state": 0,
    }  # fmt: skip
    model = SVC(**parameters, out_of_fold=True).fit(X, y)
    codes = np.searchsorted(model.classes_, y)
    fold = assign_folds(codes, model._forest_seed)
    values = model.out_of_fold_decision_
    for f in range(FOLDS):
        alone = SVC(**parameters).fit(X[fold != f], y[fold != f])
        expected = alone.decision_function(X[fold == f])
        error = np.abs(values[fold == f] - expected)
        assert np.median(error) < (0.1 if refine else 0.25)
        assert np.mean(error) < (0.25 if refine else 0.4)
    seen = SVC(**parameters).fit(X, y).decision_function(X)
    assert np.mean(np.abs(seen - values)) > 0.05


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("parameters", [{}, {"approximation": HSS()}, {"multi_class": "ovr"}])
def test_log_loss_is_that_of_five_fits(method, parameters, rng):
    X, y = noisy(rng, 3200, 3 if parameters else 2)
    train, test = slice(2400), slice(2400, None)
    plain = SVC(C=2.0, gamma=0.3, random_state=0, **parameters)
    wrapper = CalibratedClassifierCV(plain, method=method, ensemble=False, cv=5)
    expected = log_loss(y[test], wrapper.fit(X[train], y[train]).predict_proba(X[test]))
    model = SVC(**plain.get_params() | {"probability": method}).fit(X[train], y[train])
    found = model.predict_proba(X[test])
    assert_allclose(found.sum(axis=1), 1)
    assert log_loss(y[test], found) <= (1.3 if method == "isotonic" else 1.05) * expected
    assert_allclose(np.exp(model.predict_log_proba(X[test])), found)
    # the model itself is that without probabilities
    labels = plain.fit(X[train], y[train]).predict(X[test])
    assert np.mean(model.predict(X[test]) == labels) > 0.995


@pytest.mark.parametrize("n_classes", [2, 3])
def test_sets_cover_new_rows(n_classes, rng):
    covered = []
    for _ in range(4):
        X, y = noisy(rng, 5000, n_classes)
        model = SVC(C=2.0, gamma=0.3, out_of_fold=True, random_state=0).fit(X[:2000], y[:2000])
        codes = np.searchsorted(model.classes_, y[2000:])
        sets = model.predict_set(X[2000:], coverage=0.8)
        covered.append(sets[np.arange(3000), codes].mean())
        wider = model.predict_set(X[2000:], coverage=0.99)
        assert np.all(wider | ~sets)
    assert abs(np.mean(covered) - 0.8) < 0.025


def test_intervals_cover_new_rows(rng):
    covered = []
    for _ in range(4):
        X = rng.uniform(-3, 3, (5000, 1))
        y = 1000 + np.sin(2 * X[:, 0]) + 0.2 * rng.standard_normal(5000)
        model = SVR(C=10.0, out_of_fold=True, random_state=0).fit(X[:2000], y[:2000])
        low, high = model.predict_interval(X[2000:], coverage=0.8).T
        assert_allclose((low + high) / 2, model.predict(X[2000:]))
        covered.append(np.mean((low <= y[2000:]) & (y[2000:] <= high)))
        narrow = 2 * model.nonconformity_scores_[int(0.8 * 2000) - 1]
        assert_allclose(high - low, narrow, rtol=0.01)
    assert abs(np.mean(covered) - 0.8) < 0.025


@given(
    scores=st.lists(st.floats(-10, 10), min_size=1, max_size=60),
    coverage=st.floats(0.01, 0.99),
)
def test_a_new_score_exceeds_the_quantile_rarely(scores, coverage):
    """Of n + 1 scores, any one is equally likely to be the new one."""
    scores = np.array(scores)
    below = [
        scores[i] <= conformal_quantile(np.sort(np.delete(scores, i)), coverage)
        for i in range(scores.size)
    ]
    assert np.mean(below) >= coverage - 1e-12


def test_nonconformity(rng):
    values = rng.standard_normal((50, 4))
    found = nonconformity(values)
    for i, row in enumerate(values):
        for c in range(4):
            assert found[i, c] == np.delete(row, c).max() - row[c]
    assert_array_equal(nonconformity(np.array([2.0, 0.0])), [[2, -2], [0, 0]])
    assert_array_equal(nonconformity(np.array([[1.0, 1.0, 0.0]])), [[0, 0, 1]])
    many = rng.standard_normal(3 * CONFORMITY_SCORES)
    kept = kept_scores(many, 0)
    assert kept.size == CONFORMITY_SCORES
    assert np.isin(kept, many).all()
    assert np.all(np.diff(kept) >= 0)


@pytest.mark.parametrize("method", METHODS)
def test_saved_models_keep_probabilities_and_sets(method, rng, tmp_path):
    X, y = noisy(rng, 500, 3)
    model = SVC(probability=method, random_state=0).fit(X, y)
    model.save(tmp_path / "model.hssvm")
    loaded = hssvm.load(tmp_path / "model.hssvm")
    assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert_array_equal(loaded.predict_set(X), model.predict_set(X))
    X, y = rng.standard_normal((300, 1)), rng.standard_normal(300)
    model = SVR(out_of_fold=True, random_state=0).fit(X, y)
    model.save(tmp_path / "model.hssvm")
    assert_array_equal(
        hssvm.load(tmp_path / "model.hssvm").predict_interval(X), model.predict_interval(X)
    )


def test_rows_without_weight_and_rare_classes(rng):
    X, y = noisy(rng, 400, 3)
    X[0], y[0] = 9.0, "d"
    weight = np.ones(400)
    weight[1:50] = 0
    model = SVC(probability="sigmoid", out_of_fold=True, random_state=0)
    with pytest.raises(ValueError, match="'d' has fewer than two rows"):
        model.fit(X, y, weight)
    X, y, weight = (np.concatenate([part[:1], part]) for part in (X, y, weight))
    model.fit(X, y, weight)
    assert model.predict_proba(X).shape == (401, 4)
    assert model.nonconformity_scores_.size == 352


def test_classes_without_weight(rng):
    X, y = noisy(rng, 300, 3)
    with pytest.raises(ValueError, match="'c' has fewer than two rows of positive weight"):
        SVC(probability="sigmoid").fit(X, y, sample_weight=(y != "c").astype(float))
    weight = np.zeros(300)
    weight[[np.flatnonzero(y == label)[0] for label in "ab"]] = 1
    with pytest.raises(ValueError, match="two rows of positive weight"):
        SVC(out_of_fold=True).fit(X, y, sample_weight=weight)


def test_few_weighted_rows_of_a_class(rng, monkeypatch):
    monkeypatch.setitem(HELD_OUT_ROWS, "sigmoid", 100)
    X, y = noisy(rng, 500, 3)
    weight = np.ones(500)
    weight[np.flatnonzero(y == "c")[2:]] = 0
    model = SVC(probability="sigmoid", random_state=0).fit(X, y, sample_weight=weight)
    assert_allclose(model.predict_proba(X).sum(axis=1), 1)


def test_metadata_routing_does_not_disturb_calibration(rng):
    X, y = noisy(rng, 300)
    model = SVC(probability="sigmoid", random_state=0)
    expected = model.fit(X, y).predict_proba(X)
    with sklearn.config_context(enable_metadata_routing=True):
        assert_array_equal(model.fit(X, y).predict_proba(X), expected)


def test_sparse_rows_and_a_callable_kernel(rng):
    X, y = noisy(rng, 600)
    dense = SVC(probability="sigmoid", gamma=0.5, random_state=0).fit(X, y).predict_proba(X)

    def kernel(A, B):
        return np.exp(-0.5 * ((A[:, None] - B[None]) ** 2).sum(axis=2))

    for rows, own in ((scipy.sparse.csr_array(X), "rbf"), (X, kernel)):
        model = SVC(probability="sigmoid", gamma=0.5, kernel=own, random_state=0).fit(rows, y)
        assert_allclose(model.predict_proba(rows), dense, atol=0.08)  # folds are solved roughly


@pytest.mark.parametrize(
    "parameters", [{"approximation": HSS()}, {"approximation": Cells(2000)}, {"refine": True}]
)
def test_costs_include_the_folds(parameters, rng):
    """Of an exact model a stage of their own, of an approximation more columns."""
    X, y = noisy(rng, 30_000)
    plain, probable = (
        SVC(**parameters, probability=p, random_state=0).estimate_cost(X, y)
        for p in (None, "sigmoid")
    )
    exact = "refine" in parameters
    assert "folds" not in plain.seconds
    assert ("folds" in probable.seconds) == exact
    assert exact or probable.memory > plain.memory


def test_cross_validated_models_have_probabilities(rng):
    X, y = noisy(rng, 2500)
    model = SVCCV(Cs=[1.0], gammas=[0.3], cv=3, probability="sigmoid", random_state=0).fit(X, y)
    alone = SVC(C=1.0, gamma=0.3, probability="sigmoid", random_state=0).fit(X, y)
    assert_allclose(model.predict_proba(X), alone.predict_proba(X), atol=0.08)


def test_errors_say_what_to_do(rng):
    X, y = noisy(rng, 300)
    model = SVC().fit(X, y)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError, match="set probability='sigmoid' and fit again"):
        model.predict_proba(X)
    with pytest.raises(ValueError, match="set out_of_fold=True, or probability, and fit again"):
        model.predict_set(X)
    with pytest.raises(ValueError, match="set out_of_fold=True and fit again"):
        SVR().fit(X, X[:, 0]).predict_interval(X)
    with pytest.raises(ValueError, match="the model has no probabilities"):
        model.set_params(probability="sigmoid").predict_proba(X)
    with pytest.raises(InvalidParameterError, match="coverage must be a number above 0 and below"):
        SVC(out_of_fold=True).fit(X, y).predict_set(X, coverage=90)
    large, labels = noisy(rng, 2500)
    with pytest.raises(InvalidParameterError, match="set refine=True, or prediction='auto'"):
        SVC(out_of_fold=True, approximation=HSS(), prediction="exact").fit(large, labels)
    with pytest.raises(ValueError, match="at least two rows"):
        SVC(out_of_fold=True).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="at least two rows"):
        SVR(out_of_fold=True).fit([[0.0]], [1.0])
    with pytest.raises(InvalidParameterError, match="'sigmoid', 'isotonic' or 'temperature'"):
        SVC(probability="platt").fit(X, y)


def test_a_fit_that_stops_early_has_no_probabilities(rng):
    X, y = noisy(rng, 4000)
    with pytest.warns(ConvergenceWarning, match="raise max_time"):
        model = SVC(probability="sigmoid", max_time=1e-6, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="more max_time"):
        model.predict_proba(X)
    assert np.isnan(model.fit_report_.out_of_fold_score)


def test_few_folds_are_enough_for_many_rows(rng, monkeypatch):
    monkeypatch.setitem(HELD_OUT_ROWS, "sigmoid", 1200)
    X, y = noisy(rng, 3000)
    model = SVC(probability="sigmoid", random_state=0).fit(X, y)
    assert abs(model.nonconformity_scores_.size - 1200) <= 2  # two folds of five
    assert not hasattr(model, "out_of_fold_decision_")
    assert abs(model.fit_report_.out_of_fold_score - model.score(X, y)) < 0.06


def test_command_line(rng, tmp_path):
    X, y = noisy(rng, 300)
    lines = [",".join([y[i], *map(str, X[i].tolist())]) for i in range(300)]
    (tmp_path / "rows.csv").write_text("\n".join(["y,a,b,c", *lines]))

    def run(*arguments):
        return run_here(*arguments, cwd=tmp_path)

    assert run("train", "rows.csv", "-o", "plain", "--target", "y").returncode == 0
    done = run("predict", "plain", "rows.csv", "--probability")
    assert done.returncode == 2
    assert "train with --probability" in " ".join(done.stderr.replace("│", "").split())
    options = ["--target", "y", "--probability", "isotonic", "--double"]
    assert run("train", "rows.csv", "-o", "model", *options).returncode == 0
    done = run("predict", "model", "rows.csv", "--probability", "-o", "p.txt")
    assert "probabilities of a, b" in done.stderr
    model = hssvm.load(tmp_path / "model")
    expected = model.predict_proba(pd.DataFrame(X, columns=model.feature_names_in_))
    assert_allclose(np.loadtxt(tmp_path / "p.txt"), expected, atol=1e-6)
    done = run("predict", "model", "rows.csv", "--probability", "--values")
    assert "leave out --values" in done.stderr
