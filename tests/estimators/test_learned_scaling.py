"""Estimators with scaling='learned'."""

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning

import hssvm
from hssvm import HSS, SVC, SVCCV, SVR, Cells, OneClassSVM, svc_path
from hssvm.kernels import Gaussian, Tanimoto
from hssvm.training.scales.learn import learn_scales, sample_rows
from hssvm.training.tasks import class_targets, value_targets


def one_relevant(rng, n, p=8):
    """The class depends on the first feature only, not monotonically; features of all sizes."""
    X = rng.standard_normal((n, p))
    return X * np.logspace(-2, 2, p) + 5, np.abs(X[:, 0]) < 0.6


def standardized(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


@pytest.mark.filterwarnings("ignore::hssvm.exceptions.DataWarning")
@pytest.mark.parametrize("kernel", ["rbf", "exponential", "matern32", Gaussian(0.2)])
@pytest.mark.parametrize("kind", [SVC, SVR])
def test_scales_are_learned_from_standardized_rows(kind, kernel, rng):
    X, y = one_relevant(rng, 500)
    seed = int(rng.integers(2**31 - 1))
    model = kind(C=10, kernel=kernel, scaling="learned", random_state=seed).fit(X, y * 1.0)
    rows = sample_rows(np.ones(500), model._forest_seed)
    make = value_targets if kind is SVR else lambda y: class_targets(y.astype(int), 2)
    expected = learn_scales(
        standardized(X)[rows], make(y[rows] * 1.0), np.ones(500), type(model.kernel_),
        seed=model._forest_seed,
    )  # fmt: skip
    assert expected.n_steps > 0
    assert_allclose(model.feature_factor_, expected.factors / X.std(axis=0))
    assert_allclose(model.feature_importances_, expected.factors / expected.factors.sum())
    assert model.feature_importances_.argmax() == 0
    report = model.fit_report_
    assert (report.n_scale_rows, report.n_scale_steps) == (500, expected.n_steps)
    assert_allclose(report.scale_errors, expected.errors)
    assert f"in {expected.n_steps} step" in model.summary()
    plain = kind(C=10, kernel=model.kernel_).fit(
        (X - model.feature_shift_) * model.feature_factor_, y * 1.0
    )
    assert_allclose(plain.dual_coef_, model.dual_coef_, atol=1e-6)


@pytest.mark.parametrize("approximation", [None, Cells(size=500), HSS(n_trees=2, leaf_size=300)])
def test_a_relevant_feature_is_worth_it(approximation, rng):
    X, y = one_relevant(rng, 5000, 20)
    scores = {
        scaling: SVC(10, scaling=scaling, approximation=approximation, random_state=0)
        .fit(X[:3000], y[:3000])
        .score(X[3000:], y[3000:])
        for scaling in ("standard", "learned")
    }
    assert scores["learned"] > scores["standard"] + 0.02


def test_sparse_rows_are_not_shifted(rng):
    X, y = one_relevant(rng, 600)
    X = np.where(rng.random(X.shape) < 0.5, 0, X).astype(np.float32)
    model = SVC(C=10, scaling="learned", random_state=0).fit(scipy.sparse.csr_array(X), y)
    assert model.feature_shift_ is None
    assert model.support_vectors_.nnz < 0.7 * model.support_vectors_.size * X.shape[1]
    values = model.decision_function(scipy.sparse.csr_array(X))
    assert_allclose(values, model.decision_function(X), atol=1e-3)


def test_same_seed_same_scales_at_any_number_of_threads(rng):
    from threadpoolctl import threadpool_limits

    X, y = one_relevant(rng, 400)
    models = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads):
            models.append(SVC(C=10, scaling="learned", random_state=3).fit(X, y))
    first, second = (model.feature_factor_ for model in models)
    assert np.array_equal(first, second)


def test_rows_without_weight_are_left_out(rng):
    X, y = one_relevant(rng, 600)
    weight = (rng.random(600) < 0.6) * 2.0
    model = SVC(C=10, scaling="learned", random_state=0).fit(X, y, sample_weight=weight)
    assert model.fit_report_.n_scale_rows == np.count_nonzero(weight)


def test_few_rows_are_standardized(rng):
    X, y = one_relevant(rng, 40)
    y[:2] = False, True
    model = SVC(scaling="learned").fit(X, y)
    assert_allclose(model.feature_factor_, 1 / X.std(axis=0))
    assert_allclose(model.feature_importances_, 1 / 8)
    assert "too few: all features count equally" in model.summary()


def test_noise_is_standardized(rng):
    """By chance, one of about a hundred data sets shows a gain."""
    models = [
        SVC(scaling="learned").fit(rng.standard_normal((300, 5)), rng.random(300) < 0.5)
        for _ in range(5)
    ]
    without = [model for model in models if model.fit_report_.n_scale_steps == 0]
    assert len(without) >= 3
    assert all("no gain on held-out rows" in model.summary() for model in without)


def test_learned_scales_are_not_mistaken_for_uneven_features(rng):
    X, y = one_relevant(rng, 800, 12)
    SVC(C=10, scaling="learned", random_state=0).fit(X, y)  # warnings are errors


def test_models_are_saved_exported_and_reduced(rng, tmp_path):
    X, y = one_relevant(rng, 400)
    model = SVC(C=10, kernel="exponential", scaling="learned", random_state=0).fit(X, y)
    model.save(tmp_path / "model.hssvm")
    loaded = hssvm.load(tmp_path / "model.hssvm")
    assert_allclose(loaded.decision_function(X), model.decision_function(X))
    assert np.array_equal(loaded.feature_importances_, model.feature_importances_)
    assert loaded.fit_report_.scale_errors == model.fit_report_.scale_errors
    assert loaded.summary() == model.summary()
    reduced = model.reduce(X, y, max_loss=0.05)
    assert np.array_equal(reduced.feature_importances_, model.feature_importances_)
    model.save_numpy(tmp_path / "model.py")
    space = {}
    exec((tmp_path / "model.py").read_text(), space)
    assert_allclose(space["decision_function"](X), model.decision_function(X), atol=1e-6)


def test_a_path_learns_too(rng):
    X, y = one_relevant(rng, 600)
    path = svc_path(X, y, [10.0], scaling="learned", refine=True, random_state=0)
    model = SVC(10.0, scaling="learned", random_state=0).fit(X, y)
    assert_allclose(path.decision_function(X)[:, 0], model.decision_function(X), atol=1e-4)
    assert path.fit_report_.n_scale_steps == model.fit_report_.n_scale_steps > 0


def test_a_warm_start_keeps_the_trees(rng):
    X, y = one_relevant(rng, 3000)
    model = SVC(10.0, scaling="learned", approximation=Cells(size=500, n_trees=1), warm_start=True)
    factor = model.fit(X, y).feature_factor_
    model.set_params(approximation=Cells(size=500, n_trees=2)).fit(X, y)
    assert np.array_equal(model.feature_factor_, factor)
    assert model.fit_report_.n_trees == 2


def test_the_rows_are_certified(rng):
    X, y = one_relevant(rng, 500)
    model = SVC(10.0, scaling="learned", random_state=0).fit(X, y)
    assert model.certify(X, y).gap[0] < 1e-4


def test_the_estimate_includes_learning(rng):
    X, y = one_relevant(rng, 500)
    assert SVC(scaling="learned").estimate_cost(X, y).seconds["scales"] > 0
    assert "scales" not in SVC(scaling="standard").estimate_cost(X, y).seconds


def test_a_short_time_ends_learning_early(rng):
    X, y = one_relevant(rng, 3000)
    with pytest.warns(ConvergenceWarning):
        model = SVC(10.0, scaling="learned", max_time=0.01).fit(X, y)
    assert len(model.fit_report_.scale_errors) == 1
    assert model.fit_report_.n_scale_steps == 0


def test_a_memory_limit_is_respected(rng):
    X, y = one_relevant(rng, 3000)
    with pytest.raises(MemoryError, match="set scaling='standard'"):
        SVC(scaling="learned", memory_limit="50MB").fit(X, y)


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (OneClassSVM(scaling="learned"), "OneClassSVM has none; set scaling='standard'"),
        (
            SVC(kernel="poly", scaling="learned"),
            "set scaling='standard', or kernel to one of 'rbf'",
        ),
        (SVR(kernel=Tanimoto(), scaling="learned"), "needs a kernel that depends on distances"),
        (SVC(kernel=Gaussian(1.0) * 2, scaling="learned"), "depends on distances"),
        (SVCCV(kernel=["rbf", "poly"], scaling="learned"), "set scaling='standard'"),
    ],
)
def test_what_cannot_learn_says_what_to_do(estimator, message, rng):
    X, y = one_relevant(rng, 60)
    with pytest.raises(ValueError, match=message):
        estimator.fit(X, y)


def test_importances_need_learned_scales(rng):
    X, y = one_relevant(rng, 60)
    model = SVC(scaling="standard").fit(X, y)
    assert not hasattr(model, "feature_importances_")
    with pytest.raises(AttributeError, match="scaling='learned'"):
        _ = model.feature_importances_
    with pytest.raises(AttributeError, match="fitted"):
        _ = SVC(scaling="learned").feature_importances_
