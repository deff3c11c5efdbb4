"""SVCCV as a citizen of scikit-learn: splitters, scorers, metadata, results."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning, UnsetMetadataPassedError
from sklearn.metrics import balanced_accuracy_score, log_loss, make_scorer, recall_score
from sklearn.model_selection import GridSearchCV, GroupKFold, StratifiedKFold, cross_validate
from sklearn.tests import test_metaestimators_metadata_routing as routing
from sklearn.tests.metadata_routing_common import ConsumingSplitter

import hssvm
from hssvm import SVC, SVCCV, SVRCV
from hssvm.estimators.inputs.parameters import InvalidParameterError
from hssvm.model_selection.folds import Folds

Cs, GAMMAS = [0.3, 3.0], [0.2, 1.0]


def data(rng, n=400):
    X = rng.standard_normal((n, 3))
    return X, (X[:, 0] * X[:, 1] + 0.3 * rng.standard_normal(n) > 0).astype(int)


def search(**parameters):
    given = {"gammas": GAMMAS, "cv": StratifiedKFold(3), "tol": 1e-6}
    given |= {"scaling": None, "random_state": 0}
    return SVCCV(Cs, **given | parameters)


@pytest.mark.parametrize("frame", [False, True])
def test_callables_receive_the_rows(frame, rng):
    X, y = data(rng)
    X = pd.DataFrame(X, columns=list("abc")) if frame else X
    splits = list(StratifiedKFold(3).split(X, y))
    seen = []

    def scoring(model, rows, labels):
        seen.append((model, rows, labels))
        return model.score(rows, labels)

    found = search(scoring=scoring).fit(X, y)
    assert len(seen) == 12
    for number, (model, rows, labels) in enumerate(seen):
        train, test = splits[number % 3]
        expected = X.iloc[test] if frame else X[test]
        assert type(rows) is type(X)
        assert_array_equal(rows, expected)
        assert_array_equal(labels, y[test])
        alone = SVC(C=model.C, gamma=model.gamma).fit(
            X.iloc[train] if frame else X[train], y[train]
        )
        known, other = model.decision_function(rows), model.decision_function(rows[::-1])
        assert_allclose(known, alone.decision_function(rows), atol=0.02)
        assert_allclose(other[::-1], known, atol=1e-6)  # computed, not looked up
    assert_allclose(found.scores_.mean(), search().fit(X, y).scores_.mean())


def test_groups(rng):
    X, y = data(rng)
    groups = rng.integers(6, size=400)
    found = search(cv=GroupKFold(3)).fit(X, y, groups=groups)
    splits = list(GroupKFold(3).split(X, y, groups))
    for f, (train, test) in enumerate(splits):
        alone = SVC(C=Cs[0], gamma=GAMMAS[1]).fit(X[train], y[train])
        assert abs(alone.score(X[test], y[test]) - found.scores_[1, 0, f]) <= 0.02
    with pytest.raises(ValueError, match="'groups' parameter should not be None"):
        search(cv=GroupKFold(3)).fit(X, y)
    with pytest.raises(ValueError, match="only supported if enable_metadata_routing=True"):
        search().fit(X, y, color=groups)


@pytest.mark.parametrize("scoring", [["accuracy", "roc_auc"], {"a": "recall", "b": "roc_auc"}])
def test_several_scores(scoring, rng):
    X, y = data(rng)
    name = list(scoring)[1]
    found = search(scoring=scoring, refit=name).fit(X, y)
    theirs = GridSearchCV(SVC(), {"C": Cs, "gamma": GAMMAS}, scoring=scoring, refit=name, cv=3)
    theirs.fit(X, y)
    assert found.cv_results_.keys() == theirs.cv_results_.keys() | {"iter", "n_resources"}
    assert found.multimetric_
    order = [found.cv_results_["params"].index(p) for p in theirs.cv_results_["params"]]
    for key, values in theirs.cv_results_.items():
        if "test" in key and "rank" not in key:
            assert_allclose(found.cv_results_[key][order], values, atol=0.03)
        if "time" in key:
            assert np.all(found.cv_results_[key] >= 0)
            assert np.all(np.isfinite(found.cv_results_[key]))
    assert isinstance(found.cv_results_["param_C"], np.ma.MaskedArray)
    assert found.best_score_ == found.cv_results_[f"mean_test_{name}"].max()
    assert found.score(X, y) == pytest.approx(theirs.score(X, y), abs=0.02)
    with pytest.raises(InvalidParameterError, match="refit must be one of"):
        search(scoring=scoring).fit(X, y)


def test_refit_may_choose(rng):
    X, y = data(rng)
    found = search(refit=lambda results: int(results["mean_test_score"].argmin())).fit(X, y)
    worst = found.cv_results_["params"][found.cv_results_["mean_test_score"].argmin()]
    assert found.best_params_ == worst == {"C": found.C_, "gamma": found.gamma_}
    assert not hasattr(found, "best_score_")
    with pytest.raises(IndexError, match="not a candidate"):
        search(refit=lambda results: 99).fit(X, y)
    with pytest.raises(InvalidParameterError, match="pass lists of Cs and gammas"):
        SVCCV(refit=lambda results: 0).fit(X, y)
    with pytest.raises(InvalidParameterError, match="refit must be True"):
        search(refit=False).fit(X, y)


def test_a_callable_with_several_scores(rng, tmp_path):
    X, y = data(rng)

    def scoring(model, rows, labels):
        predicted = model.predict(rows)
        return {
            "one": np.mean(predicted == labels),
            "two": balanced_accuracy_score(labels, predicted),
        }

    found = search(scoring=scoring, refit="two").fit(X, y)
    assert_allclose(found.scores_[0, 0, 0], found.cv_results_["split0_test_two"][0])
    found.set_params(scoring=None, cv=3).save(tmp_path / "model.hssvm")
    loaded = hssvm.load(tmp_path / "model.hssvm")
    for key, values in found.cv_results_.items():
        assert_array_equal(loaded.cv_results_[key], values)
    assert loaded.best_params_ == found.best_params_
    assert loaded.best_score_ == found.best_score_


def test_scores_of_probabilities(rng):
    X, y = data(rng)
    found = search(scoring="neg_log_loss", probability="sigmoid").fit(X, y)
    theirs = cross_validate(
        SVC(C=found.C_, gamma=found.gamma_, probability="sigmoid", random_state=0),
        X, y, scoring="neg_log_loss", cv=3,
    )["test_score"]  # fmt: skip
    assert found.best_score_ == pytest.approx(theirs.mean(), rel=0.1)
    assert log_loss(y, found.predict_proba(X)) < -found.best_score_
    with (
        pytest.warns(FitFailedWarning, match="the score is nan"),
        pytest.raises(ValueError, match="no candidate has a score"),
    ):
        search(scoring="neg_log_loss").fit(X, y)
    with pytest.raises(AttributeError, match="predict_proba"):
        search(scoring="neg_log_loss", error_score="raise").fit(X, y)
    one = [(np.arange(300), np.arange(300, 400))]
    with pytest.raises(ValueError, match="a cv that tests every row"):
        search(scoring="neg_log_loss", probability="sigmoid", cv=one, error_score="raise").fit(X, y)


def one_class_fold(y):
    """Folds of which the second trains on rows of class 0 only."""
    zeros = np.flatnonzero(y == 0)
    return [(np.arange(200), np.arange(200, 400)), (zeros, np.flatnonzero(y != 0))]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_folds_of_one_class(n_classes, rng):
    X = rng.standard_normal((400, 3))
    y = rng.integers(0, n_classes, 400)
    reason = "fold 1 of cv cannot be trained, as its training rows have only class 0"
    for error_score in ("raise", np.nan):
        with pytest.raises(ValueError, match=reason):
            search(cv=one_class_fold(y), error_score=error_score).fit(X, y)
    with pytest.raises(ValueError, match="have only class 0"):
        search(cv=one_class_fold(y)[1:], error_score=0.0).fit(X, y)
    with pytest.warns(
        FitFailedWarning, match=f"1 of 2 folds failed, and the score is -1.0: {reason}"
    ):
        found = search(cv=one_class_fold(y), error_score=-1.0).fit(X, y)
    assert_array_equal(found.scores_[:, :, 1], -1)
    assert np.all(found.scores_[:, :, 0] > 0)
    choose = search(cv=one_class_fold(y), refit=lambda results: 1)
    with pytest.warns(FitFailedWarning, match="the score is nan"):
        results = choose.fit(X, y).cv_results_
    assert np.isnan(results["split1_test_score"]).all()
    assert not np.isnan(results["split0_test_score"]).any()


def test_folds_without_weight(rng):
    X = rng.standard_normal((400, 3))
    weight = np.repeat([0.0, 1.0], 200)
    cv = [(np.arange(200), np.arange(200, 400)), (np.arange(200, 400), np.arange(200))]
    for estimator, y in (
        (SVCCV, X[:, 0] > 0),
        (SVCCV, np.digitize(X[:, 0], [-0.5, 0.5])),
        (SVRCV, X[:, 0]),
    ):
        model = estimator([1.0], gammas=[1.0], cv=cv, error_score="raise", tol=1e-6)
        with pytest.raises(
            ValueError, match=r"fold 0 of cv .* its training rows all have weight 0"
        ):
            model.fit(X, y, sample_weight=weight)
        with pytest.warns(FitFailedWarning):
            model.set_params(error_score=-1.0).fit(X, y, sample_weight=weight)
        assert model.scores_[0, 0, 0] == -1


def test_a_failed_fold_does_not_calibrate_the_others(rng):
    X, y = data(rng)
    cv = [*StratifiedKFold(3).split(X, y)]
    one = (np.flatnonzero(y == 0)[:50], np.flatnonzero(y == 1)[:50])
    arguments = {"scoring": "neg_log_loss", "probability": "sigmoid"}
    expected = search(cv=cv, **arguments).fit(X, y)
    with pytest.warns(FitFailedWarning):
        found = search(cv=[*cv, one], error_score=-9.0, **arguments).fit(X, y)
    assert_array_equal(found.scores_[:, :, :3], expected.scores_)


def test_samples_keep_the_classes_that_a_fold_trains_on(rng):
    strata = np.zeros(9000, np.int64)
    strata[:5] = 1
    test, rare = np.arange(6000, 9000), np.arange(5)
    folds = Folds.of([(np.arange(1, 3000), test), (np.arange(3000, 6000), np.r_[test, rare])], 9000)
    rows = folds.with_strata(np.r_[0, np.arange(3000, 9000)], strata)
    for train, _ in folds.among(rows).splits[:1]:
        assert set(strata[rows[train]]) == {0, 1}


@pytest.mark.parametrize("routed", [False, True])
@pytest.mark.parametrize("several", [False, True])
def test_an_error_names_the_scorer_that_always_fails(several, routed, rng):
    X, y = data(rng)

    def picky(model, rows, labels):
        raise RuntimeError("I want more")

    scoring = {"acc": "accuracy", "mine": picky} if several else picky
    name = "mine" if several else "picky"
    model = search(scoring=scoring, refit="mine" if several else True)
    message = f"because the scorer '{name}' failed.*I want more.*error_score='raise'"
    with (
        sklearn.config_context(enable_metadata_routing=routed),
        pytest.warns(FitFailedWarning, match=f"The scorer '{name}' failed"),
        pytest.raises(ValueError, match=f"(?s){message}"),
    ):
        model.fit(X, y)
    with (
        pytest.warns(FitFailedWarning),
        pytest.raises(ValueError, match="the scorer 'neg_log_loss' failed: AttributeError"),
    ):
        search(scoring="neg_log_loss").fit(X, y)


def test_scores_that_fail(rng):
    X, y = data(rng)

    def scoring(model, rows, labels):
        if model.C == 3.0:
            raise RuntimeError("too large")
        return model.score(rows, labels)

    with pytest.warns(FitFailedWarning, match="too large"):
        found = search(scoring=scoring, error_score=-1.0).fit(X, y)
    assert found.C_ == 0.3
    assert_array_equal(found.scores_[:, 1], -1)
    with pytest.raises(RuntimeError, match="too large"):
        search(scoring=scoring, error_score="raise").fit(X, y)


def test_dicts_that_fail(rng):
    X, y = data(rng)

    def scoring(model, rows, labels):
        if model.C == 3.0 and labels.sum() % 2 == 0:
            raise RuntimeError("even")
        return {"one": model.score(rows, labels), "two": 0.5}

    groups = np.arange(400) % 3
    y[groups == 0] = np.arange(np.sum(groups == 0)) % 2  # 134 rows, 67 ones
    y[groups == 1] = np.arange(np.sum(groups == 1)) < 66
    with pytest.warns(FitFailedWarning, match="even"):
        found = search(scoring=scoring, refit="one", error_score=-1.0, cv=GroupKFold(3))
        found.fit(X, y, groups=groups)
    assert found.C_ == 0.3
    assert {"mean_test_one", "mean_test_two"} <= found.cv_results_.keys()
    assert "mean_test_score" not in found.cv_results_
    assert np.sum(found.scores_ == -1) >= 2


@pytest.mark.parametrize("routed", [False, True])
def test_one_of_several_scores_fails(routed, rng):
    X, y = data(rng)

    def failing(model, rows, labels):
        raise RuntimeError("always")

    scoring = {"bad": failing, "acc": "accuracy"}
    refit = [lambda results: int(results["rank_test_acc"].argmin()), "acc"]
    with sklearn.config_context(enable_metadata_routing=routed):
        for choice in refit:
            with pytest.warns(FitFailedWarning, match="always"):
                found = search(scoring=scoring, refit=choice).fit(X, y)
            assert found.cv_results_["rank_test_acc"][found.best_index_] == 1
            assert np.isnan(found.cv_results_["mean_test_bad"]).all()
    with pytest.raises(ValueError, match="score needs a single score"):
        found.set_params(refit=refit[0]).score(X, y)


def test_the_best_of_tiny_values(rng):
    X, y = data(rng)
    model = SVCCV([1.0], gammas=[1e-14, 1e-10], cv=3, scaling=None, random_state=0)
    model.fit(1e5 * X, y)
    assert model.best_score_ == pytest.approx(model.scores_.mean(axis=2).max())
    assert model.gamma_ == model.gammas_[model.scores_.mean(axis=2)[:, 0].argmax()]


def test_nothing_is_left_of_an_earlier_fit(rng):
    X = rng.standard_normal((300, 2))
    model = SVRCV([1.0], gammas=[1.0], cv=3, out_of_fold=True).fit(X, X[:, 0])
    model.set_params(out_of_fold=False, refit=lambda results: 0).fit(X, X[:, 0])
    assert not hasattr(model, "out_of_fold_decision_")
    assert not hasattr(model, "best_score_")


@pytest.mark.parametrize("scaling", [None, "standard"])
def test_no_time_for_probabilities(scaling, rng):
    X, y = data(rng)
    model = search(max_time=1e-6, probability="sigmoid", scaling=scaling)
    with pytest.warns(ConvergenceWarning) as caught:
        model.fit(X, y)
    assert any("there are no probabilities" in str(warning.message) for warning in caught)


def test_weights_go_to_the_scorers_that_accept_them(rng):
    X, y = data(rng)
    weight = rng.choice([0.1, 3.0], 400)
    seen = []

    def weighted(model, rows, labels, sample_weight):
        seen.append(sample_weight)
        return np.average(model.predict(rows) == labels, weights=sample_weight)

    def plain(model, rows, labels):
        return np.mean(model.predict(rows) == labels)

    scoring = {"ours": weighted, "plain": plain, "theirs": "accuracy"}
    found = search(scoring=scoring, refit="ours").fit(X, y, sample_weight=weight)
    _, test = next(StratifiedKFold(3).split(X, y))
    assert_array_equal(seen[0], weight[test])
    results = found.cv_results_
    assert_allclose(results["mean_test_ours"], results["mean_test_theirs"])
    assert not np.allclose(results["mean_test_ours"], results["mean_test_plain"])


def test_score_uses_the_scorer(rng):
    X, y = data(rng)
    weight = rng.uniform(0, 2, 400)
    found = search(scoring=make_scorer(recall_score)).fit(X, y)
    predicted = found.predict(X)
    assert found.score(X, y) == recall_score(y, predicted)
    expected = recall_score(y, predicted, sample_weight=weight)
    assert found.score(X, y, sample_weight=weight) == expected


ROUTING = {
    "metaestimator": SVCCV,
    "init_args": {"Cs": [1.0], "gammas": ["scale"]},
    "X": routing.X,
    "y": routing.y,
    "scorer_name": "scoring",
    "scorer_routing_methods": ["fit", "score"],
    "cv_name": "cv",
    "cv_routing_methods": ["fit"],
}


@pytest.mark.filterwarnings("ignore:Nearly all rows are support vectors")
@pytest.mark.parametrize(
    "check",
    [
        routing.test_default_request,
        routing.test_metadata_is_routed_correctly_to_scorer,
        routing.test_metadata_is_routed_correctly_to_splitter,
        routing.test_metadata_routed_to_group_splitter,
    ],
)
def test_metadata_routing(check):
    check(ROUTING)


@sklearn.config_context(enable_metadata_routing=True)
def test_metadata_that_nobody_asks_for(rng):
    X, y = data(rng)
    with pytest.raises(UnsetMetadataPassedError, match="metadata"):
        search(cv=ConsumingSplitter()).fit(X, y, metadata=np.zeros(400))


@sklearn.config_context(enable_metadata_routing=True)
def test_weights_are_routed(rng):
    X, y = data(rng)
    weight = rng.choice([0.1, 3.0], 400)
    scorer = make_scorer(recall_score).set_score_request(sample_weight=True)
    routed = search(scoring=scorer).fit(X, y, sample_weight=weight)
    with sklearn.config_context(enable_metadata_routing=False):
        direct = search(scoring="recall").fit(X, y, sample_weight=weight)
    assert_allclose(routed.scores_, direct.scores_)
    several = {"a": scorer, "b": make_scorer(recall_score).set_score_request(sample_weight=False)}
    both = search(scoring=several, refit="a").fit(X, y, sample_weight=weight)
    assert_allclose(both.scores_, direct.scores_)
    assert not np.allclose(both.cv_results_["mean_test_b"], both.cv_results_["mean_test_a"])


def test_callbacks_of_a_search(rng):
    callback = pytest.importorskip("sklearn.callback")
    X, y = data(rng)
    for estimator in (search(), SVC(random_state=0)):
        monitor = callback.ScoringMonitor(scoring="accuracy")
        estimator.set_callbacks(monitor).fit(X, y)
        (entry,) = monitor.get_logs().data
        assert entry["accuracy"] == pytest.approx(estimator.score(X, y))


@pytest.mark.parametrize("estimator", [search(), SVC(), GridSearchCV(SVC(), {"C": [1]})])
def test_progress_bar(rng, capsys, estimator):
    callback = pytest.importorskip("sklearn.callback")
    estimator.set_callbacks(callback.ProgressBar()).fit(*data(rng))
    bars = [line for line in capsys.readouterr().out.splitlines() if "fit" in line]
    assert bars
    assert all("100%" in line for line in bars)
