"""Searches over several kernels and scalings, beside the searches of each alone."""

import matplotlib
import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_val_score
from sklearn.svm import SVC as ExactSVC

import hssvm
from hssvm import SVCCV, SVR, SVRCV
from hssvm.estimators.inputs.kernel import make_kernel
from hssvm.estimators.inputs.parameters import InvalidParameterError
from hssvm.kernels import Gaussian, Linear
from hssvm.model_selection.families import Family, make_families
from hssvm.model_selection.fold_fitter import make_groups
from hssvm.model_selection.race import Race
from hssvm.model_selection.search import COARSE, FINE, Free, Given, Search
from hssvm.plotting import ScoreGridDisplay

matplotlib.use("Agg")
FAMILIES = [Family(kernel, None) for kernel in ("rbf", "exponential", "matern32", "linear")]


def race_of(means, noise, n_folds=5, rng=None):
    """A race of families with these mean scores at their peak; and the candidates by family."""
    rng = rng or np.random.default_rng(0)
    scored = {family: [] for family in FAMILIES}

    def score(family, gamma, Cs):
        scored[family] += [(gamma, C) for C in Cs]
        loss = 0.01 * np.array([np.log10(gamma) ** 2 + np.log10(C / 10) ** 2 for C in Cs])
        mean = means[FAMILIES.index(family)] - loss
        return mean[:, None] + noise * rng.standard_normal((len(Cs), n_folds))

    searches = [Search(family, Free(1.0), Free(1.0, start=2), lambda: False) for family in FAMILIES]
    return Race(searches), score, scored


def test_families_that_are_beaten_get_no_more_candidates(rng):
    race, score, scored = race_of([0.9, 0.5, 0.6, 0.4], 1e-3, rng=rng)
    race.walk(score, COARSE)
    race.walk(score, FINE)
    assert race.leaders()[0].family == FAMILIES[0]
    assert [len(scored[family]) for family in FAMILIES[1:]] == [9, 9, 9]  # one neighborhood
    assert len(scored[FAMILIES[0]]) == 13  # and a cross of fine steps


def test_families_within_the_error_run_on(rng):
    race, score, scored = race_of([0.9, 0.9, 0.9, 0.9], 1e-9, rng=rng)
    race.walk(lambda *at: np.round(score(*at), 6), COARSE)
    assert len(race.running) == 4
    race.keep_best()
    assert len(race.running) == 2
    race.walk(score, FINE)
    assert sorted(len(pairs) for pairs in scored.values()) == [9, 9, 13, 13]


def test_a_single_fold_beats_nobody():
    race, score, _ = race_of([0.9, 0.5, 0.6, 0.4], 0.0, n_folds=1)
    race.walk(score, COARSE)
    assert len(race.running) == 4


def test_the_best_of_all_families_meet_on_more_rows():
    means = {family: mean for family, mean in zip(FAMILIES, (0.5, 0.8, 0.7, 0.6), strict=True)}
    race = Race(
        [Search(family, Given([1.0]), Given([1.0, 2.0]), lambda: False) for family in FAMILIES]
    )
    race.walk(lambda family, g, Cs: np.array([[means[family] + 0.01 * C] for C in Cs]), COARSE)
    race.begin_round()
    seen = []
    race.again(lambda family, g, Cs: seen.append((family, Cs)) or np.array([[-C] for C in Cs]), 3)
    assert seen == [(FAMILIES[1], [2.0, 1.0]), (FAMILIES[2], [2.0])]
    assert race.leaders()[0][:3] == (FAMILIES[1], 1.0, 1.0)
    assert race.of(FAMILIES[0]).grid()[2].shape == (1, 2, 1)


def rings(rng, n):
    X = rng.standard_normal((n, 2))
    return X, (np.hypot(*X.T) < 1).astype(int)


def test_several_kernels_are_as_each_alone(rng):
    X, y = rings(rng, 240)
    cv = StratifiedKFold(3, shuffle=True, random_state=int(rng.integers(1000)))
    given = {
        "Cs": [0.1, 1.0], "gammas": [0.5, 2.0], "cv": cv, "scaling": None, "tol": 1e-6,
        "max_members": 1,
    }  # fmt: skip
    kernels = ["rbf", "exponential"]
    model = SVCCV(**given, kernel=kernels).fit(X, y)
    alone = {kernel: SVCCV(**given, kernel=kernel).fit(X, y) for kernel in kernels}
    for params, score in zip(
        model.cv_results_["params"], model.cv_results_["mean_test_score"], strict=True
    ):
        single = alone[params["kernel"]]
        rest = {name: value for name, value in params.items() if name != "kernel"}
        index = single.cv_results_["params"].index(rest)
        assert score == single.cv_results_["mean_test_score"][index]
    best = max(alone.values(), key=lambda single: single.best_score_)
    assert model.best_score_ == best.best_score_
    assert model.best_params_ == {**best.best_params_, "kernel": best.kernel}
    assert_array_equal(model.scores_, best.scores_)
    assert_array_equal(model.decision_function(X), best.decision_function(X))
    assert model.kernel_ == best.kernel_
    one = SVCCV(**given, kernel=["rbf"]).fit(X, y)
    assert one.cv_results_.keys() == alone["rbf"].cv_results_.keys()
    assert_array_equal(one.scores_, alone["rbf"].scores_)


def test_results_have_the_form_of_a_grid_search(rng):
    X, y = rings(rng, 200)
    cv = StratifiedKFold(3)
    ours = SVCCV(
        [0.1, 1.0], gammas=[0.3], kernel=["rbf", "linear"], scaling=None, cv=cv, tol=1e-6
    ).fit(X, y)
    grid = [{"C": [0.1, 1.0], "gamma": [0.3], "kernel": ["rbf"]}]
    grid += [{"C": [0.1, 1.0], "kernel": ["linear"]}]
    theirs = GridSearchCV(ExactSVC(), grid, cv=cv).fit(X, y)
    assert ours.cv_results_.keys() == theirs.cv_results_.keys() | {"iter", "n_resources"}
    assert ours.cv_results_["params"] == theirs.cv_results_["params"]
    for name in ("param_C", "param_gamma", "param_kernel"):
        mine, expected = ours.cv_results_[name], theirs.cv_results_[name]
        assert mine.dtype == expected.dtype
        assert_array_equal(np.ma.getmaskarray(mine), np.ma.getmaskarray(expected))
        assert mine.compressed().tolist() == expected.compressed().tolist()
    assert ours.best_params_ == theirs.best_params_


def test_the_kernel_of_the_data_wins(rng):
    X = rng.uniform(-2, 2, (500, 4)) * [1, 30, 1, 1]
    smooth = np.sin(X[:, 0] + X[:, 2] - X[:, 3]) + np.cos(X[:, 2] + X[:, 3])
    model = SVRCV(
        kernel=["exponential", "rbf"], scaling=[None, "standard"], max_members=1, cv=3,
        random_state=0,
    ).fit(X, smooth)  # fmt: skip
    assert model.best_params_.keys() - {"epsilon"} == {"C", "gamma", "kernel", "scaling"}
    assert (model.best_params_["kernel"], model.best_params_["scaling"]) == ("rbf", "standard")
    assert (model.scaling_, model.feature_factor_ is None) == ("standard", False)
    assert isinstance(model.kernel_, Gaussian)
    tried = model.cv_results_["param_kernel"], model.cv_results_["param_scaling"]
    counts = [np.sum((tried[0] == "exponential") & (tried[1] == scaling)) for scaling in (None,)]
    assert counts[0] <= 18  # beaten early
    assert "rbf" in model.summary()
    scores = model.scores_.mean(axis=2)
    assert model.best_score_ == pytest.approx(scores[model.best_position()])


def test_what_is_saved_and_shown(rng, tmp_path):
    X, y = rings(rng, 200)
    model = SVCCV(
        [0.1, 1.0], gammas=[0.3, 1.0], kernel=["linear", Gaussian(1.0), "rbf"], cv=3,
        scaling=["minmax", None], max_members=1, random_state=0,
    ).fit(X, y)  # fmt: skip
    assert len(set(map(str, model.cv_results_["params"]))) == 2 * (2 + 2 + 4)
    model.save(tmp_path / "model.hssvm")
    loaded = hssvm.load(tmp_path / "model.hssvm")
    assert str(loaded.cv_results_["params"]) == str(model.cv_results_["params"])
    assert loaded.summary() == model.summary()
    assert (loaded.best_params_, loaded.scaling_) == (model.best_params_, model.scaling_)
    assert "linear, minmax: 0." in model.summary()
    ax = ScoreGridDisplay.from_estimator(model).plot().ax_
    title = ax.get_title() + ax.get_title("left")  # where it is depends on the style
    assert str(model.best_params_["kernel"]) in title


TABLE = [Family(k, s) for k in ("rbf", "exponential", "laplacian") for s in (None, "standard")]


def families_of(X, kernel="auto", scaling="auto", *, Cs_searched=True, gammas_searched=True):
    def make(kernel, gamma):
        return make_kernel(kernel, lambda: gamma, 3, 0.0)

    found = make_families(
        kernel, scaling, X, make, Cs_searched=Cs_searched, gammas_searched=gammas_searched
    )
    assert len(set(found)) == len(found)
    return set(found)


def test_auto_compares_kernels_and_scalings_of_tables(rng):
    X = rng.standard_normal((600, 3))
    others = ("quantiles", "learned", "learned-quantiles")
    table = {*TABLE, *(Family(k, s) for k in ("rbf", "exponential", "laplacian") for s in others)}
    assert families_of(X) == table
    assert families_of(X, "rbf") == {one for one in table if one.kernel == "rbf"}
    assert families_of(X, scaling="standard") == {one for one in table if one.scaling == "standard"}
    assert families_of(X * [1, 1, 1e4]) == {one for one in table if one.scaling is not None}
    assert families_of(X, "linear") == {Family("linear", None), Family("linear", "standard")}
    few = {one for one in table if one.scaling != "standard"}
    assert families_of(X[:200]) == few  # too few to compare None with "standard"


def test_auto_is_gaussian_where_rows_are_no_table_or_gammas_are_given(rng):
    X = rng.standard_normal((600, 3))
    plain = {Family("rbf", None), Family("rbf", "standard")}
    assert families_of(X, gammas_searched=False) == plain
    assert families_of(X, gammas_searched=False, Cs_searched=False) == {Family("rbf", None)}
    assert families_of(X[:99]) == {Family("rbf", None)}
    assert families_of(rng.standard_normal((600, 301))) == plain
    assert families_of(scipy.sparse.csr_matrix(X)) == {Family("rbf", None)}


def test_learned_scales_of_beaten_features_are_not_tried(rng):
    families = [Family("rbf", s) for s in ("standard", "quantiles", "learned", "learned-quantiles")]
    families += [Family("laplacian", s) for s in ("standard", "learned")]
    means = dict(zip(families, (0.5, 0.8, 0.9, 0.9, 0.6, 0.7), strict=True))
    race = Race(
        [Search(one, Free(1.0), Free(1.0, start=2), lambda: False) for one in families], n_kept=2
    )
    seen = []

    def score(family, gamma, Cs):
        seen.append(family)
        return means[family] + 1e-3 * rng.standard_normal((len(Cs), 5))

    race.start(score, COARSE)
    assert set(seen) == set(families) - {families[2]}  # "standard" is worse than "quantiles"
    assert {one.family for one in race.running} == set(families) - {families[0], families[2]}


def test_the_tube_of_a_regression_is_searched(rng):
    X = rng.uniform(-3, 3, (600, 1))
    y = 5 + np.sin(2 * X[:, 0])
    given = {"kernel": "rbf", "scaling": None, "cv": 3, "random_state": 0}
    start = 0.1 * np.std(y)
    model = SVRCV(**given).fit(X, y)
    assert model.epsilon_ < 0.5 * start  # there is no noise
    assert model.best_params_["epsilon"] == model.epsilon_
    same = SVR(**model.best_params_, kernel="rbf", random_state=0).fit(X, y)
    assert_allclose(model.predict(X), same.predict(X), rtol=1e-6)
    tried = model.cv_results_["param_epsilon"]
    assert np.abs(tried - start).min() < 1e-6 and len(set(tried)) > 2
    assert len(set(tried[model.cv_results_["iter"] == 1])) == 1  # chosen after the first round
    noisy = SVRCV(**given).fit(X, y + 2 * rng.standard_normal(600))
    assert noisy.epsilon_ >= 0.05 * np.std(y)
    fixed = SVRCV(**given, epsilon=0.3).fit(X, y)
    assert fixed.epsilon_ == 0.3 and "param_epsilon" not in fixed.cv_results_
    assert SVRCV([1.0], gammas=[1.0], **given).fit(X, y).epsilon_ == pytest.approx(start)


def test_errors_of_several_kernels(rng):
    X, y = rings(rng, 60)
    for kernel, text in (
        ([], "a non-empty list of kernels, got"),
        (["rbf", "cubic"], "got 'cubic'"),
        (["rbf", "precomputed"], "pass kernel='precomputed' alone"),
    ):
        with pytest.raises(InvalidParameterError, match=text):
            SVCCV(kernel=kernel).fit(X, y)
    with pytest.raises(InvalidParameterError, match="scaling must be"):
        SVCCV(scaling=["standard", "max"]).fit(X, y)
    with pytest.raises(InvalidParameterError, match="SVCCV and SVRCV choose between several"):
        hssvm.SVC(kernel=["rbf", "linear"]).fit(X, y)
    with pytest.raises(ValueError, match="no gamma to choose"):
        SVCCV(kernel=["linear"], gammas=[1.0]).fit(X, y)
    both = SVCCV([1.0], kernel=["linear", Linear()], cv=3).fit(X, y)
    assert "param_gamma" not in both.cv_results_


@pytest.mark.parametrize("kernel", ["rbf", "exponential"])
@pytest.mark.parametrize("scaling", ["learned", "quantiles", "learned-quantiles"])
def test_every_fold_learns_its_scaling_from_the_rows_it_trains_on(scaling, kernel, rng):
    X = rng.standard_normal((240, 5))
    y = np.sin(2 * X[:, 0]) + 0.05 * rng.standard_normal(240)
    cv = KFold(3, shuffle=True, random_state=int(rng.integers(1000)))
    same = {"kernel": kernel, "scaling": scaling, "epsilon": 0.05, "tol": 1e-6}
    model = SVRCV([10.0], gammas=[0.3], cv=cv, random_state=1, **same).fit(X, y)
    alone = SVR(10.0, gamma=0.3, random_state=1, **same)
    expected = cross_val_score(alone, X, y, cv=cv)
    assert_allclose(model.scores_[0, 0], expected, atol=1e-4)
    assert_allclose(model.predict(X), alone.fit(X, y).predict(X), atol=1e-3)
    assert_array_equal(model.feature_factor_, alone.feature_factor_)
    assert_array_equal(model.feature_quantiles_, alone.feature_quantiles_)


def test_learned_scales_win_where_most_features_are_noise(rng):
    X = rng.standard_normal((400, 12))
    y = np.sin(2 * X[:, 0]) + np.cos(X[:, 1])
    given = {"kernel": ["rbf", "exponential"], "scaling": ["standard", "learned"]}
    model = SVRCV(**given, cv=3, max_members=1).fit(X, y)
    assert model.scaling_ == "learned"
    assert model.best_params_["scaling"] == "learned"
    assert model.feature_factor_[:2].min() > 3 * model.feature_factor_[2:].max()
    scaling = model.cv_results_["param_scaling"]
    assert np.sum(scaling == "standard") < np.sum(scaling == "learned")


def test_learned_scales_need_distances(rng):
    X, y = rings(rng, 60)
    model = SVCCV(kernel=["rbf", "linear"], scaling=["learned", None])
    with pytest.raises(InvalidParameterError, match="depends on distances, but kernel='linear'"):
        model.fit(X, y)


def test_quantiles_are_shared_by_kernels_and_learned_scales_are_not(rng, monkeypatch):
    made = []

    def make(X, folds, scaling_of):
        made.append(folds)
        return make_groups(X, folds, scaling_of)

    monkeypatch.setattr("hssvm.model_selection.fold_solver.make_groups", make)
    X, y = rings(rng, 150)
    same = {"Cs": [1.0], "gammas": [0.5], "kernel": ["rbf", "laplacian"], "cv": 3}
    for scaling, count in (("quantiles", 1), ("learned-quantiles", 2)):
        made.clear()
        SVCCV(scaling=scaling, **same).fit(X, y)
        assert len(made) == count


def test_quantiles_win_where_features_are_skewed(rng, tmp_path):
    Z = rng.standard_normal((400, 3))
    model = SVRCV(scaling=["standard", "quantiles"], cv=3, random_state=0)
    model.fit(np.exp(3 * Z), np.sin(2 * Z[:, 0]) + Z[:, 1])
    assert model.scaling_ == model.best_params_["scaling"] == "quantiles"
    model.save(tmp_path / "model.hssvm")
    loaded = hssvm.load(tmp_path / "model.hssvm")
    assert loaded.summary() == model.summary()
    assert_array_equal(loaded.predict(np.exp(3 * Z)), model.predict(np.exp(3 * Z)))


def test_the_report_has_the_time_of_the_folds_and_of_the_models(rng):
    X, y = rings(rng, 300)
    for max_members in (1, 4):
        model = SVCCV(
            [0.1, 1.0], gammas=[0.5], kernel=["rbf", "exponential"], scaling=None, cv=3,
            max_members=max_members,
        ).fit(X, y)  # fmt: skip
        searched = 3 * model.cv_results_["mean_fit_time"].sum()
        assert model.fit_report_.seconds["folds"] > searched  # and out-of-fold values
        assert model.fit_report_.seconds["solve"] > 0
