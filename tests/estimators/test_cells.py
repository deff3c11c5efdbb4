"""Cells: by definition, exact models of the rows of each leaf, averaged over trees."""

import pickle
import runpy
from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np
import pytest
import scipy.sparse
import sklearn.svm
from helpers.rows import noisy_classes, stripes, two_moons, waves_and_bowls
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import hssvm
from hssvm import HSS, SVC, SVCCV, SVR, Cells, OneClassSVM
from hssvm.hss import ClusterTree
from hssvm.kernels import Gaussian, ObjectKernel
from hssvm.predictors.votes import count_votes
from hssvm.training import TrainingConfig
from hssvm.training.config import LARGE_CELL, SMALL_CELL
from hssvm.training.plan import Route
from hssvm.training.routes.cells.route import SPLITTER

CELLS = Cells(size=200, n_trees=2)


def trees_of(model, X, counting=None):
    """The trees of a fit, built again from the rows that count."""
    counting = np.arange(X.shape[0]) if counting is None else counting
    config = TrainingConfig(seed=model._forest_seed)
    plan = config.plan(X.shape[0], route=Route.CELLS)
    for index in range(model.fit_report_.n_trees):
        seed = plan.tree_seed(index)
        tree = ClusterTree.build(X[counting], model.approximation.size, SPLITTER, seed)
        yield replace(tree, perm=counting[tree.perm])


def by_definition(model, X, new, make, clip=3.0, counting=None):
    """Mean decision values of models of the rows of each cell; see `by_tree`."""
    return np.mean(by_tree(model, X, new, make, clip, counting), axis=0)


def by_tree(model, X, new, make, clip=3.0, counting=None):
    """Decision values of each tree at the rows of `new`.

    ``make(rows, own)`` trains a model on some rows of X, and returns its values at some of `new`.
    """
    values = []
    for tree in trees_of(model, X, counting):
        leaf, offsets, total = tree.route(new), tree.offsets(tree.depth), np.zeros(new.shape[0])
        for cell in range(tree.n_leaves):
            rows, own = tree.perm[offsets[cell] : offsets[cell + 1]], np.flatnonzero(leaf == cell)
            if own.size:
                total[own] = np.clip(make(rows, own), -clip, clip)
        values.append(total)
    return np.array(values)


def classifier(X, new, signs, weight=None, kernel=rbf_kernel, C=2.0):
    """``make`` of `by_definition`: SVC of scikit-learn, or constants where there is one class."""
    weight = np.ones(len(X)) if weight is None else weight

    def make(rows, own):
        rows = rows[weight[rows] > 0]
        present = np.unique(signs[rows])
        if present.size < 2:
            return np.full(own.size, present.sum())  # 0 without rows
        expert = sklearn.svm.SVC(C=C, kernel="precomputed", tol=1e-8)
        expert.fit(kernel(X[rows], X[rows], gamma=0.3), signs[rows], weight[rows])
        return expert.decision_function(kernel(new[own], X[rows], gamma=0.3))

    return make


def values_of(A, B):
    return rbf_kernel(A, B, gamma=0.3)


def exponential(A, B, gamma):
    return np.exp(-gamma * euclidean_distances(A, B))


def clusters(rng, n=800, n_new=200, n_classes=2, dtype=np.float64):
    """Rows, classes, and new rows; some cells have one class, or lack one."""
    X = rng.standard_normal((n + n_new, 3))
    f = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.3 * rng.standard_normal(n + n_new)
    y = np.digitize(f, np.quantile(f, np.arange(1, n_classes) / n_classes))
    X[:, 0] += 6 * (y - 1) * (rng.random(n + n_new) < 0.4)
    return X[:n].astype(dtype), y[:n], X[n:].astype(dtype)


def svc(rng, dtype=np.float64, **parameters):
    tol, seed = (1e-8 if dtype == np.float64 else 1e-6), int(rng.integers(99))
    options = {"gamma": 0.3, "approximation": Cells(size=100, n_trees=2)}
    return SVC(C=2.0, tol=tol, random_state=seed, **{**options, **parameters})


def assert_close(values, expected):
    assert_allclose(values, expected, atol=3e-3 if values.dtype == np.float64 else 3e-2)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kernel", ["rbf", "exponential"])
@pytest.mark.parametrize("weights", [None, "samples", "classes"])
def test_a_classifier_is_the_mean_of_its_cells(weights, kernel, dtype, rng):
    X, y, new = clusters(rng, dtype=dtype)
    weight = rng.integers(0, 3, len(X)).astype(float) if weights == "samples" else None
    of_classes = "balanced" if weights == "classes" else None
    model = svc(rng, dtype, kernel=kernel, class_weight=of_classes).fit(X, y, weight)
    if weights == "classes":
        weight = (len(X) / (2 * np.bincount(y)))[y]
    values = rbf_kernel if kernel == "rbf" else exponential
    make = classifier(X.astype(float), new.astype(float), 2 * y - 1, weight, values)
    counting = None if weight is None else np.flatnonzero(weight)
    expected = by_definition(model, X, new, make, counting=counting)
    assert_close(model.decision_function(new), expected)
    report = model.fit_report_
    assert (report.n_cells, report.n_trees, report.exact_kernel) == (8, 2, False)
    assert report.gap[0] <= model.tol and report.spread[0] > 0
    assert "8 cells of each of 2 trees" in model.summary()


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_many_classes_are_means_of_cells(multi_class, rng):
    X, y, new = clusters(rng, n_classes=4)
    model = svc(rng, multi_class=multi_class).fit(X, y)
    assert any(
        np.unique(y[cell]).size < 4
        for tree in trees_of(model, X)
        for cell in np.split(tree.perm, tree.offsets(tree.depth)[1:-1])
    )
    if multi_class == "ovr":
        columns = [(np.where(y == c, 1, -1), np.ones(len(X))) for c in range(4)]
    else:
        columns = [
            (np.where(y == c, 1, -1), np.isin(y, (c, d)) * 1.0)
            for c, d in combinations(range(4), 2)
        ]
    expected = np.stack(
        [by_definition(model, X, new, classifier(X, new, *column)) for column in columns], axis=1
    )
    if multi_class == "ovr":
        assert_close(model.decision_function(new), expected)
        return
    assert_close(model._decision_values(new), expected)
    assert_array_equal(model.predict(new), count_votes(model._decision_values(new), 4).argmax(1))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sparse_rows_are_those_of_their_cells(dtype, rng):
    X, y, new = clusters(rng)
    X, new = (np.where(np.abs(rows) > 0.5, rows, 0) for rows in (X, new))
    sparse, sparse_new = (scipy.sparse.csr_array(rows.astype(dtype)) for rows in (X, new))
    model = svc(rng, dtype).fit(sparse, y)
    expected = by_definition(model, sparse, sparse_new, classifier(X, new, 2 * y - 1))
    assert_close(model.decision_function(sparse_new), expected)


@pytest.mark.parametrize("scaling", [StandardScaler, MinMaxScaler])
def test_cells_are_of_scaled_rows(scaling, rng):
    X, y, new = clusters(rng)
    scaler = scaling().fit(X)
    name = {StandardScaler: "standard", MinMaxScaler: "minmax"}[scaling]
    model = svc(rng, scaling=name).fit(X, y)
    X, new, unscaled = scaler.transform(X), scaler.transform(new), new
    expected = by_definition(model, X, new, classifier(X, new, 2 * y - 1))
    assert_close(model.decision_function(unscaled), expected)


@pytest.mark.parametrize("kind", ["precomputed", "objects"])
def test_points_without_coordinates_are_cut_by_their_kernel_values(kind, rng):
    X, y, new = clusters(rng)
    if kind == "precomputed":
        kernel, train, test = "precomputed", values_of(X, X), values_of(new, X)
    else:
        kernel, train, test = ObjectKernel(values_of), X.tolist(), new.tolist()
    model = svc(rng, kernel=kernel).fit(train, y)
    landmarks = X[list(model.kernel_.landmarks)]
    coordinates, of_new = values_of(X, landmarks), values_of(new, landmarks)
    expected = by_definition(model, coordinates, of_new, classifier(X, new, 2 * y - 1))
    assert_close(model.decision_function(test), expected)
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.decision_function(test), model.decision_function(test))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_regression_is_the_mean_of_its_cells(weighted, dtype, rng):
    X, _, new = clusters(rng, dtype=dtype)
    y = 100 + np.sin(2 * X[:, 0]) + 0.1 * rng.standard_normal(len(X))
    weight = rng.integers(0, 3, len(X)) * 1.0 if weighted else np.ones(len(X))

    def make(rows, own):
        expert = sklearn.svm.SVR(C=2, gamma=0.5, tol=1e-8)
        return expert.fit(X[rows], y[rows], weight[rows]).predict(new[own])

    tol, seed = (1e-8 if dtype == np.float64 else 1e-6), int(rng.integers(99))
    model = SVR(C=2, gamma=0.5, approximation=CELLS, tol=tol, random_state=seed)
    values = model.fit(X, y, weight).predict(new)
    assert_close(values, by_definition(model, X, new, make, np.inf, np.flatnonzero(weight)))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_spread_and_disagreement_by_definition(n_classes, rng):
    X, y, _ = clusters(rng, n_classes=n_classes)
    model = svc(rng, multi_class="ovr", approximation=Cells(100, 3)).fit(X, y)
    report = model.fit_report_
    for column, c in enumerate([1] if n_classes == 2 else range(3)):
        values = by_tree(model, X, X, classifier(X, X, np.where(y == c, 1, -1)))
        spread = np.sqrt(np.mean(np.var(values, axis=0, ddof=1)))
        assert_allclose(report.spread[column], spread, rtol=5e-3)
        n_positive = (values > 0).sum(axis=0)
        disagreement = np.mean((n_positive > 0) & (n_positive < 3))
        assert disagreement > 0
        assert abs(report.disagreement[column] - disagreement) <= 0.01  # rounding near 0


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


def test_functions_get_no_empty_blocks(rng):
    """scikit-learn's refuse them; cells of one class, or with flat targets, have no points."""
    X, y, new = clusters(rng)
    model = svc(rng, kernel=partial(rbf_kernel, gamma=0.3)).fit(X, y)
    assert any(np.any(np.diff(tree.ends) == 0) for tree in model._compressed.trees)
    expected = by_definition(model, X, new, classifier(X, new, 2 * y - 1))
    assert_close(model.decision_function(new), expected)
    flat = SVR(kernel=rbf_kernel, approximation=CELLS, random_state=0).fit(X, np.ones(len(X)))
    assert_allclose(flat.predict(new), 1.0)


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


def test_more_trees_are_added_to_cells_of_a_chosen_size(rng, monkeypatch):
    X, y = stripes(rng, 20_000)
    whole = SVC(approximation=Cells(2000, 3), random_state=0).fit(X, y)
    grown = SVC(approximation=Cells(n_trees=2), warm_start=True, random_state=0)
    monkeypatch.setattr("hssvm.costs.CELL_BUDGET", 1e-9)  # as with a time limit
    grown.fit(X, y)
    monkeypatch.undo()
    trees = grown._compressed.trees
    grown.set_params(approximation=Cells(n_trees=3)).fit(X, y)
    assert_array_equal(grown._compressed.trees[1].weights, trees[1].weights)
    assert_array_equal(grown.decision_function(X), whole.decision_function(X))
    assert grown.set_params(C=2).fit(X, y).fit_report_.n_cells < whole.fit_report_.n_cells
    assert grown.set_params(approximation=Cells(1000)).fit(X, y).fit_report_.n_cells == 32


LARGE = {
    "two classes": noisy_classes,
    "three classes": partial(noisy_classes, n_classes=3),
    "stripes": stripes,
    "waves and bowls": waves_and_bowls,
}


def test_out_of_fold_values_are_honest(rng):
    X, y = rng.standard_normal((2000, 4)), rng.integers(0, 2, 2000)
    model = SVC(C=10, gamma=1.0, approximation=CELLS, out_of_fold=True, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.8
    assert abs(model.fit_report_.out_of_fold_score - 0.5) < 0.07
    X, y = noisy_classes(rng, 4000)
    model.set_params(C=1.0, gamma="scale").fit(X[:2000], y[:2000])
    score = model.score(X[2000:], y[2000:])
    assert abs(model.fit_report_.out_of_fold_score - score) < 0.05


@pytest.mark.parametrize(
    ("kind", "n", "size", "factor"),
    [
        ("two classes", 3000, 500, 1.05),
        *(pytest.param(kind, 8000, 1000, 1.01, marks=pytest.mark.slow) for kind in LARGE),
    ],
)
def test_probabilities_are_as_good_as_those_of_a_wrapper(kind, n, size, factor, rng):
    """The wrapper of scikit-learn has five more forests, of four fifths of the rows."""
    X, y = LARGE[kind](rng, 5 * n)
    train, test = slice(n), slice(n, None)
    model = SVC(3.0, approximation=Cells(size, 2), random_state=0)
    ours = clone(model).set_params(probability="sigmoid").fit(X[train], y[train])
    wrapped = CalibratedClassifierCV(model, ensemble=False).fit(X[train], y[train])
    loss = log_loss(y[test], ours.predict_proba(X[test]))
    assert loss < factor * log_loss(y[test], wrapped.predict_proba(X[test]))


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

    assert size(16 * LARGE_CELL) == LARGE_CELL
    assert size(2**19 * SMALL_CELL) == SMALL_CELL
    assert size(2**22) == 2**12
    assert size(1_000_000, max_time=5.0) < size(1_000_000)
    assert size(25 * 2**20, approximation=Cells(size=49)) == 25


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
