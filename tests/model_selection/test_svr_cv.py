"""SVRCV beside separate fits and scikit-learn's grid search."""

import numpy as np
import pytest
import sklearn.svm
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import mean_absolute_error, r2_score
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

import hssvm
from hssvm import SVR, SVRCV
from hssvm.estimators.inputs.parameters import InvalidParameterError
from hssvm.exceptions import DataWarning


def data(rng, n, size=1.0):
    X = rng.uniform(-3, 3, (n, 2))
    return X, size * (20 + np.sin(2 * X[:, 0]) * X[:, 1] + 0.1 * rng.standard_normal(n))


@pytest.mark.parametrize("n_rows", [400, 2600])
def test_scores_are_those_of_a_fit_per_fold(n_rows, rng):
    X, y = data(rng, n_rows, 100.0)
    cv = KFold(3, shuffle=True, random_state=0)
    given = {"gammas": [0.3, 2.0], "epsilon": 10.0, "scaling": None, "random_state": 0}
    model = SVRCV([20.0, 500.0], cv=cv, **given).fit(X, y)
    theirs = GridSearchCV(
        sklearn.svm.SVR(epsilon=10.0), {"C": [20.0, 500.0], "gamma": [0.3, 2.0]}, cv=cv
    ).fit(X, y)
    assert model.cv_results_.keys() == theirs.cv_results_.keys() | {"iter", "n_resources"}
    results = (theirs.cv_results_[name] for name in ("params", "mean_test_score"))
    scores = {str(params): score for params, score in zip(*results, strict=True)}
    for g, c in np.ndindex(2, 2):
        params = {"C": model.Cs_[c].item(), "gamma": model.gammas_[g].item()}
        assert_allclose(model.scores_[g, c].mean(), scores[str(params)], atol=0.02)
    assert model.best_params_ == theirs.best_params_
    best = SVR(**theirs.best_params_, epsilon=10.0, random_state=0).fit(X, y)
    assert_allclose(model.predict(X), best.predict(X), atol=3.0)
    assert model.score(X, y) == r2_score(y, model.predict(X))


@pytest.mark.parametrize("size", [1e-3, 1e4])
def test_targets_need_no_scaling(size, rng):
    X, y = data(rng, 900, size)
    model = SVRCV(random_state=0).fit(X[:600], y[:600])
    assert model.score(X[600:], y[600:]) > 0.95
    tubes = 2 * np.log10(model.epsilon_ / (0.1 * np.std(y[:600])))
    assert tubes == pytest.approx(np.rint(tubes), abs=1e-6)  # half decades from a tenth
    assert abs(model.best_score_ - model.score(X[600:], y[600:])) < 0.03


def test_scorers_see_the_targets_and_the_rows(rng):
    X, y = data(rng, 500)
    seen = []

    def scoring(model, rows, targets):
        seen.append((model, rows, targets))
        return -mean_absolute_error(targets, model.predict(rows))

    model = SVRCV([1.0], gammas=[1.0], cv=KFold(3), scoring=scoring, scaling="standard").fit(X, y)
    for (_, test), (fold, rows, targets) in zip(KFold(3).split(X), seen, strict=True):
        assert_array_equal(rows, X[test])
        assert_array_equal(targets, y[test])
        assert_allclose(fold.predict(rows.copy()), fold.predict(rows), atol=1e-6)
        assert fold.epsilon == model.epsilon_
    expected = cross_val_score(
        SVR(gamma=1.0, epsilon=model.epsilon_, scaling="standard"),
        X, y, cv=3, scoring="neg_mean_absolute_error",
    )  # fmt: skip
    assert_allclose(model.scores_[0, 0], expected, atol=0.02)


def test_targets_that_do_not_depend_on_the_features(rng):
    X = rng.standard_normal((600, 3))
    y = rng.standard_normal(600)
    expected = r"No candidate scores higher than predicting the mean of y \(r2 -"
    with pytest.warns(DataWarning, match=expected):
        model = SVRCV([10.0, 100.0], gammas=[1.0], random_state=0).fit(X, y)
    assert model.best_score_ < 0
    with pytest.warns(DataWarning, match=r"the mean of y \(neg_mean_squared_error -"):
        model.set_params(scoring="neg_mean_squared_error").fit(X, y)
    SVRCV([1.0], gammas=[1.0]).fit(X, np.ones(600))  # the mean is the best prediction


def test_the_score_of_the_final_model(rng):
    X, y = data(rng, 600)
    model = SVRCV([10.0], gammas=[1.0], epsilon=0.1, scaling=None, random_state=0).fit(X, y)
    twin = SVR(10.0, gamma=1.0, epsilon=0.1, out_of_fold=True, random_state=0).fit(X, y)
    score = model.fit_report_.out_of_fold_score
    assert score == pytest.approx(twin.fit_report_.out_of_fold_score, abs=1e-3)
    assert not hasattr(model, "out_of_fold_decision_")
    assert model.nonconformity_scores_ is None


def test_weights_save_intervals_and_errors(rng, tmp_path):
    X, y = data(rng, 600)
    weight = rng.choice([0.0, 1.0], 600)
    y = np.where(weight > 0, y, -y)
    model = SVRCV([1.0, 10.0], gammas=[1.0], cv=3, out_of_fold=True, random_state=0)
    model.fit(X, y, sample_weight=weight)
    assert model.best_score_ > 0.9
    assert model.certify(X, y, sample_weight=weight).gap[0] < 1e-3
    model.save(tmp_path / "model.hssvm")
    loaded = hssvm.load(tmp_path / "model.hssvm")
    assert_array_equal(loaded.predict_interval(X), model.predict_interval(X))
    assert (loaded.best_params_, loaded.epsilon_) == (model.best_params_, model.epsilon_)
    with pytest.raises(InvalidParameterError, match="epsilon must be 'auto' or"):
        SVRCV(epsilon="wide").fit(X, y)
    with pytest.raises(ValueError, match="use SVC for classification"):
        SVRCV().fit(X, np.where(y > 0, "a", "b"))
