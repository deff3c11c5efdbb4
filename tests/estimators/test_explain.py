"""Shapley values of every kind of model, by enumeration of all sets of features."""

import pickle
from itertools import combinations

import numpy as np
import pytest
import scipy.sparse
from helpers.rows import noisy_classes
from numpy.testing import assert_allclose, assert_array_equal
from reference import shapley_values
from scipy.special import logit
from sklearn.pipeline import make_pipeline

import hssvm
from hssvm import HSS, SVC, SVCCV, SVR, SVRCV, Cells, OneClassSVM
from hssvm.estimators.inputs.parameters import InvalidParameterError
from hssvm.estimators.models.explanation import Explanation
from hssvm.kernels import Categorical, ChiSquared, Gaussian, Laplacian, Linear, ObjectKernel
from hssvm.kernels.mixtures import MIXTURE_ERROR
from hssvm.predictors import ExpansionPredictor
from hssvm.training.data.scaling import Scaling

GIVEN = {"Cs": [1.0], "cv": 2, "random_state": 0, "max_members": 3}
MIXED = Gaussian(0.3)[:3] * Laplacian(0.2)[3:] + 0.1 * Linear()
MODELS = {
    "two classes": SVC(),
    "laplacian": SVC(kernel="laplacian"),
    "linear": SVC(kernel="linear"),
    "composed": SVC(kernel=MIXED),
    "one-vs-one": SVC(multi_class="ovo"),
    "one-vs-rest": SVC(multi_class="ovr"),
    "standard": SVR(scaling="standard"),
    "minmax": SVC(scaling="minmax"),
    "quantiles": SVC(scaling="quantiles"),
    "learned": SVR(scaling="learned", random_state=0),
    "learned quantiles": SVC(scaling="learned-quantiles", random_state=0),
    "novelty": OneClassSVM(nu=0.3),
    "refined": SVC(refine=True, random_state=0),
    "mean of regressions": SVRCV(
        gammas=[0.1], scaling=["standard", "minmax"], kernel=["rbf", "laplacian"], **GIVEN
    ),
    "mean of classifiers": SVCCV(
        gammas=[0.1], scaling=["standard", "minmax"], kernel=["rbf", "laplacian"], **GIVEN
    ),
    "mean of pairs": SVCCV(
        gammas=[0.1], scaling=["standard", "minmax"], kernel=["rbf", "laplacian"],
        multi_class="ovo", **GIVEN,
    ),
}  # fmt: skip


def problem(rng, kind, n=150):
    n_classes = 3 if "one-vs" in kind or "pairs" in kind else 2
    X, y = noisy_classes(rng, n, n_classes)
    model = MODELS[kind]
    if isinstance(model, SVR | SVRCV):
        y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2]
    return X, y


def sums_of_pairs(model, X):
    """Sums by class of the decision values of the pairs, averaged over the members."""
    total = 0
    for member in getattr(model, "members_", [model]):
        pairs = member._decision_values(X)
        sums = np.zeros((len(X), model.classes_.size))
        for values, (one, other) in zip(
            pairs.T, combinations(range(model.classes_.size), 2), strict=True
        ):
            sums[:, one] += values
            sums[:, other] -= values
        total = total + sums / len(getattr(model, "members_", [model]))
    return total


def function_of(model):
    """The function that `explain` explains."""
    if getattr(model, "multi_class_", None) == "ovo" and model.classes_.size > 2:
        return lambda X: sums_of_pairs(model, X)
    return model.predict if hasattr(model, "epsilon") else model.decision_function


def check(function, explanation, X, background, weight, atol=1e-10):
    X = X.toarray() if scipy.sparse.issparse(X) else X
    for i, x in enumerate(X):
        expected = shapley_values(function, x, background, weight)
        values = explanation.values[i].reshape(expected.shape)
        assert_allclose(values, expected, rtol=0, atol=atol)
    base = weight @ function(background).reshape(len(weight), -1)
    found = explanation.base_values.reshape(len(X), -1)
    assert_allclose(found, np.tile(base, (len(X), 1)), atol=1e-8)
    total = explanation.values.sum(axis=1) + explanation.base_values
    assert_allclose(total.ravel(), function(X).ravel(), rtol=0, atol=1e-8)


@pytest.mark.parametrize("kind", MODELS)
def test_values_are_those_of_all_sets_of_features(kind, rng):
    X, y = problem(rng, kind)
    model = MODELS[kind].fit(X, y)
    T, Z = rng.standard_normal((3, 6)), rng.standard_normal((3, 6))
    weight = np.array([0.5, 0.2, 0.3])
    function = function_of(model)
    explanation = model.explain(T, Z, background_weight=10 * weight)
    check(function, explanation, T, Z, weight)
    default = model.explain(T)
    check(function, default, T, model.background_, model.background_weight_)
    assert model.explain(T, Z).values.shape == explanation.values.shape


def test_every_row_of_a_mean_counts(rng, monkeypatch):
    """A mean of members with other kernels and scalings, made by hand."""
    X, y = noisy_classes(rng, 120)
    search = SVCCV(Cs=[1.0], gammas=[0.1], kernel="rbf", scaling=None, cv=2, random_state=0)
    search.fit(X, y)
    members = [
        SVC(kernel="laplacian", scaling="standard").fit(X, y),
        SVC(scaling="quantiles", gamma=0.2).fit(X, y),
    ]
    search._become(members)
    T, Z, weight = X[:2], X[5:8], np.full(3, 1 / 3)
    check(search.decision_function, search.explain(T, Z), T, Z, weight)
    parts = [member.explain(T, Z).values for member in members]
    assert_allclose(search.explain(T, Z).values, np.mean(parts, axis=0), atol=1e-12)
    gradients = [member.gradient(T) for member in members]
    assert_allclose(search.gradient(T), np.mean(gradients, axis=0), atol=1e-12)


def test_each_pair_can_be_explained(rng):
    X, y = noisy_classes(rng, 150, 3)
    model = SVC(multi_class="ovo").fit(X, np.array(["a", "b", "c"])[y])
    explanation = model.explain(X[:2], X[10:12], output="pairs")
    assert explanation.output_names == ["a against b", "a against c", "b against c"]
    check(model._decision_values, explanation, X[:2], X[10:12], np.array([0.5, 0.5]))
    for other in (SVC(multi_class="ovr").fit(X, y), SVC().fit(X, y > 0), SVR().fit(X, y)):
        with pytest.raises(ValueError, match="more than two classes that are trained one-vs-one"):
            other.explain(X[:2], output="pairs")


@pytest.mark.parametrize("method", ["sigmoid", "temperature"])
def test_log_odds(method, rng):
    pytest.importorskip("sklearn", minversion="1.8" if method == "temperature" else None)
    X, y = noisy_classes(rng, 300)
    model = SVC(probability=method, random_state=0).fit(X, y)

    def function(points):
        return logit(model.predict_proba(points)[:, 1])

    explanation = model.explain(X[:3], X[4:6], output="log_odds")
    check(function, explanation, X[:3], X[4:6], np.array([0.5, 0.5]), atol=1e-9)


def test_log_odds_that_are_not_available(rng):
    X, y = noisy_classes(rng, 200, 3)
    with pytest.raises(ValueError, match="for two classes, and the model has 3"):
        SVC(probability=True).fit(X, y).explain(X[:1], output="log_odds")
    with pytest.raises(ValueError, match="needs probabilities; fit with probability='sigmoid'"):
        SVC().fit(X, y > 0).explain(X[:1], output="log_odds")
    with pytest.raises(ValueError, match="step function"):
        SVC(probability="isotonic").fit(X, y > 0).explain(X[:1], output="log_odds")
    with pytest.raises(ValueError, match="SVR has no probabilities"):
        SVR().fit(X, y).explain(X[:1], output="log_odds")
    with pytest.raises(InvalidParameterError, match="output must be 'decision', 'log_odds' or"):
        SVR().fit(X, y).explain(X[:1], output="probability")


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "linear", ChiSquared(0.5)], ids=str)
@pytest.mark.parametrize("scaling", [None, "standard"])
def test_sparse_rows(kernel, scaling, rng):
    X = rng.random((150, 8)) * (rng.random((150, 8)) < 0.4)
    y = X[:, 0] + X[:, 1] > X.sum(axis=1).mean() / 4
    csr = scipy.sparse.csr_array(X)
    model = SVC(kernel=kernel, scaling=scaling).fit(csr, y)
    assert scipy.sparse.issparse(model.background_)
    T, Z = csr[:3], csr[5:8]
    explanation = model.explain(T, Z)
    check(model.decision_function, explanation, T, Z.toarray(), np.full(3, 1 / 3))
    dense = model.explain(T.toarray(), Z.toarray())
    assert_allclose(dense.values, explanation.values, atol=1e-12)
    background, weight = model.background_.toarray(), model.background_weight_
    check(model.decision_function, model.explain(T), T, background, weight)


APPROXIMATIONS = {
    "forest": HSS(n_trees=3, leaf_size=50, max_rank=20),
    "tree": HSS(n_trees=1, leaf_size=50, max_rank=20),
    "cells": Cells(size=60, n_trees=2),
}


def functions_of_row(model, x):
    """The leaf expansions that predict a row, one for each tree; clipping aside."""
    predictor, scaling = model._predictor(), model._scaling
    functions = []
    for tree in predictor.trees:
        leaf = int(tree.tree.route(scaling(x[None]))[0])
        own = slice(tree.ends[leaf], tree.ends[leaf + 1])
        S, W = predictor.X[tree.rows[own]], tree.weights[own]
        f = ExpansionPredictor(model.kernel_, S, W)
        constant = 0 if tree.constants is None else tree.constants[leaf]
        functions.append(lambda X, f=f, constant=constant: f(scaling(X)) + constant)
    return functions


@pytest.mark.parametrize("kind", APPROXIMATIONS)
@pytest.mark.parametrize("estimator", [SVC, SVR])
def test_approximations_are_explained_by_the_leaves_that_predict(kind, estimator, rng):
    X, y = noisy_classes(rng, 2500)
    y = y if estimator is SVC else np.sin(X[:, 0]) + X[:, 1]
    model = estimator(
        scaling="standard", approximation=APPROXIMATIONS[kind], refine=False, random_state=0
    ).fit(X, y)
    assert model._predictor().n_leaves > 1
    T, Z, weight = X[:30], X[40:43], np.full(3, 1 / 3)
    explanation = model.explain(T, Z)
    total = explanation.base_values + explanation.values.sum(axis=1)
    outputs = model.predict(T) if estimator is SVR else model.decision_function(T)
    scale = max(np.abs(tree.weights).sum() for tree in model._predictor().trees)
    assert_allclose(total, outputs, rtol=0, atol=1e-8 + 1e-13 * scale)
    assert np.unique(explanation.base_values.round(9)).size > 1
    clip, n_checked = model._predictor().clip, 0
    for i, x in enumerate(T):
        functions = functions_of_row(model, x)
        ends = [np.abs([f(x[None])[0, 0], weight @ f(Z)[:, 0]]).max() for f in functions]
        if max(ends) > clip:
            continue  # a tree clips
        n_checked += 1
        expected = sum(shapley_values(f, x, Z, weight) for f in functions) / len(functions)
        found = explanation.values[i]
        assert_allclose(found, expected[:, 0], rtol=0, atol=1e-10 + 1e-13 * scale)
        mean = np.mean([weight @ f(Z)[:, 0] for f in functions]) + model.intercept_[0]
        assert_allclose(explanation.base_values[i], mean, atol=1e-8 + 1e-13 * scale)
    assert n_checked > 5


def test_reduced_models(rng):
    X, y = noisy_classes(rng, 800)
    model = SVC().fit(X, y)
    small = model.reduce(X, y, max_loss=0.02)
    assert len(small.support_vectors_) < len(model.support_vectors_)
    assert_array_equal(small.background_, model.background_)
    T, Z, weight = X[:2], X[5:7], np.full(2, 0.5)
    check(small.decision_function, small.explain(T, Z), T, Z, weight)


def test_integers_of_categories(rng):
    X = rng.integers(0, 3, (200, 5)).astype(float)
    y = (X[:, 0] == 1) ^ (X[:, 1] == 2)
    model = SVC(kernel=Categorical(0.7)).fit(X, y)
    check(model.decision_function, model.explain(X[:3], X[9:11]), X[:3], X[9:11], np.full(2, 0.5))
    assert set(np.argsort(model.feature_importances(X))[-2:]) == {0, 1}


def test_values_of_groups_are_sums(rng):
    X, y = noisy_classes(rng, 200)
    model = SVC().fit(X, y)
    groups = ["b", "a", "b", "c", "c", "b"]
    plain, grouped = model.explain(X[:4]), model.explain(X[:4], groups=groups)
    assert grouped.feature_names == ["b", "a", "c"]
    columns = [[0, 2, 5], [1], [3, 4]]
    expected = np.stack([plain.values[:, own].sum(axis=1) for own in columns], axis=1)
    assert_allclose(grouped.values, expected, atol=1e-15)
    assert_array_equal(grouped.base_values, plain.base_values)
    assert_array_equal(grouped.data[:, 1], X[:4, 1])
    assert np.isnan(grouped.data[:, [0, 2]]).all()
    importances = model.feature_importances(X[:4], groups=groups)
    assert_allclose(importances, np.abs(expected).mean(axis=0))
    with pytest.raises(ValueError, match="pass a name for each of them"):
        model.explain(X[:4], groups=groups[1:])


def test_columns_of_a_table(rng):
    import pandas as pd

    from hssvm.tables import TableEncoder

    frame = pd.DataFrame(
        {
            "city": rng.choice(["Oslo", "Rome", "Bern", "Kyiv"], 200),
            "rooms": rng.integers(1, 6, 200).astype(float),
            "noise": rng.standard_normal(200),
        }
    )
    frame.loc[::17, "rooms"] = np.nan
    y = (frame["city"] == "Rome") * 2.0 + frame["rooms"].fillna(3) * 0.5
    encoder, model = make_pipeline(TableEncoder(), SVR(C=10, scaling="standard")).fit(frame, y)
    X = encoder.transform(frame[:20])
    explanation = model.explain(X, groups=encoder.output_columns_).with_data(frame[:20])
    assert explanation.feature_names == ["city", "rooms", "noise"]
    assert explanation.data.tolist()[0][0] == frame["city"][0]
    total = explanation.base_values + explanation.values.sum(axis=1)
    assert_allclose(total, model.predict(X), atol=1e-4)  # of float32 rows
    assert explanation.importances[2] < explanation.importances[:2].min()
    with pytest.raises(ValueError, match="data has no column 'rooms'"):
        explanation.with_data(frame[["city", "noise"]][:20])
    with pytest.raises(ValueError, match="data has the shape"):
        explanation.with_data(frame[:19])


def test_float32_models_are_explained_in_float64(rng):
    X, y = noisy_classes(rng, 300, dtype=np.float32)
    model = SVC(scaling="standard").fit(X, y)
    explanation = model.explain(X[:5], X[9:12])
    assert explanation.values.dtype == explanation.base_values.dtype == np.float64
    total = explanation.base_values + explanation.values.sum(axis=1)
    assert_allclose(total, model.decision_function(X[:5]), atol=1e-4)
    f = ExpansionPredictor(
        model.kernel_, model.support_vectors_.astype(float), model.dual_coef_.T.astype(float)
    )
    rows = model._scaling(X[:5]).astype(float)
    assert_allclose(total, f(rows)[:, 0] + model.intercept_, atol=1e-8)


@pytest.mark.parametrize(
    "model",
    [
        SVC(),
        SVC(multi_class="ovo"),
        SVR(approximation=HSS(n_trees=2, leaf_size=50, max_rank=9), refine=False, random_state=0),
        SVC(approximation=Cells(size=60, n_trees=2), refine=False, random_state=0),
        MODELS["mean of classifiers"],
    ],
    ids=["exact", "pairs", "forest", "cells", "mean"],
)
@pytest.mark.parametrize("csr", [False, True], ids=["dense", "sparse"])
def test_saved_models_explain_the_same(model, csr, rng, tmp_path):
    X, y = noisy_classes(rng, 400, 3)
    X = scipy.sparse.csr_array(X) if csr else X
    if csr and isinstance(model, SVCCV):
        model = model.__class__(**{**model.get_params(), "scaling": "standard"})
    model.fit(X, y)
    model.save(tmp_path / "model.hssvm")
    for again in (hssvm.load(tmp_path / "model.hssvm"), pickle.loads(pickle.dumps(model))):
        one, other = model.explain(X[:5]), again.explain(X[:5])
        assert_allclose(other.values, one.values, rtol=1e-12, atol=1e-12)
        assert_allclose(other.base_values, one.base_values, rtol=1e-12, atol=1e-12)
        assert_allclose(again.gradient(X[:2]), model.gradient(X[:2]), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kernel", ["exponential", "matern32", "matern52"])
def test_mixtures_of_gaussians(kernel, rng):
    """Equal to the enumeration, up to the error of the mixture."""
    X = rng.standard_normal((120, 5))
    y = X[:, 0] * X[:, 1] + np.abs(X[:, 2])
    model = SVR(kernel=kernel, C=10, scaling="standard").fit(X, y)
    rows, background = np.r_[X[:2], rng.standard_normal((2, 5))], X[2:5]
    found = model.explain(rows, background)
    sum_of_weights, total = np.abs(model.dual_coef_).sum(), found.values.sum(axis=1)
    expected = [shapley_values(model.predict, x, background, np.full(3, 1 / 3)) for x in rows]
    tolerance = 2 * MIXTURE_ERROR * sum_of_weights
    assert_allclose(found.values, np.reshape(expected, (4, 5)), atol=tolerance)
    assert_allclose(found.base_values + total, model.predict(rows), atol=tolerance)


def test_kernels_that_are_no_products_offer_gradients(rng):
    X, y = noisy_classes(rng, 150)
    for kernel in ("poly", "cosine"):
        model = SVC(kernel=kernel).fit(X, y)
        with pytest.raises(ValueError, match=r"is not a product .* use gradient\(X\)"):
            model.explain(X[:2])
        assert model.gradient(X[:2]).shape == (2, 6)
    equal = ObjectKernel(lambda A, B: np.equal.outer(A, B).astype(float))
    points = SVC(kernel=equal).fit(list("abab" * 5), y[:20])
    for method in (points.explain, points.gradient):
        with pytest.raises(ValueError, match=r"needs features, and the points of .* have none"):
            method(["a"])
    with pytest.raises(ValueError, match="has no gradient"):
        SVC(kernel=lambda A, B: A @ B.T).fit(X, y).gradient(X)


def test_wrong_backgrounds(rng, tmp_path):
    X, y = noisy_classes(rng, 100)
    model = SVC().fit(X, y)
    with pytest.raises(ValueError, match="background_weight is for a background; pass both"):
        model.explain(X[:1], background_weight=[1.0])
    for weight in ([1.0], [0.0, 0.0], [1.0, -1.0], [1.0, np.nan]):
        with pytest.raises(ValueError, match="background_weight must be 2 numbers"):
            model.explain(X[:1], X[:2], background_weight=weight)
    with pytest.raises(ValueError, match="X has 5 features, but SVC is expecting 6"):
        model.explain(X[:1], X[:2, :5])
    path = tmp_path / "libsvm.model"
    SVC(gamma=0.5).fit(X, y).save_libsvm(path)
    libsvm = hssvm.load_libsvm(path)
    with pytest.raises(ValueError, match=r"no background of its own, .*; pass background="):
        libsvm.explain(X[:1])
    expected = SVC(gamma=0.5).fit(X, y).explain(X[:1], X[:9]).values
    assert_allclose(libsvm.explain(X[:1], X[:9]).values, expected, atol=1e-5)


@pytest.mark.parametrize("scaling", [None, "standard", "minmax", "quantiles"])
@pytest.mark.parametrize("kind", ["two classes", "one-vs-one", "regression"])
def test_gradients_are_limits_of_differences(kind, scaling, rng):
    X, y = noisy_classes(rng, 150, 3 if kind == "one-vs-one" else 2)
    model = (SVR if kind == "regression" else SVC)(scaling=scaling).fit(X, y)
    function = function_of(model)
    T = rng.uniform(-1, 1, (5, 6))
    step, found = 1e-6, model.gradient(T)
    for j in range(6):
        shift = step * np.eye(6)[j]
        expected = (function(T + shift) - function(T - shift)) / (2 * step)
        assert_allclose(found[:, j], expected, atol=1e-4 * np.abs(found).max())


def test_slopes_of_scalings(rng):
    X = rng.standard_normal((50, 3)).round(1)
    inside = np.sort(X, axis=0)[10:40] + 0.0123
    for kind in ("standard", "minmax", "quantiles"):
        scaling = Scaling.of(X, kind).times(np.array([1.0, 2.0, 3.0]))
        expected = (scaling(inside + 1e-6) - scaling(inside - 1e-6)) / 2e-6
        assert_allclose(np.broadcast_to(scaling.slopes(inside), (30, 3)), expected, rtol=1e-5)
    scaling = Scaling.of(X, "quantiles")
    assert_array_equal(scaling.slopes(np.full((1, 3), 99.0)), 0)
    assert_array_equal(scaling.slopes(np.full((1, 3), -99.0)), 0)


def test_rows_and_outputs_of_an_explanation(rng):
    X, y = noisy_classes(rng, 150, 3)
    model = SVC().fit(X, y)
    explanation = model.explain(X[:6])
    assert len(explanation) == 6 and explanation.output_names == ["0", "1", "2"]
    assert_array_equal(explanation[-1].values, explanation.values[5:])
    assert_array_equal(explanation[[0, 3]].data, X[[0, 3]])
    assert_array_equal(explanation[1:3].base_values, explanation.base_values[1:3])
    one = explanation.output(2)
    assert one.output_names is None
    assert_array_equal(one.values, explanation.values[:, :, 2])
    assert_array_equal(explanation.output("1").base_values, explanation.base_values[:, 1])
    assert_allclose(explanation.importances, np.abs(explanation.values).mean(axis=0).sum(axis=1))
    with pytest.raises(ValueError, match="'3' is not one of the outputs 0, 1, 2"):
        explanation.output("3")
    with pytest.raises(ValueError, match="has a single output"):
        one.output(0)


def test_feature_names(rng):
    import pandas as pd

    X, y = noisy_classes(rng, 100)
    assert SVC().fit(X, y).explain(X[:1]).feature_names[:2] == ["feature 0", "feature 1"]
    frame = pd.DataFrame(X, columns=list("uvwxyz"))
    explanation = SVC().fit(frame, y).explain(frame[:2])
    assert explanation.feature_names == list("uvwxyz")
    assert_array_equal(explanation.data, X[:2])


def test_shap_accepts_explanations(rng, monkeypatch):
    """With a stand-in: shap is optional."""
    import sys
    from types import SimpleNamespace

    calls = []
    stand_in = SimpleNamespace(Explanation=lambda *args, **names: calls.append((args, names)))
    monkeypatch.setitem(sys.modules, "shap", stand_in)
    values, base = rng.standard_normal((2, 3)), np.ones(2)
    Explanation(values, base, scipy.sparse.csr_array(values), list("abc")).to_shap()
    (found, names) = calls[0]
    assert_array_equal(found[0], values)
    assert_array_equal(found[1], base)
    assert_array_equal(found[2], values)
    assert names == {"feature_names": list("abc"), "output_names": None}
    monkeypatch.setitem(sys.modules, "shap", None)
    with pytest.raises(ImportError, match="pip install shap"):
        Explanation(values, base, values, list("abc")).to_shap()
