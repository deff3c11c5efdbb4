"""The search for regressions of quantiles."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import KFold
from sklearn.utils.estimator_checks import parametrize_with_checks

import hssvm
from hssvm import Cells, QuantileSVR, QuantileSVRCV

QUANTILES = [0.9, 0.1, 0.5]


@parametrize_with_checks([QuantileSVRCV(Cs=[1.0], gammas=[1.0], cv=2, scaling=None, kernel="rbf")])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def widening(rng, n):
    """The spread of y grows with the first feature."""
    X = rng.uniform(0, 1, (n, 2))
    return X, np.sin(3 * X[:, 1]) + (0.1 + X[:, 0]) * rng.standard_normal(n)


@pytest.mark.parametrize("quantile", [0.3, QUANTILES])
@pytest.mark.parametrize("weighted", [False, True])
def test_scores_are_those_of_the_estimator(quantile, weighted, rng):
    X, y = widening(rng, 240)
    weight = rng.uniform(0.5, 2, 240) if weighted else None
    folds, Cs, gammas = KFold(3, shuffle=True, random_state=0), [0.5, 5.0], [0.5, 3.0]
    given = {"cv": folds, "kernel": "rbf", "scaling": None, "random_state": 0, "tol": 1e-5}
    model = QuantileSVRCV(Cs, gammas=gammas, quantile=quantile, **given)
    model.fit(X, y, sample_weight=weight)
    for g, gamma in enumerate(gammas):
        for c, C in enumerate(Cs):
            one = QuantileSVR(C, gamma=gamma, quantile=quantile, tol=1e-5)
            expected = []
            for train, test in folds.split(X):
                own, other = (None, None) if weight is None else (weight[train], weight[test])
                one.fit(X[train], y[train], sample_weight=own)
                expected.append(one.score(X[test], y[test], other))
            assert_allclose(model.scores_[g, c], expected, atol=2e-3)
    assert model.best_score_ == pytest.approx(model.scores_.mean(axis=-1).max())


def test_means_of_models(rng, tmp_path, monkeypatch):
    best = "hssvm.model_selection.selection.choose_members"
    monkeypatch.setattr(best, lambda ranked, scores, score, count: ranked[:count])
    X, y = widening(rng, 300)
    given = {"kernel": ["rbf", "laplacian"], "scaling": "standard", "cv": 3, "random_state": 0}
    model = QuantileSVRCV([1.0, 10.0], gammas=[0.5], quantile=QUANTILES, max_members=2, **given)
    model.set_params(out_of_fold=True).fit(X, y)
    assert model.quantile_ == tuple(QUANTILES)
    assert len(model.members_) == 2
    model.members_[0].quantile_ = (0.2, 0.5, 0.9)
    with pytest.raises(ValueError, match="its members have other quantiles"):
        model.save(tmp_path / "damaged")
    model.members_[0].quantile_ = tuple(QUANTILES)
    values = np.mean([member._decision_values(X) for member in model.members_], axis=0)
    assert_allclose(np.sort(model.predict(X)), np.sort(values))
    assert (np.diff(model.predict(X)[:, [1, 2, 0]]) >= 0).all()
    low, high = model.predict_interval(X, 0.8).T
    assert 0.7 < np.mean((low <= y) & (y <= high)) < 0.95
    model.save(tmp_path / "model")
    loaded = hssvm.load(tmp_path / "model")
    assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.best_score_ == model.best_score_
    explanation = model.explain(X[:2])
    total = explanation.values.sum(axis=1) + explanation.base_values
    assert_allclose(total, model._decision_values(X[:2]), atol=1e-8)
    assert model.score(X, y) > 0.1


def test_search_of_cells(rng):
    X, y = widening(rng, 1500)
    model = QuantileSVRCV(
        [1.0], gammas=[1.0], kernel="rbf", scaling=None, quantile=[0.2, 0.8], cv=3, random_state=0,
        approximation=Cells(300, 2), max_members=1,
    ).fit(X, y)  # fmt: skip
    assert model.fit_report_.n_cells > 0
    below = np.mean(y[:, None] <= model.predict(X), axis=0)
    assert_allclose(below, [0.2, 0.8], atol=0.06)


def test_better_than_fixed_parameters(rng):
    X, y = widening(rng, 600)
    model = QuantileSVRCV(quantile=QUANTILES, kernel="rbf", max_members=1, cv=3, random_state=0)
    searched = model.fit(X[:300], y[:300]).score(X[300:], y[300:])
    fixed = QuantileSVR(C=100, quantile=QUANTILES, gamma=10.0).fit(X[:300], y[:300])
    assert searched > fixed.score(X[300:], y[300:])
