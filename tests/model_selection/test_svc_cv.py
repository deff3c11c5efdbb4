import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, ShuffleSplit, StratifiedKFold
from sklearn.svm import SVC as ExactSVC

from hssvm import SVC, SVCCV
from hssvm.kernels import Gaussian, Linear
from hssvm.model_selection.svc_cv import mean_scores


def data(rng, n, n_classes=2):
    X = rng.standard_normal((n, 3))
    score = X[:, 0] * X[:, 1] + 0.3 * rng.standard_normal(n)
    return X, np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_are_those_of_a_fit_per_fold(n_classes, rng):
    X, y = data(rng, 600, n_classes)
    cv = StratifiedKFold(4, shuffle=True, random_state=int(rng.integers(1000)))
    Cs, gammas = [0.1, 1.0, 10.0], [0.2, 1.0]
    model = SVCCV(Cs, gammas=gammas, cv=cv, tol=1e-6).fit(X, y)
    assert model.scores_.shape == (2, 3, 4)
    for g, c, f in np.ndindex(model.scores_.shape):
        train, test = list(cv.split(X, y))[f]
        fold = SVC(C=Cs[c], gamma=gammas[g]).fit(X[train], y[train])
        assert abs(fold.score(X[test], y[test]) - model.scores_[g, c, f]) <= 0.02
    best = SVC(C=model.C_, gamma=model.gamma_).fit(X, y)
    assert_allclose(model.decision_function(X), best.decision_function(X), atol=1e-3)
    assert_allclose(model.best_score_, model.scores_.mean(axis=2).max())


def test_rounding_does_not_decide_between_equals(rng):
    counts = rng.integers(0, 54, (200, 5))
    shuffled = rng.permuted(counts, axis=1)
    assert_array_equal(mean_scores(counts / 54), mean_scores(shuffled / 54))


def test_results_have_the_form_of_a_grid_search(rng):
    X, y = data(rng, 300)
    Cs, gammas = [0.1, 1.0], [0.3, 3.0]
    ours = SVCCV(Cs, gammas=gammas, cv=3, tol=1e-6).fit(X, y)
    theirs = GridSearchCV(ExactSVC(), {"C": Cs, "gamma": gammas}, cv=3).fit(X, y)
    timed = {key for key in theirs.cv_results_ if "time" in key}
    assert set(ours.cv_results_) == set(theirs.cv_results_) - timed
    order = [ours.cv_results_["params"].index(p) for p in theirs.cv_results_["params"]]
    for key in ("mean_test_score", "split0_test_score"):
        assert_allclose(ours.cv_results_[key][order], theirs.cv_results_[key], atol=0.03)
    assert ours.cv_results_["rank_test_score"][ours.best_index_] == 1
    assert ours.best_params_ == ours.cv_results_["params"][ours.best_index_]
    assert ours.n_splits_ == 3


def test_blocks_of_columns_do_not_change_the_result(rng):
    X, y = data(rng, 500)
    whole = SVCCV(5, cv=3, tol=1e-6, random_state=0).fit(X, y)
    blocks = SVCCV(5, cv=3, tol=1e-6, random_state=0, column_memory=1.0).fit(X, y)
    assert_allclose(blocks.scores_, whole.scores_, atol=0.02)
    assert_array_equal(whole.Cs_, np.logspace(-2, 2, 5))


def test_other_scores_and_splits(rng):
    X, y = data(rng, 400)
    cv = ShuffleSplit(3, test_size=0.3, train_size=0.4, random_state=0)
    model = SVCCV([1.0], cv=cv, scoring="roc_auc", tol=1e-6).fit(X, y)
    for f, (train, test) in enumerate(cv.split(X, y)):
        gamma = {"gamma": model.gamma_}
        values = SVC(**gamma).fit(X[train], y[train]).decision_function(X[test])
        assert abs(roc_auc_score(y[test], values) - model.scores_[0, 0, f]) <= 0.02


def test_labels_of_held_out_rows_are_not_used(rng):
    X, y = data(rng, 400)
    test = np.arange(100)
    train = np.arange(100, 400)
    flipped = np.where(np.arange(400) < 100, 1 - y, y)
    scores = [
        SVCCV([1.0], gammas=[1.0], cv=[(train, test)]).fit(X, labels).scores_[0, 0, 0]
        for labels in (y, flipped)
    ]
    assert_allclose(scores[0], 1 - scores[1])


def test_compressed_folds(rng):
    X, y = data(rng, 4000)
    cv = StratifiedKFold(3, shuffle=True, random_state=0)
    model = SVCCV([0.1, 10.0], gammas=[0.5], cv=cv, random_state=0).fit(X, y)
    assert len(model.fit_report_.ranks) > 1
    for c, f in np.ndindex(2, 3):
        train, test = list(cv.split(X, y))[f]
        fold = SVC(C=model.Cs_[c], gamma=0.5, random_state=0).fit(X[train], y[train])
        assert abs(fold.score(X[test], y[test]) - model.scores_[0, c, f]) <= 0.02


def test_weights(rng):
    X, y = data(rng, 300)
    weight = rng.integers(0, 3, 300).astype(float)
    train, test = np.arange(200), np.arange(200, 300)
    model = SVCCV([1.0], gammas=[1.0], cv=[(train, test)], tol=1e-6).fit(X, y, sample_weight=weight)
    fold = SVC(gamma=1.0).fit(X[train], y[train], sample_weight=weight[train])
    expected = fold.score(X[test], y[test], sample_weight=weight[test])
    assert abs(model.scores_[0, 0, 0] - expected) <= 0.02
    SVCCV([1.0], cv=3).fit(X, y, sample_weight=2.0)


def test_kernels_without_a_gamma(rng):
    X, y = data(rng, 200)
    model = SVCCV([1.0], kernel=Gaussian(0.5), cv=3).fit(X, y)
    assert np.isnan(model.gamma_)
    assert model.kernel_ == Gaussian(0.5)
    assert SVCCV([1.0], kernel="linear", cv=3).fit(X, y).kernel_ == Linear()
    with pytest.raises(ValueError, match="no gamma to choose"):
        SVCCV([1.0], kernel=Gaussian(0.5), gammas=[1.0, 2.0]).fit(X, y)


def test_errors_say_what_to_do(rng):
    X, y = data(rng, 60)
    with pytest.raises(ValueError, match="tol must be a positive number"):
        SVCCV(tol=None).fit(X, y)
    with pytest.raises(ValueError, match="non-empty sequence"):
        SVCCV(Cs=[]).fit(X, y)
    one_class = np.flatnonzero(y == 0)[:5]
    train = np.setdiff1d(np.arange(60), one_class)
    with pytest.warns(UserWarning), pytest.raises(ValueError, match="take fewer folds"):
        SVCCV([1.0], cv=[(train, one_class)], scoring="roc_auc").fit(X, y)
