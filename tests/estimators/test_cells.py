"""Cells: by definition, exact models of the rows of each leaf, averaged over trees."""

import pickle
import runpy

import numpy as np
import pytest
import scipy.sparse
import sklearn.svm
from helpers.rows import noisy_classes, stripes, two_moons
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss

import hssvm
from hssvm import HSS, SVC, SVCCV, SVR, Cells, OneClassSVM
from hssvm.hss import ClusterTree
from hssvm.kernels import Gaussian
from hssvm.training import TrainingConfig
from hssvm.training.config import LARGE_CELL, SMALL_CELL
from hssvm.training.plan import Route
from hssvm.training.routes.cells.route import SPLITTER

CELLS = Cells(size=200, n_trees=2)


def trees_of(model, X):
    """The trees of a fit, built again."""
    config = TrainingConfig(seed=model._forest_seed)
    plan = config.plan(len(X), route=Route.CELLS)
    for index in range(model.fit_report_.n_trees):
        yield ClusterTree.build(
            X, model.approximation.size, SPLITTER, random_state=plan.tree_seed(index)
        )


def by_definition(model, X, y, new, make, clip):
    """Mean decision values of models that scikit-learn trains on the rows of each cell."""
    total, n_trees = np.zeros(len(new)), 0
    for tree in trees_of(model, X):
        leaf, offsets, n_trees = tree.route(new), tree.offsets(tree.depth), n_trees + 1
        for cell in range(tree.n_leaves):
            rows, own = tree.perm[offsets[cell] : offsets[cell + 1]], leaf == cell
            if not own.any():
                continue
            total[own] += np.clip(make(X[rows], y[rows], new[own]), -clip, clip)
    return total / n_trees


def test_a_classifier_is_the_mean_of_its_cells(rng):
    X, y = noisy_classes(rng, 1500)
    X[:, 0] += 6 * (y == 1) * (rng.random(1500) < 0.3)  # some cells have one class
    new = X[:300] + 0.1 * rng.standard_normal((300, 6))

    def make(rows, labels, points):
        if np.unique(labels).size == 1:
            return np.full(len(points), 2.0 * labels[0] - 1)
        expert = sklearn.svm.SVC(C=2, gamma=0.2, tol=1e-8).fit(rows, labels)
        return expert.decision_function(points)

    model = SVC(C=2, gamma=0.2, approximation=CELLS, tol=1e-7, random_state=int(rng.integers(99)))
    values = model.fit(X, y).decision_function(new)
    assert_allclose(values, by_definition(model, X, y, new, make, 3.0), atol=2e-3)
    report = model.fit_report_
    assert (report.n_cells, report.n_trees, report.exact_kernel) == (8, 2, False)
    assert report.gap[0] <= 1e-7 and report.spread[0] > 0
    assert "8 cells of each of 2 trees" in model.summary()


def test_a_regression_is_the_mean_of_its_cells(rng):
    X = rng.standard_normal((1200, 3))
    y = 100 + np.sin(2 * X[:, 0]) + 0.1 * rng.standard_normal(1200)
    new = rng.standard_normal((200, 3))

    def make(rows, targets, points):
        return sklearn.svm.SVR(C=2, gamma=0.5, tol=1e-8).fit(rows, targets).predict(points)

    model = SVR(C=2, gamma=0.5, approximation=CELLS, tol=1e-7, random_state=int(rng.integers(99)))
    values = model.fit(X, y).predict(new)
    assert_allclose(values, by_definition(model, X, y, new, make, np.inf), atol=2e-3)


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_many_classes(multi_class, rng):
    X, y = noisy_classes(rng, 3000, n_classes=4)
    model = SVC(C=3, approximation=CELLS, multi_class=multi_class, random_state=0)
    model.fit(X[:2000], y[:2000])
    assert model.decision_function(X[:5]).shape == (5, 4)
    exact = SVC(C=3, multi_class=multi_class).fit(X[:2000], y[:2000])
    assert model.score(X[2000:], y[2000:]) > exact.score(X[2000:], y[2000:]) - 0.05


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_and_dense_rows_and_few_or_many_at_a_time(dtype, rng):
    X, y = noisy_classes(rng, 1000, dtype=dtype)
    X *= rng.random(X.shape) < 0.7
    model = SVC(approximation=CELLS, random_state=0).fit(X, y)
    values = model.decision_function(X)
    assert values.dtype == dtype
    one_by_one = [model.decision_function(X[i : i + 1])[0] for i in range(20)]
    assert_allclose(one_by_one, values[:20], atol=1e-4)
    sparse = clone(model).fit(scipy.sparse.csr_array(X), y)
    assert_allclose(sparse.decision_function(X), values, atol=0.1)
    assert np.mean(sparse.predict(X) == model.predict(X)) > 0.98


@pytest.mark.parametrize(
    "kernel", ["laplacian", Gaussian(0.3) + Gaussian(2.0), lambda X, Y: np.exp(-(X @ -Y.T))]
)
def test_any_kernel(kernel, rng):
    X, y = two_moons(rng, 900)
    model = SVC(kernel=kernel, approximation=CELLS, random_state=0).fit(X, y)
    exact = SVC(kernel=kernel).fit(X, y)
    assert model.score(X, y) > exact.score(X, y) - 0.05


def test_precomputed_kernels(rng):
    X, y = two_moons(rng, 900)
    K = Gaussian(1.0).block(X)
    model = SVC(kernel="precomputed", approximation=CELLS, random_state=0).fit(K, y)
    assert model.score(K, y) > 0.8


def test_weights_are_used(rng):
    X, y = stripes(rng, 1500)
    weight = rng.integers(0, 3, 1500).astype(float)
    model = SVC(approximation=CELLS, random_state=0, tol=1e-6).fit(X, y, weight)
    assert not np.isin(model.support_, np.flatnonzero(weight == 0)).any()
    scaled = clone(model).set_params(C=0.5).fit(X, y, 2 * weight)
    assert_allclose(model.decision_function(X), scaled.decision_function(X), atol=1e-3)


def test_more_trees_are_added(rng):
    X, y = stripes(rng, 1500)
    seed = int(rng.integers(99))
    whole = SVC(approximation=Cells(200, 3), random_state=seed, out_of_fold=True).fit(X, y)
    grown = clone(whole).set_params(approximation=Cells(200, 1), warm_start=True).fit(X, y)
    trees = grown._compressed.trees
    grown.set_params(approximation=Cells(200, 3)).fit(X, y)
    assert_array_equal(grown._compressed.trees[0].weights, trees[0].weights)
    assert_array_equal(grown.decision_function(X), whole.decision_function(X))
    assert_array_equal(grown.out_of_fold_decision_, whole.out_of_fold_decision_)


def test_out_of_fold_values_are_honest(rng):
    X, y = rng.standard_normal((2000, 4)), rng.integers(0, 2, 2000)
    model = SVC(C=10, gamma=1.0, approximation=CELLS, out_of_fold=True, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.8
    assert abs(model.fit_report_.out_of_fold_score - 0.5) < 0.07
    X, y = noisy_classes(rng, 4000)
    model.set_params(C=1.0, gamma="scale").fit(X[:2000], y[:2000])
    score = model.score(X[2000:], y[2000:])
    assert abs(model.fit_report_.out_of_fold_score - score) < 0.05


def test_probabilities_are_as_good_as_those_of_a_wrapper(rng):
    X, y = noisy_classes(rng, 6000)
    model = SVC(approximation=Cells(500, 2), random_state=0)
    ours = clone(model).set_params(probability="sigmoid").fit(X[:3000], y[:3000])
    wrapped = CalibratedClassifierCV(model, ensemble=False).fit(X[:3000], y[:3000])
    loss = log_loss(y[3000:], ours.predict_proba(X[3000:]))
    assert loss < 1.05 * log_loss(y[3000:], wrapped.predict_proba(X[3000:]))


def test_intervals_cover(rng):
    X = rng.standard_normal((4000, 3))
    y = np.sin(2 * X[:, 0]) + 0.3 * rng.standard_normal(4000)
    model = SVR(approximation=CELLS, out_of_fold=True, random_state=0).fit(X[:2000], y[:2000])
    low, high = model.predict_interval(X[2000:], coverage=0.9).T
    assert 0.86 < np.mean((low <= y[2000:]) & (y[2000:] <= high)) < 0.94


def test_saved_pickled_and_exported(rng, tmp_path):
    X, y = noisy_classes(rng, 900)
    model = SVC(approximation=CELLS, probability="sigmoid", random_state=0).fit(X, y)
    new = rng.standard_normal((40, 6))
    values = model.decision_function(new)
    model.save(tmp_path / "model.hssvm")
    for copy in (hssvm.load(tmp_path / "model.hssvm"), pickle.loads(pickle.dumps(model))):
        assert_array_equal(copy.decision_function(new), values)
        assert_array_equal(copy.predict_proba(new), model.predict_proba(new))
        assert copy.approximation == CELLS
    model.save_numpy(tmp_path / "exported.py")
    exported = runpy.run_path(str(tmp_path / "exported.py"))
    assert_allclose(exported["decision_function"](new), values, atol=1e-6)
    assert_allclose(exported["predict_proba"](new), model.predict_proba(new), atol=1e-6)


def test_what_cells_cannot_do_is_refused(rng):
    X, y = stripes(rng, 600)
    with pytest.raises(ValueError, match="refine=True trains one on all rows"):
        SVC(approximation=CELLS, refine=True).fit(X, y)
    with pytest.raises(ValueError, match=r"not available with prediction='exact'; set approx"):
        SVC(approximation=CELLS, prediction="exact").fit(X, y)
    with pytest.raises(ValueError, match="not available with solver='paper'"):
        SVC(approximation=CELLS, solver="paper").fit(X, y)
    with pytest.raises(ValueError, match=r"Cells.*OneClassSVM.*HSS"):
        OneClassSVM(approximation=CELLS).fit(X)
    model = SVC(approximation=CELLS, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="certify needs one model of all rows"):
        model.certify(X, y)
    with pytest.raises(ValueError, match="prediction='exact' is not available for cells"):
        model.set_params(prediction="exact").predict(X)
    with pytest.raises(ValueError, match="size=3 must be None or an integer >= 20"):
        Cells(size=3)
    with pytest.raises(TypeError, match=r"n_trees=2\.5 must be None or an integer"):
        Cells(n_trees=2.5)
    with pytest.raises(ValueError, match=r"None, hssvm.Cells\(\) or hssvm.HSS\(\), got 'cells'"):
        SVC(approximation="cells").fit(X, y)


def test_a_fit_that_is_stopped_has_fewer_trees(rng):
    X, y = stripes(rng, 30_000)
    model = SVC(approximation=Cells(500, 1000), max_time=0.5, random_state=0)
    with pytest.warns(ConvergenceWarning, match="trees"):
        model.fit(X, y)
    assert 1 <= model.fit_report_.n_trees < 1000
    assert model.fit_report_.status == ["FEWER_TREES"]
    assert model.score(X, y) > 0.8


def test_the_size_is_chosen_from_the_cost():
    def size(n, **parameters):
        config = TrainingConfig(**parameters)
        return config.plan(n, route=Route.CELLS, value_cost=4e-10).leaf_size

    assert size(100_000) == LARGE_CELL
    assert size(10**9) == SMALL_CELL
    assert SMALL_CELL < size(8_000_000) < LARGE_CELL
    assert size(1_000_000, max_time=5.0) < size(1_000_000)
    assert size(10**9, approximation=Cells(size=100)) == 100


def test_the_rule(rng):
    X, y = stripes(rng, 2500)
    assert SVC(random_state=0).fit(X, y).fit_report_.exact_kernel
    assert SVC(refine=False, random_state=0).fit(X, y).fit_report_.n_cells == 2
    assert not SVC(approximation=HSS(), random_state=0).fit(X, y).fit_report_.n_cells
    assert SVC(approximation=Cells(3000), random_state=0).fit(X, y).fit_report_.exact_kernel
    assert not OneClassSVM(nu=0.1, refine=False, random_state=0).fit(X).fit_report_.n_cells


def test_searches_train_cells(rng):
    X, y = stripes(rng, 1500)
    search = SVCCV([1, 10], gammas=[1.0], approximation=CELLS, random_state=0).fit(X, y)
    assert search.fit_report_.n_cells == 8
    assert search.score(X, y) > 0.8


def test_memory_limits_the_size(rng):
    X, y = stripes(rng, 30_000)
    limited = SVC(approximation=Cells(n_trees=1), memory_limit="20MB", random_state=0).fit(X, y)
    free = SVC(approximation=Cells(n_trees=1), random_state=0).fit(X, y)
    assert limited.fit_report_.n_cells > free.fit_report_.n_cells
    with pytest.raises(MemoryError, match=r"set the size of cells to \d+ or less, raise"):
        SVC(approximation=Cells(20_000), memory_limit="20MB").fit(X, y)
