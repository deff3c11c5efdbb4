import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    PredefinedSplit,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC as ExactSVC

import hssvm
from hssvm import HSS, SVC, SVCCV
from hssvm.exceptions import DataWarning
from hssvm.kernels import Gaussian, Linear
from hssvm.model_selection import fold_fitter, rounds
from hssvm.model_selection.fold_fitter import FoldFitter
from hssvm.model_selection.folds import Folds, sample_rows
from hssvm.model_selection.search import mean_scores
from hssvm.solvers import WorkingSet


def data(rng, n, n_classes=2):
    X = rng.standard_normal((n, 3))
    score = X[:, 0] * X[:, 1] + 0.3 * rng.standard_normal(n)
    return X, np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))


@pytest.mark.filterwarnings("ignore:The best C is at the edge")
@pytest.mark.parametrize(("n_classes", "multi_class"), [(2, "auto"), (3, "auto"), (3, "ovr")])
def test_scores_are_those_of_a_fit_per_fold(n_classes, multi_class, rng):
    X, y = data(rng, 500, n_classes)
    cv = StratifiedKFold(3, shuffle=True, random_state=int(rng.integers(1000)))
    Cs, gammas = [0.1, 10.0], [0.2, 1.0]
    model = SVCCV(Cs, gammas=gammas, cv=cv, multi_class=multi_class, tol=1e-6).fit(X, y)
    assert model.scores_.shape == (2, 2, 3)
    for g, c, f in np.ndindex(model.scores_.shape):
        train, test = list(cv.split(X, y))[f]
        fold = SVC(C=Cs[c], gamma=gammas[g], multi_class=multi_class).fit(X[train], y[train])
        assert abs(fold.score(X[test], y[test]) - model.scores_[g, c, f]) <= 0.02
    best = SVC(C=model.C_, gamma=model.gamma_, multi_class=multi_class).fit(X, y)
    assert_allclose(model.decision_function(X), best.decision_function(X), atol=1e-3)
    assert_allclose(model.best_score_, model.scores_.mean(axis=2).max())


def test_rounding_does_not_decide_between_equals(rng):
    counts = rng.integers(0, 54, (200, 5))
    shuffled = rng.permuted(counts, axis=1)
    assert_array_equal(mean_scores(counts / 54), mean_scores(shuffled / 54))


def test_results_have_the_form_of_a_grid_search(rng):
    X, y = data(rng, 300)
    Cs, gammas = [0.1, 1.0], [0.3, 3.0]
    cv = StratifiedKFold(3)
    ours = SVCCV(Cs, gammas=gammas, cv=cv, tol=1e-6).fit(X, y)
    theirs = GridSearchCV(ExactSVC(), {"C": Cs, "gamma": gammas}, cv=cv).fit(X, y)
    assert ours.cv_results_.keys() == theirs.cv_results_.keys() | {"iter", "n_resources"}
    order = [ours.cv_results_["params"].index(p) for p in theirs.cv_results_["params"]]
    for key in ("mean_test_score", "split0_test_score"):
        assert_allclose(ours.cv_results_[key][order], theirs.cv_results_[key], atol=0.03)
    assert ours.cv_results_["rank_test_score"][ours.best_index_] == 1
    assert ours.best_params_ == ours.cv_results_["params"][ours.best_index_]
    assert ours.n_splits_ == 3


@pytest.mark.filterwarnings("ignore:The best C is at the edge")
def test_blocks_of_columns_do_not_change_the_result(rng, monkeypatch):
    X, y = data(rng, 500)
    whole = SVCCV(5, gammas=["scale"], cv=3, tol=1e-6, random_state=0).fit(X, y)
    assert_array_equal(whole.Cs_, np.logspace(-2, 2, 5))
    monkeypatch.setattr(fold_fitter, "SEPARATE_ROWS", 0)
    n_columns = []
    solve = WorkingSet.solve

    def counted(solver, problem, *arguments):
        n_columns.append(problem.k)
        return solve(solver, problem, *arguments)

    monkeypatch.setattr(WorkingSet, "solve", counted)
    together = clone(whole).fit(X, y)
    assert max(n_columns) == 15
    assert_allclose(together.scores_, whole.scores_, atol=0.02)
    n_columns.clear()
    blocks = clone(whole).set_params(memory_limit="30MB")
    monkeypatch.setattr(fold_fitter, "REFINE_DOUBLES", 1e3)
    monkeypatch.setattr("hssvm.training.pipeline.require_within", lambda _, memory: memory)
    assert_allclose(blocks.fit(X, y).scores_, together.scores_, atol=0.02)
    assert max(n_columns) == 3  # the folds of one C


def test_other_scores_and_splits(rng):
    X, y = data(rng, 400)
    cv = ShuffleSplit(3, test_size=0.3, train_size=0.4, random_state=0)
    model = SVCCV([1.0], gammas=["scale"], cv=cv, scoring="roc_auc", tol=1e-6).fit(X, y)
    for f, (train, test) in enumerate(cv.split(X, y)):
        gamma = {"gamma": model.gamma_}
        values = SVC(**gamma).fit(X[train], y[train]).decision_function(X[test])
        assert abs(roc_auc_score(y[test], values) - model.scores_[0, 0, f]) <= 0.02


@pytest.mark.parametrize("kind", ["standard", "minmax"])
def test_every_fold_scales_by_the_rows_it_trains_on(kind, rng):
    """As a pipeline would, not by those that it is scored on."""
    X, y = data(rng, 400)
    outliers = rng.choice(400, 4, replace=False)
    X[outliers] *= 30
    cv = StratifiedKFold(4, shuffle=True, random_state=0)
    ours = SVCCV([1.0, 10.0], gammas=[0.5, 5.0], scaling=kind, cv=cv, tol=1e-6).fit(X, y)
    scaler = StandardScaler() if kind == "standard" else MinMaxScaler()
    for g, gamma in enumerate([0.5, 5.0]):
        for c, C in enumerate([1.0, 10.0]):
            pipeline = make_pipeline(scaler, ExactSVC(C=C, gamma=gamma))
            expected = cross_val_score(pipeline, X, y, cv=cv)
            assert_allclose(ours.scores_[g, c], expected, atol=0.011)  # one row in a hundred
    whole = make_pipeline(scaler, ExactSVC(C=ours.C_, gamma=ours.gamma_)).fit(X, y)
    assert np.mean(ours.predict(X) == whole.predict(X)) > 0.99


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


@pytest.mark.filterwarnings("ignore:The best")
@pytest.mark.parametrize("n_classes", [2, 3])
def test_folds_of_many_rows(n_classes, rng):
    X, y = data(rng, 9000, n_classes)
    cv = StratifiedKFold(3, shuffle=True, random_state=0)
    model = SVCCV([0.1, 10.0], gammas=[0.5], cv=cv, random_state=0).fit(X, y)
    for c, f in np.ndindex(2, 3):
        train, test = list(cv.split(X, y))[f]
        fold = SVC(C=model.Cs_[c], gamma=0.5, random_state=0).fit(X[train], y[train])
        assert abs(fold.score(X[test], y[test]) - model.scores_[0, c, f]) <= 0.01


@pytest.mark.filterwarnings("ignore:No candidate scores higher")
def test_integers_shuffle_the_rows(rng):
    """Folds of sorted rows would be regions of which the others know nothing."""
    X = np.sort(rng.uniform(0, 10, (600, 1)), axis=0)
    y = np.floor(X[:, 0]).astype(int) % 2
    shuffled = SVCCV([10.0], gammas=[10.0], random_state=0).fit(X, y)
    assert shuffled.best_score_ > 0.9
    split = SVCCV([10.0], gammas=[10.0], cv=KFold(5), random_state=0).fit(X, y)
    assert split.best_score_ < 0.7
    same = clone(shuffled).fit(X, y)
    assert_array_equal(same.scores_, shuffled.scores_)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The best")
def test_many_candidates_are_scored_in_rounds(rng):
    X, y = data(rng, 6600)
    Cs = np.logspace(-2, 2, 9)
    model = SVCCV(Cs, gammas=[0.05, 0.5, 5.0], cv=3, random_state=0).fit(X, y)
    results = model.cv_results_
    sizes = [np.unique(results["n_resources"][results["iter"] == i]) for i in range(2)]
    assert [size.item() for size in sizes] == [2200, 6600]
    assert [np.sum(results["iter"] == i) for i in range(2)] == [27, 9]
    assert results["iter"][model.best_index_] == 1
    assert results["rank_test_score"][model.best_index_] == 1
    last = results["iter"] == 1
    assert model.best_score_ == results["mean_test_score"][last].max()
    assert set(results["rank_test_score"][last]) <= set(range(1, 10))
    assert not np.isnan(model.scores_).any()
    for i in np.flatnonzero(last):  # scores_ has the last ones
        params = results["params"][i]
        g, c = model.gammas_.tolist().index(params["gamma"]), model.Cs_.tolist().index(params["C"])
        assert model.scores_[g, c].mean() == pytest.approx(results["mean_test_score"][i])


@pytest.mark.filterwarnings(
    "ignore:No candidate scores higher"
)  # the labels of `twice` are spoiled
def test_weights(rng):
    X, y = data(rng, 900)
    weight = rng.choice([0.0, 1.0, 2.0], 900, p=[0.4, 0.3, 0.3])
    y = np.where(weight > 0, y, 1 - y)  # wrong labels would spoil both the fit and the score
    train, test = np.arange(600), np.arange(600, 900)
    model = SVCCV([1.0], gammas=[1.0], cv=[(train, test)], tol=1e-6).fit(X, y, sample_weight=weight)
    fold = SVC(gamma=1.0).fit(X[train], y[train], sample_weight=weight[train])
    expected = fold.score(X[test], y[test], sample_weight=weight[test])
    assert abs(model.scores_[0, 0, 0] - expected) <= 0.02
    assert expected > SVC(gamma=1.0).fit(X[train], y[train]).score(X[test], y[test]) + 0.1
    twice = SVCCV([1.0], gammas=[1.0], cv=3, tol=1e-6).fit(X, y, sample_weight=2.0)
    same = SVC(C=2.0, gamma=1.0).fit(X, y)
    assert_allclose(twice.decision_function(X), same.decision_function(X), atol=1e-3)


def test_a_fold_without_a_class(rng):
    X, y = data(rng, 300, 3)
    labels = np.array(["one", "two", "three"])[y]
    train = np.flatnonzero(y != 1)
    cv = [(train, np.setdiff1d(np.arange(300), train))]
    with pytest.warns(UserWarning, match="trains without rows of class 'two', and cannot predict"):
        model = SVCCV([1.0], gammas=[1.0], cv=cv).fit(X, labels)
    assert model.best_score_ == 0
    assert model.score(X, labels) > 0.6


@pytest.mark.parametrize("tol", [1e-3, 1e-6])  # different solvers of pairs
@pytest.mark.parametrize("sparse", [False, True])
def test_a_fold_without_two_classes(tol, sparse, rng):
    X, y = data(rng, 400, 4)
    cv = [(np.flatnonzero(y < 2), np.arange(400))]
    model = SVCCV([1.0], gammas=[1.0], cv=cv, tol=tol, scaling=None)
    with pytest.warns(UserWarning, match="trains without rows of class 2"):
        model.fit(csr_array(X) if sparse else X, y)
    assert 0.25 < model.best_score_ < 0.5


def test_kernels_without_a_gamma(rng):
    X, y = data(rng, 200)
    model = SVCCV([1.0], kernel=Gaussian(0.5), cv=3).fit(X, y)
    assert np.isnan(model.gamma_)
    assert model.best_params_ == {"C": 1.0}
    assert "param_gamma" not in model.cv_results_
    assert model.kernel_ == Gaussian(0.5)
    assert SVCCV([1.0], kernel="linear", cv=3).fit(X, y).kernel_ == Linear()
    with pytest.raises(ValueError, match="no gamma to choose"):
        SVCCV([1.0], kernel=Gaussian(0.5), gammas=[1.0, 2.0]).fit(X, y)


def test_errors_say_what_to_do(rng):
    X, y = data(rng, 60)
    with pytest.raises(ValueError, match="tol must be None or a positive number"):
        SVCCV(tol=0).fit(X, y)
    with pytest.raises(TypeError, match="unexpected keyword argument 'column_memory'"):
        SVCCV(column_memory=1e9)
    with pytest.raises(ValueError, match="non-empty sequence"):
        SVCCV(Cs=[]).fit(X, y)
    with pytest.raises(ValueError, match="gammas must be 'auto' or a non-empty sequence"):
        SVCCV(gammas=[]).fit(X, y)
    with pytest.raises(ValueError, match="Cs must be 'auto', an integer"):
        SVCCV(Cs="scale").fit(X, y)
    with pytest.raises(ValueError, match="gammas must be 'auto' or"):
        SVCCV(gammas="scale").fit(X, y)
    one_class = np.flatnonzero(y == 0)[:5]
    train = np.setdiff1d(np.arange(60), one_class)
    with pytest.warns(UserWarning), pytest.raises(ValueError, match="use fewer folds"):
        SVCCV([1.0], gammas=[1.0], cv=[(train, one_class)], scoring="roc_auc").fit(X, y)


def test_labels_that_do_not_depend_on_the_features(rng):
    X = rng.standard_normal((600, 3))
    y = np.arange(600) % 5 == 0
    with pytest.warns(
        DataWarning, match=r"No candidate .* the most frequent class \(accuracy 0.8"
    ) as w:
        model = SVCCV([0.1, 1.0], gammas=[1e-3], random_state=0).fit(X, y)
    assert len(w) == 1
    assert str(w[0].message) in model.fit_report_.advice
    SVCCV([0.1], gammas=[1e-3]).fit(X[:400], y[:400])  # of few rows, it may be chance


@pytest.mark.filterwarnings("ignore:Nearly all rows")
def test_a_fold_in_which_a_constant_is_perfect(rng):
    X = rng.standard_normal((600, 3))
    y = np.arange(600) % 5 == 0
    cv = [(np.arange(300), np.arange(300, 400)), (np.arange(300), np.flatnonzero(~y)[-50:])]
    SVCCV([0.1], gammas=[1e-3], cv=cv).fit(X, y)  # without a warning about it


def test_labels_that_depend_on_the_features(rng):
    X, y = data(rng, 600)
    weight = rng.uniform(0.5, 2, 600)
    SVCCV([1.0], gammas=[0.5], random_state=0).fit(X, y, sample_weight=weight)  # without warning


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_score_of_the_final_model(n_classes, rng):
    X, y = data(rng, 900, n_classes)
    model = SVCCV([1.0], gammas=[0.5], scaling=None, random_state=0).fit(X, y)
    twin = SVC(1.0, gamma=0.5, out_of_fold=True, random_state=0).fit(X, y)
    assert model.fit_report_.out_of_fold_score == twin.fit_report_.out_of_fold_score
    assert_array_equal(model.decision_function(X), twin.decision_function(X))
    assert not hasattr(model, "out_of_fold_decision_")
    assert model.nonconformity_scores_ is None
    limited = SVCCV([1.0], gammas=[0.5], memory_limit="1GB", random_state=0).fit(X, y)
    assert np.isnan(limited.fit_report_.out_of_fold_score)


@pytest.mark.filterwarnings("ignore:The best C is at the edge")
def test_the_number_of_rows_that_were_scored(rng, monkeypatch, tmp_path):
    monkeypatch.setattr(rounds, "SEARCH_ROWS", 1700)
    X, y = data(rng, 2600)
    model = SVCCV(gammas=[0.5], cv=3, random_state=0).fit(X, y)
    assert model.best_n_rows_ == model.cv_results_["n_resources"][model.best_index_] == 1700
    assert f"accuracy {model.best_score_:.4g} in 3 folds of 1,700 rows" in model.summary()
    model.save(tmp_path / "model.hssvm")
    assert hssvm.load(tmp_path / "model.hssvm").summary() == model.summary()


def stripes(rng, n, scale=1.0):
    """Two classes whose best gamma is far from 'scale'."""
    X = rng.uniform(-3, 3, (n, 2))
    return scale * X, np.sin(6 * X[:, 0]) > 0


@pytest.mark.filterwarnings("ignore:The best C is at the edge")
def test_c_and_gamma_are_both_searched(rng):
    X, y = stripes(rng, 800)
    model = SVCCV(kernel="rbf", scaling=None, random_state=0).fit(X, y)
    assert model.gammas_.size > 3
    assert model.Cs_.size > 3
    assert model.scores_.shape == (model.gammas_.size, model.Cs_.size, 5)
    assert np.all(np.diff(model.gammas_) > 0)
    assert np.all(np.diff(model.Cs_) > 0)
    scale = SVCCV([1, 10, 100], gammas=["scale"], random_state=0).fit(X, y)
    assert model.best_score_ > scale.best_score_ + 0.02
    means = model.cv_results_["mean_test_score"]
    assert model.best_score_ == np.nanmax(means)
    assert model.best_params_ == model.cv_results_["params"][model.best_index_]
    assert model.cv_results_["rank_test_score"][model.best_index_] == 1
    assert means.size == np.sum(~np.isnan(mean_scores(model.scores_))) >= 9
    assert means.size < model.Cs_.size * model.gammas_.size


@pytest.mark.parametrize("auto", ["Cs", "gammas"])
def test_one_of_them_is_searched(auto, rng):
    X, y = data(rng, 600)
    given = {"Cs": [0.5, 5.0], "gammas": [0.2, 0.7]}
    del given[auto]
    model = SVCCV(**given, cv=3, random_state=0).fit(X, y)
    (name, values), *_ = given.items()
    assert_allclose(getattr(model, f"{name}_"), values)
    assert getattr(model, f"{auto}_").size >= 5


def test_the_search_uses_samples_and_the_model_all_rows(rng, monkeypatch):
    X, y = stripes(rng, 3000)
    monkeypatch.setattr(rounds, "FIRST_ROWS", 800)
    monkeypatch.setattr(rounds, "SEARCH_ROWS", 1700)
    cv = StratifiedKFold(3, shuffle=True, random_state=0)
    seen = []

    def scoring(model, rows, labels):
        seen.append(len(rows))
        return float(np.mean(model.predict(rows) == labels))

    model = SVCCV(
        cv=cv, scoring=scoring, kernel="rbf", scaling=None, approximation=HSS(), random_state=0
    ).fit(X, y)
    assert 200 < min(seen) < 350  # a third of the first sample
    assert 500 < max(seen) < 650  # and of the last
    assert model.fit_report_.n_rows == 3000
    same = SVC(C=model.C_, gamma=model.gamma_, approximation=HSS(), random_state=0).fit(X, y)
    assert_allclose(model.decision_function(X), same.decision_function(X), atol=1e-6)


def test_rows_of_a_sample_keep_their_folds(rng):
    y = rng.integers(0, 3, 90)
    splits = [(np.arange(60), np.arange(60, 90)), (np.arange(30, 90), np.arange(30))]
    rows = sample_rows(y, 31, seed=int(rng.integers(1000)))
    assert 31 <= rows.size == np.unique(rows).size <= 31 + 3 * 10
    assert (np.bincount(y[rows]) >= np.minimum(10, np.bincount(y))).all()
    assert (np.bincount(y[rows]) > 31 * np.bincount(y) / 90 - 1.5).all()
    folds = Folds.of(splits, 90).among(rows)
    for (train, test), (all_train, all_test) in zip(folds.splits, splits, strict=True):
        assert_array_equal(rows[train], np.intersect1d(rows, all_train))
        assert_array_equal(rows[test], np.intersect1d(rows, all_test))
    assert_array_equal(folds.rows, rows)
    excluded = Folds.of(splits, 90).excluded
    assert_array_equal(np.flatnonzero(~excluded[:, 0]), np.arange(60))


def test_time_is_left_for_the_final_fit(rng, monkeypatch):
    X, y = data(rng, 3000)
    now = 0.0
    monkeypatch.setattr("time.perf_counter", lambda: now)
    fit = FoldFitter.fit

    def one_second_each(fitter, groups, Cs):
        nonlocal now
        now += 3 * len(Cs)
        return fit(fitter, groups, Cs)

    monkeypatch.setattr(FoldFitter, "fit", one_second_each)
    model = SVCCV(
        [1.0, 3.0], gammas=[0.1, 0.3, 1.0, 3.0, 10.0], cv=3, approximation=HSS(), random_state=0
    )
    model.set_params(max_time=30)
    with pytest.warns(ConvergenceWarning, match=r"cut short: 4 candidates, of 10, were scored; ra"):
        model.fit(X, y)
    assert model.fit_report_.status == ["CONVERGED"]
    assert now < 30
    assert any("cut short" in advice for advice in model.fit_report_.advice)
    assert model.scores_.shape == (5, 2, 3)
    assert np.isnan(model.scores_[-1]).all()
    assert not np.isnan(model.scores_[0]).any()
    assert model.score(X, y) > 0.8


def test_no_time_at_all(rng):
    X, y = data(rng, 3000)
    with pytest.warns(ConvergenceWarning) as caught:
        model = SVCCV(cv=3, max_time=1e-9, approximation=HSS(), random_state=0).fit(X, y)
    texts = [str(warning.message) for warning in caught]
    assert any("cut short: 3 candidates were scored" in text for text in texts)
    assert model.fit_report_.status == ["MAX_TIME"]
    assert model.score(X, y) > 0.6


def test_time_enough_changes_nothing(rng):
    X, y = data(rng, 2500)
    model = SVCCV([1.0, 10.0], gammas=[0.3], cv=3, random_state=0)
    expected = clone(model).fit(X, y)
    assert_array_equal(model.set_params(max_time=1e6).fit(X, y).scores_, expected.scores_)


def test_rare_classes_and_small_folds_are_in_the_sample(rng):
    X = rng.standard_normal((8000, 2))
    y = np.zeros(8000, int)
    y[rng.choice(8000, 30, replace=False)] = 1
    X[y == 1] += 3
    model = SVCCV(Cs=[1.0], scoring="roc_auc", random_state=0).fit(X, y)
    assert not np.isnan(model.scores_[:, 0]).all()
    assert model.best_score_ > 0.9
    fold = np.full(8000, -1)
    fold[rng.choice(8000, 3, replace=False)] = 0
    few = SVCCV(Cs=[1.0], cv=PredefinedSplit(fold), random_state=0).fit(X, y)
    assert np.isclose(3 * few.best_score_, round(3 * few.best_score_))


@pytest.mark.filterwarnings("ignore:The best")
def test_few_positives_in_a_fold_are_in_every_sample(rng):
    X = rng.standard_normal((9000, 2))
    y = (X[:, 0] + rng.standard_normal(9000) > 2).astype(int)
    fold = rng.integers(1, 3, 9000)
    fold[np.flatnonzero(y == 1)[:2]] = 0
    fold[np.flatnonzero(y == 0)[:500]] = 0
    cv = PredefinedSplit(fold)
    model = SVCCV([1, 3, 10, 30], gammas=[0.1], scoring="roc_auc", cv=cv, random_state=0)
    assert not np.isnan(model.fit(X, y).scores_).any()


@pytest.mark.filterwarnings("ignore:The best")
@pytest.mark.parametrize("failing", [2000, pytest.param(6333, marks=pytest.mark.slow)])
def test_a_round_without_scores(failing, rng):
    X, y = data(rng, 19_000)

    def scoring(model, rows, labels):
        fails = abs(2 * len(rows) - failing) < 10
        return np.nan if fails else np.mean(model.predict(rows) == labels)

    model = SVCCV(np.logspace(-1, 1, 10), gammas=[0.5], cv=2, scoring=scoring, random_state=0)
    results = model.fit(X, y).cv_results_
    assert model.best_score_ > 0.8
    assert results["rank_test_score"][model.best_index_] == 1
    assert (
        np.nanmax(
            np.where(
                results["iter"] == results["iter"][model.best_index_],
                results["mean_test_score"],
                np.nan,
            )
        )
        == model.best_score_
    )
    assert failing == 2000 or not np.isnan(model.scores_).any()


@pytest.mark.filterwarnings("ignore:The best")
def test_memory_of_separate_folds(rng, monkeypatch):
    X, y = data(rng, 600, 3)
    sizes = []
    fit = FoldFitter.fit
    monkeypatch.setattr(FoldFitter, "fit", lambda *args: sizes.append(len(args[2])) or fit(*args))
    whole = SVCCV(4, gammas=[0.5], cv=3, random_state=0).fit(X, y)
    assert sizes == [4]
    monkeypatch.setattr("hssvm.model_selection.fold_solver.DEFAULT_MEMORY", 2 * 3 * 600 * 3 * 16.0)
    sizes.clear()
    blocks = clone(whole).fit(X, y)
    assert sizes == [2, 2]
    assert_array_equal(blocks.scores_, whole.scores_)


def test_folds_without_rows(rng):
    X, y = data(rng, 100)
    with pytest.raises(ValueError, match="fold 1 of cv has no test rows"):
        SVCCV(cv=[(np.arange(50), np.arange(50, 100)), (np.arange(50), [])]).fit(X, y)


def test_values_that_are_given_twice(rng):
    X, y = data(rng, 300)
    model = SVCCV([1, 1, 10], gammas=[0.5, 0.5, 1.0], cv=3, random_state=0).fit(X, y)
    assert_array_equal(model.Cs_, [1, 10])
    assert_array_equal(model.gammas_, [0.5, 1])


@pytest.mark.parametrize(("C", "weight"), [(1e39, 1.0), (1.0, 1e39)])
def test_C_beyond_the_precision_of_the_rows(C, weight, rng):
    X, y = data(rng, 300)
    with pytest.raises(ValueError, match="too large for float32"):
        SVCCV([C], gammas=[0.5]).fit(X.astype(np.float32), y, sample_weight=np.full(300, weight))
