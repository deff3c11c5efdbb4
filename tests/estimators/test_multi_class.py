"""One-vs-one and one-vs-rest classification of more than two classes."""

import pickle

import numpy as np
import pytest
import scipy.sparse
from helpers.rows import noisy_classes
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC as ExactSVC

import hssvm
from hssvm import HSS, SVC
from hssvm._threads import openmp_threads
from hssvm.predictors import PairwisePredictor
from hssvm.predictors.votes import count_votes, values_by_class


@pytest.mark.parametrize("n_classes", [3, 5])
@pytest.mark.parametrize("sparse", [False, True])
def test_the_same_model_as_scikit_learn(n_classes, sparse, rng):
    X, y = noisy_classes(rng, 600, n_classes=n_classes)
    weight, labels = rng.uniform(0.5, 2, 600), np.array(["a", "b", "c", "d", "e"])
    rows = scipy.sparse.csr_array(X) if sparse else X
    parameters = {"C": 3.0, "gamma": 0.3, "class_weight": {"a": 2.0}}
    model = SVC(**parameters).fit(rows, labels[y], sample_weight=weight)
    exact = ExactSVC(**parameters, tol=1e-6).fit(X, labels[y], sample_weight=weight)
    assert model.multi_class_ == "ovo"
    assert model.dual_coef_.shape[0] == n_classes - 1
    assert model.intercept_.shape == exact.intercept_.shape == model.n_iter_.shape
    T = rng.standard_normal((500, 6))
    pairs = model._decision_values(T)
    exact.decision_function_shape = "ovo"
    assert_allclose(pairs, exact.decision_function(T), atol=1e-3)
    exact.decision_function_shape = "ovr"
    clear = np.abs(pairs).min(axis=1) > 2e-3
    assert clear.mean() > 0.9
    assert_array_equal(model.predict(T)[clear], exact.predict(T)[clear])
    assert_allclose(
        model.decision_function(T)[clear], exact.decision_function(T)[clear], atol=5e-3
    )  # fmt: skip
    Z = np.zeros((2, 600, n_classes - 1))
    Z[0, model.support_], Z[1, exact.support_] = model.dual_coef_.T, exact.dual_coef_.T
    assert_allclose(Z[0], Z[1], atol=0.02)
    assert np.all(np.diff(y[model.support_]) >= 0)
    assert_array_equal(model.n_support_, np.bincount(y[model.support_]))


def test_few_rows_can_be_predicted_as_compressed(rng):
    """Nothing is compressed, whatever is asked for."""
    X, y = noisy_classes(rng, 300, n_classes=3)
    model = SVC(gamma=0.3, prediction="compressed").fit(X, y)
    assert_array_equal(model.predict(X), SVC(gamma=0.3).fit(X, y).predict(X))


def test_a_pickle_holds_the_support_vectors_once(rng):
    X, y = noisy_classes(rng, 1000, n_classes=3)
    model = SVC(gamma=0.3).fit(X, y)
    before = len(pickle.dumps(model))
    model.predict(X)
    copy = pickle.loads(pickle.dumps(model))
    assert len(pickle.dumps(model)) < 1.01 * before
    assert_array_equal(copy.decision_function(X), model.decision_function(X))


def test_votes_by_definition(rng):
    values = rng.standard_normal((50, 6))
    votes, by_class = count_votes(values, 4), values_by_class(values, 4)
    pairs = [(i, j) for i in range(4) for j in range(i + 1, 4)]
    for row in range(50):
        won, sums = np.zeros(4), np.zeros(4)
        for value, (i, j) in zip(values[row], pairs, strict=True):
            won[i if value > 0 else j] += 1
            sums[i] += value
            sums[j] -= value
        assert_array_equal(votes[row], won)
        assert_allclose(by_class[row], won + sums / (3 * (np.abs(sums) + 1)))
    assert_array_equal(count_votes(np.zeros((1, 3)), 3), [[0, 1, 2]])  # 0 is not positive


def test_auto_depends_on_the_kernel_of_the_solution(rng):
    X, y = noisy_classes(rng, 2500, n_classes=3)
    assert SVC(gamma=0.3, refine=True).fit(X, y).multi_class_ == "ovo"
    compressed = SVC(gamma=0.3, approximation=HSS(), random_state=0).fit(X, y)
    assert compressed.multi_class_ == "ovr" and compressed.dual_coef_.shape[0] == 3
    assert SVC(gamma=0.3).fit(X[:500], y[:500] > 0).dual_coef_.shape[0] == 1


@pytest.mark.parametrize("n_trees", [1, 2])
def test_pairs_on_the_compressed_kernel(n_trees, rng, tmp_path):
    X, y = noisy_classes(rng, 4000, n_classes=4)
    model = SVC(
        C=2.0, gamma=0.3, multi_class="ovo", approximation=HSS(n_trees=n_trees), random_state=0
    )
    model.fit(X[:3000], y[:3000])
    exact = SVC(C=2.0, gamma=0.3, multi_class="ovo", refine=True).fit(X[:3000], y[:3000])
    assert not model.fit_report_.exact_kernel and model.intercept_.size == 6
    assert model.decision_function(X[:9]).shape == (9, 4)
    assert np.mean(model.predict(X[3000:]) == exact.predict(X[3000:])) > 0.9
    if n_trees == 1:
        assert model.certify(X[:3000], y[:3000]).gap.shape == (6,)
    model.save(tmp_path / "model.hssvm")
    loaded = hssvm.load(tmp_path / "model.hssvm")
    assert_array_equal(loaded.predict(X[3000:]), model.predict(X[3000:]))


def test_out_of_fold_values_of_pairs_vote(rng):
    X, y = noisy_classes(rng, 2500, n_classes=3)
    model = SVC(
        gamma=0.3, multi_class="ovo", out_of_fold=True, approximation=HSS(n_trees=1), random_state=0
    )
    model.fit(X, y)
    assert model.out_of_fold_decision_.shape == (2500, 3)
    score = np.mean(model.out_of_fold_decision_.argmax(axis=1) == y)
    assert abs(score - model.fit_report_.out_of_fold_score) < 0.02


def test_out_of_fold_values_of_few_rows(rng):
    X, y = noisy_classes(rng, 400, n_classes=3)
    model = SVC(gamma=0.3, out_of_fold=True).fit(X, y)
    assert model.multi_class_ == "ovo"
    assert model.out_of_fold_decision_.shape == (400, 3)
    score = np.mean(model.out_of_fold_decision_.argmax(axis=1) == y)
    assert score == pytest.approx(model.fit_report_.out_of_fold_score)


@pytest.mark.parametrize("before", ["ovo", "ovr"])
def test_a_failed_fit_keeps_the_model(before, rng):
    X, y = noisy_classes(rng, 300, n_classes=3)
    model = SVC(gamma=0.3, multi_class=before).fit(X, y)
    labels = model.predict(X)
    model.set_params(multi_class="ovr" if before == "ovo" else "ovo", memory_limit="1kB")
    with pytest.raises(MemoryError):
        model.fit(X[:, :1], y + 5)
    assert_array_equal(model.predict(X), labels)


@pytest.mark.parametrize("n", [900, 7000])
def test_large_pairs_are_as_exact(n, rng):
    """A pair of 7,000 rows has too many for SMO on all of them."""
    X, y = noisy_classes(rng, n, n_classes=3, dtype=np.float32)
    y[y == 2] = np.where(rng.random((y == 2).sum()) < 0.1, 2, 0)
    model = SVC(gamma=0.3, refine=True).fit(X, y)
    exact = ExactSVC(gamma=0.3, tol=1e-4).fit(X, y)
    assert np.mean(model.predict(X) == exact.predict(X)) > 0.99
    certificate = model.certify(X, y)
    assert certificate.n_rows == n and certificate.gap.max() < 5e-4
    sampled = model.certify(X, y, n_rows=n // 2)
    assert n // 4 < sampled.n_rows <= n // 2 + 3
    assert np.all(sampled.low <= sampled.high)


def test_certificate_by_definition(rng):
    X, y = noisy_classes(rng, 400, n_classes=3)
    model = SVC(C=2.0, gamma=0.3).fit(X, y)
    found, K = model.certify(X, y), model.kernel_.block(X)
    Z = np.zeros((400, 2))
    Z[model.support_] = model.dual_coef_.T
    for pair, (i, j) in enumerate([(0, 1), (0, 2), (1, 2)]):
        rows, sign = np.flatnonzero((y == i) | (y == j)), np.where(y == i, 1.0, -1.0)
        z, s = np.where(y == i, Z[:, j - 1], Z[:, i])[rows], sign[rows]
        f = K[np.ix_(rows, rows)] @ z
        primal = z @ f / 2 + 2 * np.maximum(0, 1 - s * (f + model.intercept_[pair])).sum()
        assert_allclose([found.primal[pair], found.dual[pair]], [primal, s @ z - z @ f / 2])
    assert_allclose(found.gap, model.fit_report_.gap, atol=1e-9)


def test_save_and_load(rng, tmp_path):
    X, y = noisy_classes(rng, 700, n_classes=4)
    model = SVC(gamma=0.3).fit(X, y)
    model.save(tmp_path / "model.hssvm")
    loaded = hssvm.load(tmp_path / "model.hssvm")
    assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    assert_array_equal(loaded.dual_coef_, model.dual_coef_)
    assert_array_equal(loaded.support_, model.support_)
    assert_allclose(loaded.certify(X, y).gap, model.certify(X, y).gap)
    assert loaded.multi_class_ == "ovo"


@pytest.mark.parametrize("m", [1, 3, 50])
def test_values_of_pairs_by_definition(m, rng):
    counts, X, Z = np.array([4, 0, 6]), rng.standard_normal((10, 3)), rng.standard_normal((10, 2))
    kernel, T = hssvm.kernels.Gaussian(0.5), rng.standard_normal((m, 3))
    K = kernel.block(T, X)
    expected = [
        K[:, :4] @ Z[:4, 0], K[:, :4] @ Z[:4, 1] + K[:, 4:] @ Z[4:, 0], K[:, 4:] @ Z[4:, 1]
    ]  # fmt: skip
    found = PairwisePredictor(kernel, X, Z, counts)(T)
    assert_allclose(found, np.stack(expected, axis=1), atol=1e-12)


def test_time_limit_and_warm_start(rng, monkeypatch):
    monkeypatch.setattr("hssvm.solvers.small.CALL_WORK", 1e-3)
    X, y = noisy_classes(rng, 3500, n_classes=3)
    model = SVC(C=50.0, gamma=1.0, refine=True, max_time=1e-3, warm_start=True)
    with pytest.warns(ConvergenceWarning, match="max_time"):
        model.fit(X, y)
    report = model.fit_report_
    assert "MAX_TIME" in report.status and np.isfinite(report.gap).all()
    dual, model.max_time = report.objective - report.gap * report.objective, None
    model.fit(X, y)
    assert set(model.fit_report_.status) == {"CONVERGED"}
    assert np.all(model.fit_report_.objective >= dual * (1 - 1e-6))
    again = model.fit(X, y).fit_report_
    assert again.n_rounds.sum() <= 2 * again.n_columns


def test_float32_with_a_large_C(rng):
    """As precise as other fits, although SMO on all rows is not."""
    X = rng.standard_normal((180, 3)).astype(np.float32)
    y = np.digitize(X[:, 0] + rng.standard_normal(180), [-0.5, 0.5])
    model = SVC(C=1e4, gamma=0.1).fit(X, y)
    assert model.fit_report_.gap.max() <= 1e-3
    assert set(model.fit_report_.status) == {"CONVERGED"}


def test_no_pair_starts_after_max_time(rng):
    X, y = rng.standard_normal((600, 2)), np.arange(600) % 40
    with pytest.warns(ConvergenceWarning, match="max_time"):
        model = SVC(max_time=1e-6).fit(X, y)
    assert set(model.fit_report_.status) == {"MAX_TIME"}
    assert_allclose(model.fit_report_.gap, 1.0)
    assert model.predict(X).shape == (600,)


def test_any_number_of_threads_gives_the_same_model(rng):
    X, y = noisy_classes(rng, 1500, n_classes=4)
    models = []
    for n_threads in (1, 3):
        with openmp_threads(n_threads):
            models.append(SVC(gamma=0.3).fit(X, y))
    assert_array_equal(models[0].dual_coef_, models[1].dual_coef_)
    assert_array_equal(models[0].decision_function(X), models[1].decision_function(X))


def test_memory_limit_makes_working_sets_smaller(rng):
    X, y = noisy_classes(rng, 9000, n_classes=3)
    free = SVC(gamma=0.3, refine=True).fit(X, y)
    tight = SVC(gamma=0.3, refine=True, memory_limit="120MB").fit(X, y)
    assert tight.fit_report_.gap.max() < 1e-3
    assert tight.fit_report_.n_working < free.fit_report_.n_working
    assert np.mean(tight.predict(X) == free.predict(X)) > 0.998


def test_estimate_of_the_cost(rng):
    X, y = noisy_classes(rng, 20_000, n_classes=3, dtype=np.float32)
    estimate = SVC(gamma=0.3, refine=True).estimate_cost(X, y)
    assert estimate.refines and 0 < estimate.total_seconds < 1000
    assert 1e6 < estimate.memory < 1e10
    assert "pairs" in str(estimate)


def test_classes_without_weight_get_no_votes(rng):
    X, y = noisy_classes(rng, 300, n_classes=3)
    model = SVC(gamma=0.3).fit(X, y, sample_weight=(y != 2).astype(float))
    assert set(model.predict(X)) <= {0, 1}
    function = SVC(kernel=rbf_kernel).fit(X, y, sample_weight=(y != 2).astype(float))
    assert set(function.predict(X)) <= {0, 1}
    assert np.all(model.n_support_[2] == 0)
