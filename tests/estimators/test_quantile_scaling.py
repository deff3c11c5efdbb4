"""Estimators with scaling='quantiles' and 'learned-quantiles'."""

import pickle

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm, rankdata

import hssvm
from hssvm import HSS, SVC, SVCCV, SVR, Cells, OneClassSVM, svc_path
from hssvm.kernels import Laplacian
from hssvm.training.data.moments import Moments
from hssvm.training.scales.learn import learn_scales, sample_rows
from hssvm.training.tasks import class_targets

KINDS = ["quantiles", "learned-quantiles"]


def skewed(rng, n, p=6, n_values=None):
    """Log-normal features, of which the first determines the class, not monotonically."""
    Z = rng.standard_normal((n, p))
    if n_values is not None:
        Z = np.round(Z * n_values / 6)
    return np.exp(2 * Z / (1 if n_values is None else n_values / 6)), np.abs(Z[:, 0]) < np.median(
        np.abs(Z[:, 0])
    )


def normal_scores(X):
    return norm.ppf((rankdata(X, "average", axis=0) - 0.5) / len(X))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("estimator", [SVC(C=10), SVR(C=10), OneClassSVM(nu=0.2)])
def test_the_kernel_sees_normal_scores(estimator, dtype, rng):
    X, y = skewed(rng, 200, n_values=30)
    X = X.astype(dtype)
    tol = 1e-3 if dtype == np.float32 else 1e-6
    model = estimator.set_params(scaling="quantiles", kernel="laplacian", tol=tol).fit(X, y * 1.0)
    scores = normal_scores(X).astype(dtype)
    plain = type(estimator)(**{**estimator.get_params(), "scaling": None}).fit(scores, y * 1.0)
    n_values = max(np.unique(column).size for column in X.T)
    assert model.feature_quantiles_.shape == (2, 6, n_values)
    assert model.feature_shift_ is None and model.feature_factor_ is None
    assert_allclose(model.kernel_.gamma, plain.kernel_.gamma, rtol=1e-5)
    atol = 1e-2 if dtype == np.float32 else 1e-6
    assert_allclose(model.predict(X), plain.predict(scores), atol=atol)
    assert_allclose(model.support_vectors_, scores[model.support_], atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("change", [np.log, np.sqrt, lambda X: X**3, lambda X: 5 - 1 / X])
def test_monotone_changes_of_features_with_few_values_change_nothing(change, kind, rng):
    X, y = skewed(rng, 300, n_values=20)
    parameters = {"C": 10, "kernel": "exponential", "scaling": kind, "random_state": 0}
    model = SVC(**parameters).fit(X, y)
    changed = SVC(**parameters).fit(change(X), y)
    assert_array_equal(changed.decision_function(change(X)), model.decision_function(X))


def test_new_rows_beyond_the_training_rows_count_as_the_last(rng):
    X, y = skewed(rng, 300)
    model = SVC(C=10, scaling="quantiles").fit(X, y)
    ends = np.array([X.min(axis=0), X.max(axis=0)])
    beyond = np.stack([ends[0] - 1e3, ends[1] + 1e12])
    assert_array_equal(model.decision_function(beyond), model.decision_function(ends))
    X[0] = 1e9
    shifted = SVC(C=10, scaling="quantiles").fit(X, y)
    X[0] = 1e12
    same = SVC(C=10, scaling="quantiles").fit(X, y)
    assert_allclose(same.decision_function(X), shifted.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("approximation", [None, Cells(size=500), HSS(n_trees=2, leaf_size=300)])
def test_skewed_features_gain(approximation, rng):
    X, y = skewed(rng, 4000, 10)
    scores = {
        scaling: SVC(10, scaling=scaling, approximation=approximation, random_state=0)
        .fit(X[:2500], y[:2500])
        .score(X[2500:], y[2500:])
        for scaling in ("standard", *KINDS)
    }
    assert scores["quantiles"] > scores["standard"] + 0.02
    assert scores["learned-quantiles"] > scores["quantiles"] + 0.02


def test_scales_are_learned_from_normal_scores(rng):
    X, y = skewed(rng, 400, p=20, n_values=30)
    model = SVC(C=10, kernel="laplacian", scaling="learned-quantiles", random_state=1).fit(X, y)
    seed = model._forest_seed
    rows = sample_rows(np.ones(400), seed)
    targets = class_targets(y[rows].astype(int), 2)
    expected = learn_scales(normal_scores(X)[rows], targets, np.ones(400), Laplacian, seed=seed)
    assert expected.n_steps > 0
    assert model.feature_shift_ is None
    assert_allclose(model.feature_factor_, expected.factors)
    assert_allclose(model.feature_importances_, expected.factors / expected.factors.sum())
    assert model.fit_report_.n_scale_steps == expected.n_steps


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("approximation", [None, Cells(size=150, n_trees=2)])
def test_models_are_saved_exported_and_certified(kind, approximation, rng, tmp_path):
    X, y = skewed(rng, 500)
    new, _ = skewed(rng, 100)
    model = SVC(
        C=10, kernel="exponential", scaling=kind, approximation=approximation, random_state=0
    ).fit(X, y)
    values = model.decision_function(new)
    model.save(tmp_path / "model.hssvm")
    for again in (hssvm.load(tmp_path / "model.hssvm"), pickle.loads(pickle.dumps(model))):
        assert_array_equal(again.decision_function(new), values)
        assert_array_equal(again.feature_quantiles_, model.feature_quantiles_)
    model.save_numpy(tmp_path / "model.py")
    space = {}
    exec((tmp_path / "model.py").read_text(), space)
    assert_allclose(space["decision_function"](new), values, atol=1e-6)
    if approximation is None:
        assert model.certify(X, y).gap[0] < 1e-4
        reduced = model.reduce(X, y, max_loss=0.05)
        reduced.save(tmp_path / "reduced.hssvm")
        loaded = hssvm.load(tmp_path / "reduced.hssvm")
        assert_array_equal(loaded.decision_function(new), reduced.decision_function(new))


@pytest.mark.parametrize("kind", KINDS)
def test_a_path_and_a_warm_start(kind, rng):
    X, y = skewed(rng, 600)
    path = svc_path(X, y, [10.0], scaling=kind, refine=True, random_state=0)
    model = SVC(10.0, scaling=kind, random_state=0, warm_start=True).fit(X, y)
    values = model.decision_function(X)
    assert_allclose(path.decision_function(X)[:, 0], values, atol=1e-4)
    quantiles = model.feature_quantiles_
    assert_allclose(model.fit(X, y).decision_function(X), values, atol=1e-3)
    assert_array_equal(model.feature_quantiles_, quantiles)
    assert model.set_params(scaling="standard").fit(X, y).feature_quantiles_ is None


def test_normal_scores_are_not_mistaken_for_uneven_features(rng):
    X, y = skewed(rng, 800)
    X[:, 1:] = rng.random((800, 5)) < 0.02  # rare categories
    SVC(C=10, scaling="quantiles").fit(X, y)  # warnings are errors


def test_rare_categories_stay_within_reach(rng):
    X, y = skewed(rng, 1000)
    X[:, 1] = np.arange(1000) < 10
    X[:, 2] = X[:, 1] + (np.arange(1000) < 5)
    model = SVC(C=10, scaling="quantiles").fit(X, y)
    scaled = model._scaling(X)
    assert_allclose(np.unique(scaled[:, 1]), [-0.5, 0.5])
    assert_allclose(np.unique(scaled[:, 2]), norm.ppf([0.495, 0.9925, 0.9975]))
    assert Moments.of(scaled).variance[0] == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize("kind", KINDS)
def test_sparse_rows_are_refused_with_a_remedy(kind, rng):
    X, y = skewed(rng, 200)
    rows = scipy.sparse.csr_array(np.where(X > 1, X, 0))
    message = r"set scaling='standard' or scaling='learned', or pass X.toarray\(\)"
    for model in (SVC(scaling=kind), SVCCV(scaling=[None, kind], cv=3)):
        with pytest.raises(ValueError, match=message):
            model.fit(rows, y)
    model = SVC(scaling=kind).fit(rows.toarray(), y)
    assert_array_equal(model.decision_function(rows), model.decision_function(rows.toarray()))


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (OneClassSVM(scaling="learned-quantiles"), "has none; set scaling='quantiles'"),
        (SVC(kernel="poly", scaling="learned-quantiles"), "set scaling='quantiles', or kernel to"),
        (SVCCV(kernel=["rbf", "linear"], scaling=["learned-quantiles"]), "depends on distances"),
        (SVC(scaling="learned-quantiles", memory_limit="50MB"), "or scaling='quantiles'"),
    ],
)
def test_what_cannot_learn_says_what_to_do(estimator, message, rng):
    X, y = skewed(rng, 3000)
    with pytest.raises((ValueError, MemoryError), match=message):
        estimator.fit(X, y)


def test_huge_values_are_refused_as_without_scaling(rng):
    X, y = skewed(rng, 100)
    X[0] = 1e300
    with pytest.raises(ValueError, match="scale the features"):
        SVC(scaling="quantiles").fit(X, y)
