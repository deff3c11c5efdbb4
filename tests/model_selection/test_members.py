"""Means of the best models of a search, against the models themselves."""

import pickle
from math import inf

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import KFold

import hssvm
from hssvm import SVC, SVCCV, SVR, SVRCV, Cells
from hssvm.estimators.calibration import fit_calibration, nonconformity, probabilities
from hssvm.estimators.inputs.parameters import InvalidParameterError
from hssvm.model_selection import race
from hssvm.model_selection.forward import choose_members
from hssvm.progress import MemberBegan, Progress, listening
from hssvm.solvers import Status
from hssvm.training.data.scaling import Scaling
from hssvm.training.reports.monitor import FirstShare

KERNELS = ["rbf", "exponential", "laplacian"]
GIVEN = {
    "Cs": [1.0, 10.0], "gammas": [0.5], "kernel": KERNELS, "scaling": ["standard", "minmax"],
    "max_members": 4, "cv": 3, "random_state": 0, "tol": 1e-6,
}  # fmt: skip
SEARCHES = {
    "two classes": SVCCV(**GIVEN),
    "one-vs-one": SVCCV(**GIVEN),
    "one-vs-rest": SVCCV(**GIVEN, multi_class="ovr"),
    "regression": SVRCV(**GIVEN),
}


@pytest.fixture
def all_kept(monkeypatch):
    """The best families are members, even if their mean is worse."""
    best = lambda ranked, scores, score, count: ranked[:count]  # noqa: E731
    monkeypatch.setattr("hssvm.model_selection.selection.choose_members", best)


def data_of(name, rng, n=150):
    X = rng.standard_normal((n, 3)).astype(np.float32) * [1, 2, 3]
    r = np.hypot(X[:, 0], X[:, 1] / 2) + 0.2 * rng.standard_normal(n)
    if name == "regression":
        return X, 1000 + 50 * r
    return X, np.array(["a", "b", "c"])[
        np.digitize(r, [1.2] if name == "two classes" else [1, 1.6])
    ]


def candidates(model):
    """Parameters of the best candidate of every family, the best first, from `cv_results_`."""
    results = model.cv_results_
    last = np.flatnonzero(results["iter"] == results["iter"].max())
    best = {}
    for i in sorted(last, key=lambda i: -results["mean_test_score"][i]):
        params = results["params"][i]
        best.setdefault((params["kernel"], params["scaling"]), params)
    return list(best.values())


def single(model, params, **more):
    """A model with the parameters of a candidate, which knows nothing of searches."""
    kind, given = (SVR if isinstance(model, SVRCV) else SVC), model.get_params()
    if isinstance(model, SVRCV):
        given["epsilon"] = model.epsilon_
    known = {name: given[name] for name in kind().get_params().keys() & given.keys()}
    return kind(**known | params | more)


def values_of(model, X):
    return model.predict(X) if hasattr(model, "epsilon") else model.decision_function(X)


@pytest.mark.parametrize("name", SEARCHES)
def test_values_are_the_mean_of_the_best_families(name, rng, all_kept):
    X, y = data_of(name, rng)
    T = rng.standard_normal((40, 3)).astype(np.float32) * 2
    model = clone(SEARCHES[name]).fit(X, y)
    best = candidates(model)[:4]
    alone = [single(model, params).fit(X, y) for params in best]
    assert len(model.members_) == 4
    for member, one in zip(model.members_, alone, strict=True):
        assert type(member) is type(one)
        assert_allclose(values_of(member, T), values_of(one, T), rtol=1e-5, atol=1e-5)
    mean = np.mean([values_of(one, T) for one in alone], axis=0)
    assert_allclose(values_of(model, T), mean, rtol=1e-5, atol=1e-5)
    if name == "two classes":
        assert_array_equal(model.predict(T), np.where(values_of(model, T) > 0, "b", "a"))
    elif name != "regression":
        assert_array_equal(model.predict(T), model.classes_[values_of(model, T).argmax(axis=1)])
    assert model.best_params_ == best[0]
    assert (model.C_, model.gamma_) == (best[0]["C"], best[0]["gamma"])
    for member, params in zip(model.members_, best, strict=True):
        assert params.items() <= member.get_params().items()
        assert str(params["kernel"]) in model.summary()


def test_members_predict_certify_and_export_alone(rng, tmp_path, all_kept):
    X, y = data_of("two classes", rng)
    model = clone(SEARCHES["two classes"]).fit(X, y)
    for i, member in enumerate(model.members_):
        assert member.certify(X, y).gap.max() <= 1e-5
        member.save(tmp_path / f"{i}.hssvm")
        loaded = hssvm.load(tmp_path / f"{i}.hssvm")
        assert_array_equal(loaded.decision_function(X), member.decision_function(X))
        assert_array_equal(clone(member).fit(X, y).predict(X), member.predict(X))
    gaps = [member.certify(X, y).gap for member in model.members_]
    assert_array_equal(model.certify(X, y).gap, np.concatenate(gaps))
    assert_array_equal(model.certify(X, y).gap.size, model.fit_report_.gap.size)
    sampled = model.certify(X, y, n_rows=30)
    assert sampled.n_rows == 30 and np.all(sampled.low <= sampled.high)


@pytest.mark.parametrize("name", ["two classes", "one-vs-one", "one-vs-rest"])
@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_probabilities_and_sets_of_the_mean(name, method, rng, all_kept):
    X, y = data_of(name, rng, 200)
    model = clone(SEARCHES[name]).set_params(probability=method).fit(X, y)
    parts = [single(model, params, out_of_fold=True).fit(X, y) for params in candidates(model)[:4]]
    values = np.mean([part.out_of_fold_decision_ for part in parts], axis=0)
    codes, n_classes = np.searchsorted(model.classes_, y), model.classes_.size
    scores = nonconformity(values)[np.arange(y.size), codes]
    assert_allclose(model.nonconformity_scores_, np.sort(scores), rtol=1e-3, atol=1e-3)
    columns = values.reshape(y.size, -1)
    calibration = fit_calibration(method, columns, codes, n_classes, np.ones(y.size))
    T = rng.standard_normal((40, 3)).astype(np.float32) * 2
    own = probabilities(calibration, values_of(model, T).reshape(40, -1), n_classes)
    assert_allclose(model.predict_proba(T), own, atol=0.05)
    predicted = values.argmax(1) if values.ndim > 1 else (values > 0)
    assert model.fit_report_.out_of_fold_score == pytest.approx(
        np.mean(predicted == codes), abs=2 / y.size
    )
    assert model.predict_set(T, coverage=0.99).sum() >= model.predict_set(T, coverage=0.5).sum()


def test_intervals_of_the_mean(rng, all_kept):
    X, y = data_of("regression", rng, 200)
    model = clone(SEARCHES["regression"]).set_params(out_of_fold=True).fit(X, y)
    parts = [single(model, params, out_of_fold=True).fit(X, y) for params in candidates(model)[:4]]
    predicted = np.mean([part.out_of_fold_decision_ for part in parts], axis=0)
    assert_allclose(model.out_of_fold_decision_, predicted, atol=0.2)
    expected = r2_score(y, model.out_of_fold_decision_)
    assert model.fit_report_.out_of_fold_score == pytest.approx(expected)
    errors = np.sort(np.abs(y - model.out_of_fold_decision_))
    assert_allclose(model.nonconformity_scores_, errors)
    low, high = model.predict_interval(X, coverage=0.9).T
    assert_allclose((high - low) / 2, errors[int(np.ceil(0.9 * 201)) - 1], rtol=1e-5)


@pytest.mark.parametrize("name", SEARCHES)
def test_files_and_pickles(name, rng, tmp_path, all_kept):
    X, y = data_of(name, rng)
    model = clone(SEARCHES[name])
    if name != "regression":
        model.set_params(probability="sigmoid")
    model.fit(X, y)
    model.save(tmp_path / "mean.hssvm")
    for copy in (hssvm.load(tmp_path / "mean.hssvm"), pickle.loads(pickle.dumps(model))):
        assert type(copy) is type(model)
        assert_array_equal(values_of(copy, X), values_of(model, X))
        assert_array_equal(copy.predict(X), model.predict(X))
        assert len(copy.members_) == 4
        assert copy.summary() == model.summary()
        assert_array_equal(copy.fit_report_.gap, model.fit_report_.gap)
        if name != "regression":
            assert_array_equal(copy.predict_proba(X), model.predict_proba(X))


def test_damaged_files_of_means_are_refused(rng, tmp_path, all_kept):
    X, y = data_of("one-vs-one", rng)
    model = clone(SEARCHES["one-vs-one"]).fit(X, y)
    document, arrays = model._pack()
    other = model.members_[0]._pack()[0]

    def restored(change):
        new, parts = pickle.loads(pickle.dumps((document, dict(arrays))))
        change(new, parts)
        hssvm.estimators.models.saving.restore_model(SVCCV, new, parts)

    restored(lambda new, parts: None)
    damages = [
        lambda new, parts: new["members"].pop(),
        lambda new, parts: new.update(members=new["members"][:1]),
        lambda new, parts: new["members"].append(other),
        lambda new, parts: parts.pop("member1_W"),
        lambda new, parts: parts.update(member9_W=parts["member1_W"]),
        lambda new, parts: parts.update(W=parts["member1_W"]),
        lambda new, parts: new.update(n_features=4),
        lambda new, parts: new["attributes"].update(_member_index=[0, 1]),
        lambda new, parts: new["attributes"].update(_member_index=[0, 1, 2, 10**6]),
        lambda new, parts: new["attributes"]["classes_"]["array"].__setitem__(0, "aa"),
    ]
    for damage in damages:
        with pytest.raises((ValueError, KeyError)):
            restored(damage)


def test_what_a_mean_does_not_have(rng, tmp_path, all_kept):
    X, y = data_of("two classes", rng)
    model = clone(SEARCHES["two classes"]).fit(X, np.where(y == "a", 1, 2))
    for name in ("support_", "dual_coef_", "kernel_", "intercept_", "n_support_", "coef_"):
        assert not hasattr(model, name)
        with pytest.raises(AttributeError, match=rf"members_\[0\]\.{name}"):
            getattr(model, name)
    with pytest.raises(ValueError, match=r"reduce needs a single model.*members_\[0\]"):
        model.reduce(X)
    with pytest.raises(ValueError, match=r"members_\[0\]"):
        model.save_libsvm(tmp_path / "model")
    assert model.members_[0].reduce(X).predict(X).size == y.size
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        model.nothing  # noqa: B018
    assert not hasattr(SVCCV(), "members_")


def test_a_single_family_is_an_ordinary_model(rng):
    X, y = data_of("one-vs-one", rng)
    given = GIVEN | {"kernel": "rbf", "scaling": "standard"}
    model = SVCCV(**given).fit(X, y)
    one = SVCCV(**given | {"max_members": 1}).fit(X, y)
    alone = SVC(model.C_, gamma=model.gamma_, scaling="standard", tol=1e-6, random_state=0).fit(
        X, y
    )
    assert model.members_ == [model]
    for name in ("support_", "dual_coef_", "intercept_", "n_support_", "n_iter_", "feature_shift_"):
        assert_array_equal(getattr(model, name), getattr(one, name))
        assert_array_equal(getattr(model, name), getattr(alone, name))
    assert model.kernel_ == alone.kernel_
    assert_array_equal(model.decision_function(X), alone.decision_function(X))
    assert "\nmembers" not in model.summary()


def test_a_fit_forgets_the_last_one(rng, all_kept):
    X, y = data_of("regression", rng)
    model = clone(SEARCHES["regression"]).fit(X, y)
    assert not hasattr(model, "support_")
    model.set_params(max_members=1, out_of_fold=True).fit(X, y)
    assert model.members_ == [model] and model.support_.size
    assert model.out_of_fold_decision_.shape == y.shape
    model.set_params(max_members=2, out_of_fold=False).fit(X, y)
    assert len(model.members_) == 2
    assert not hasattr(model, "support_") and not hasattr(model, "out_of_fold_decision_")


def test_members_of_approximations(rng, monkeypatch, all_kept):
    monkeypatch.setattr("hssvm.training.config.EXACT_ROWS", 0)
    X, y = data_of("two classes", rng, 400)
    model = SVCCV(**GIVEN, approximation=Cells(size=100, n_trees=2), probability=True).fit(X, y)
    mean = np.mean([member.decision_function(X) for member in model.members_], axis=0)
    assert_allclose(model.decision_function(X), mean, rtol=1e-5)
    assert all(member.fit_report_.n_cells for member in model.members_)
    assert model.predict_proba(X).shape == (400, 2)


def test_frames_are_checked_once(rng, all_kept):
    pd = pytest.importorskip("pandas")
    X, y = data_of("two classes", rng)
    frame = pd.DataFrame(X, columns=["x", "y", "z"])
    model = clone(SEARCHES["two classes"]).fit(frame, y)
    assert_array_equal(model.predict(frame), model.predict(frame.copy()))
    for member in model.members_:
        assert_array_equal(member.feature_names_in_, ["x", "y", "z"])
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["y", "x", "z"]])
    with pytest.raises(ValueError, match="missing values"):
        model.predict(frame * np.nan)


def test_importances_are_the_mean_of_learned_scales(rng, all_kept):
    X, y = data_of("regression", rng, 200)
    learned = {"kernel": ["rbf", "exponential"], "scaling": ["learned", "standard"]}
    model = SVRCV(**GIVEN | learned).fit(X, y)
    shares = [
        member.feature_importances_ for member in model.members_ if member.scaling == "learned"
    ]
    assert len(shares) == 2
    assert_allclose(model.feature_importances_, np.mean(shares, axis=0))
    assert not hasattr(SVRCV(**GIVEN).fit(X, y), "feature_importances_")


def test_rows_are_scaled_once_for_each_scaling(rng, tmp_path, monkeypatch, all_kept):
    X, y = data_of("two classes", rng)
    model = clone(SEARCHES["two classes"]).fit(X, y)
    model.save(tmp_path / "mean.hssvm")
    scaled, scale = [], Scaling.__call__
    monkeypatch.setattr(Scaling, "__call__", lambda *at: scaled.append(at) or scale(*at))
    for copy in (model, hssvm.load(tmp_path / "mean.hssvm"), pickle.loads(pickle.dumps(model))):
        scaled.clear()
        copy.predict(X)
        assert len(scaled) == len({member.scaling for member in copy.members_}) < 4


def test_progress_tells_the_members(rng, all_kept):
    X, y = data_of("regression", rng)
    progress, events = Progress(), []
    with listening(events.append):
        model = clone(SEARCHES["regression"]).fit(X, y)
    texts = [event.text for event in events if isinstance(event, MemberBegan)]
    for i, (member, text) in enumerate(zip(model.members_, texts, strict=True)):
        assert text.startswith(f"model {i + 1} of 4: {member.kernel}, {member.scaling}, C=")
    for event in events:
        progress.update(event)
    assert list(progress.rounds.values())[-4:] == texts


def test_time_is_for_the_best_first(rng, monkeypatch, all_kept):
    X, y = data_of("two classes", rng)
    monkeypatch.setattr(FirstShare, "stop", lambda self: Status.MAX_TIME)
    model = SVCCV(**GIVEN, max_time=1000)
    with pytest.warns(ConvergenceWarning, match=r"1 of 4 models; raise max_time"):
        model.fit(X, y)
    assert model.members_ == [model] and model.support_.size
    assert model.best_params_ == candidates(model)[0]
    assert any("1 of 4 models" in advice for advice in model.fit_report_.advice)


def test_shares_of_the_time():
    class Fixed(hssvm.training.Monitor):
        seconds_left = 8.0

    monitor = Fixed()
    share = FirstShare(monitor, 0.25)
    assert share.seconds_left == 2 and share.stop() is None
    monitor.seconds_left = 6.0
    assert share.stop() is Status.MAX_TIME
    monitor.seconds_left = inf
    assert FirstShare(monitor, 0.25).seconds_left == inf


def test_a_callable_refit_chooses_one_model(rng):
    X, y = data_of("two classes", rng)
    model = SVCCV(**GIVEN, refit=lambda results: 1).fit(X, y)
    assert model.members_ == [model] and model.best_index_ == 1


def test_the_number_of_members_is_checked(rng):
    X, y = data_of("two classes", rng)
    with pytest.raises(InvalidParameterError, match="max_members must be an integer"):
        SVCCV(max_members=0).fit(X, y)


def test_searches_on_a_cluster_have_one_model():
    dask = pytest.importorskip("hssvm.dask")
    with pytest.raises(TypeError, match=r"no parameter 'max_members': .*hssvm\.SVCCV"):
        dask.SVCCV(max_members=2)


def copied(scorer):
    """A scorer that passes other rows than those it receives, although equal ones."""
    metric = {"accuracy": accuracy_score, "r2": r2_score}[scorer]
    return lambda model, X, y: metric(y, model.predict(X.copy()))


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize("custom", [False, True])
def test_means_are_scored_in_the_folds(name, custom, rng, monkeypatch):
    found = {}

    def spy(ranked, scores, score, count):
        found.update(scores=scores, pair=score(ranked[:2]), single=score(ranked[:1]))
        return ranked[:2]

    monkeypatch.setattr("hssvm.model_selection.selection.choose_members", spy)
    X, y = data_of(name, rng)
    cv = KFold(3, shuffle=True, random_state=int(rng.integers(1000)))
    model = clone(SEARCHES[name]).set_params(cv=cv)
    if custom:
        model.set_params(scoring=copied(model._default_scoring))
    model.fit(X, y)
    tied = 0.021 if name == "one-vs-one" else 1e-6  # only a mean breaks ties of votes by the values
    assert_allclose(found["single"], found["scores"], atol=tied)
    expected = []
    for train, test in cv.split(X):
        parts = [single(model, one).fit(X[train], y[train]) for one in candidates(model)[:2]]
        values = np.mean([values_of(part, X[test]) for part in parts], axis=0)
        if name == "regression":
            expected.append(r2_score(y[test], values))
        else:
            index = values.argmax(axis=1) if values.ndim > 1 else (values > 0).astype(int)
            expected.append(np.mean(parts[0].classes_[index] == y[test]))
    assert_allclose(found["pair"], expected, atol=1e-3 if name == "regression" else 0.021)


def test_forward_selection_against_all_subsets(rng):
    errors = rng.standard_normal(6) + 0.5
    score = lambda members: -np.abs([errors[members].mean()])  # noqa: E731
    ranked = sorted(range(6), key=lambda i: abs(errors[i]))
    for count in range(1, 7):
        chosen = choose_members(ranked, score([ranked[0]]), score, count)
        assert chosen[0] == ranked[0] and len(set(chosen)) == len(chosen) <= count
        for k in range(1, len(chosen)):  # each is the best addition, and does not harm
            others = [score([*chosen[:k], i])[0] for i in set(ranked) - set(chosen[:k])]
            assert score(chosen[: k + 1])[0] == pytest.approx(max(others))
            assert score(chosen[: k + 1])[0] >= score(chosen[:k])[0] - 1e-11
        if len(chosen) < count:
            left = set(ranked) - set(chosen)
            assert all(score([*chosen, i])[0] < score(chosen)[0] + 1e-11 for i in left)


def test_forward_selection_skips_unknown_scores():
    score = lambda members: np.array([np.nan if 1 in members else 1.0])  # noqa: E731
    assert choose_members([0, 1, 2], np.array([1.0]), score, 3) == [0, 2]


def test_bad_candidates_are_left_out(rng):
    X = rng.uniform(-2, 2, (300, 2))
    y = np.sin(3 * X[:, 0]) * np.cos(3 * X[:, 1])
    model = SVRCV([10.0], gammas=[1.0], kernel=["rbf", "linear"], max_members=2, cv=5).fit(X, y)
    assert model.members_ == [model]
    assert model.best_params_["kernel"] == "rbf"


def test_the_race_keeps_the_best_families_to_the_last_round(rng, monkeypatch):
    monkeypatch.setattr("hssvm.model_selection.rounds.FIRST_ROWS", 60)
    monkeypatch.setattr("hssvm.model_selection.rounds.SEARCH_ROWS", 0)
    monkeypatch.setattr(race, "CONFIDENCE", inf)  # no family is beaten
    X, y = data_of("two classes", rng, 400)
    for n_kept in (1, 4):
        model = SVCCV(
            kernel=["linear", *KERNELS], scaling=["standard", "minmax"], max_members=n_kept, cv=3,
            random_state=0,
        ).fit(X, y)  # fmt: skip
        results = model.cv_results_
        means, families = {}, {}
        for i, params in enumerate(results["params"]):
            family, last = (params["kernel"], params["scaling"]), results["iter"][i]
            families.setdefault(last, set()).add(family)
            if last == 0:
                means[family] = max(means.get(family, 0), results["mean_test_score"][i])
        assert len(families) > 1 and len(families[0]) == 8
        running = max(2, n_kept)  # a third of four
        ranked = sorted(means.values())[::-1]
        assert len(families[1]) == running
        assert min(means[family] for family in families[1]) >= ranked[running - 1]
        assert len(families[max(families)]) >= n_kept
