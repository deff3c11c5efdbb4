"""Forests of the estimators: their definition, how they grow, and when they do not."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from helpers.predictors import leafwise
from helpers.rows import noisy_classes, stripes
from helpers.stops import stopped_in_tree
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import hssvm
from hssvm import HSS, SVC, SVCCV, SVR, OneClassSVM, svc_path
from hssvm.estimators.inputs.parameters import InvalidParameterError
from hssvm.exceptions import DataWarning
from hssvm.hss import ClusterTree, compress
from hssvm.kernels import Gaussian
from hssvm.operators import HSSOperator
from hssvm.solvers import ADMM, Status
from hssvm.training import Classification, NoveltyDetection, Regression, Route
from hssvm.training.config import FOREST_TREES
from hssvm.training.tasks import raised_intercept

N = 2400


def small(n_trees=None):
    return HSS(n_trees, leaf_size=128, max_rank=16)


ESTIMATORS = {
    "two classes": SVC(C=2.0, gamma=0.3),
    "three classes": SVC(C=2.0, gamma=0.3),
    "regression": SVR(C=2.0, gamma=0.3),
    "novelty": OneClassSVM(nu=0.2, gamma=0.3),
}


@pytest.fixture(params=ESTIMATORS)
def kind(request):
    return request.param


def estimator(kind, n_trees=None, **parameters):
    defaults = {"approximation": small(n_trees), "random_state": 0}
    return clone(ESTIMATORS[kind]).set_params(**{**defaults, **parameters})


def data(kind, rng, n=N, dtype=np.float64):
    X, y = noisy_classes(rng, n, 3 if kind == "three classes" else 2, dtype)
    return X, np.sin(X[:, 0]) + X[:, 1] if kind == "regression" else y


def values_of(model, X):
    return model.predict(X) if isinstance(model, SVR) else model.decision_function(X)


def count_trees(monkeypatch):
    """A list that grows with every matrix that is compressed."""
    compressed = []
    original = hssvm.training.routes.forest.route.compress_kernel

    def counted(*args, **options):
        compressed.append(original(*args, **options))
        return compressed[-1]

    monkeypatch.setattr("hssvm.training.routes.forest.route.compress_kernel", counted)
    return compressed


def assert_same_model(found, expected, T):
    assert_array_equal(values_of(found, T), values_of(expected, T))
    for name in ("support_", "dual_coef_", "intercept_", "n_iter_"):
        assert_array_equal(getattr(found, name), getattr(expected, name), name)
    for name in ("n_trees", "spread", "disagreement", "n_iter", "n_factors", "gap", "objective",
                 "status", "advice", "n_support", "ranks", "tol"):  # fmt: skip
        assert_array_equal(
            getattr(found.fit_report_, name), getattr(expected.fit_report_, name), name
        )


def test_decision_values_are_the_mean_of_single_trees(kind, rng):
    X, y = data(kind, rng)
    T = data(kind, rng, 300)[0]
    model = estimator(kind, 3).fit(X, y)
    kernel, plan = Gaussian(0.3), model._config().plan(N, route=Route.COMPRESSED)
    center = float(np.median(y))
    task = {
        "two classes": Classification(np.ones(2), np.array([2.0])),
        "three classes": Classification(np.ones(3), np.array([2.0])),
        "regression": Regression(2.0, 0.1, center),
        "novelty": NoveltyDetection(0.2),
    }[kind]
    problem = task.problem(X, y, np.ones(N), kernel)
    values, intercepts = [], []
    for index in range(3):
        seed = plan.tree_seed(index)
        tree = ClusterTree.build(X, leaf_size=128, random_state=seed)
        matrix = compress(kernel, X, tree, max_rank=16, random_state=seed)
        solution = ADMM(plan.tol).solve(problem, HSSOperator(matrix))
        values.append(leafwise(matrix, solution.Z)(T))
        intercepts.append(solution.intercept)
    intercept = np.mean(intercepts, axis=0)
    if kind == "novelty":
        intercept = raised_intercept(intercept, X.dtype)
    elif kind == "regression":
        intercept = intercept + center
    expected = np.mean(values, axis=0) + intercept
    if kind != "three classes":
        expected = expected[:, 0]
    assert_allclose(values_of(model, T), expected, atol=1e-9 * np.abs(expected).max())
    assert_allclose(model.intercept_, intercept)
    assert model.fit_report_.n_trees == 3


def test_without_refinement_there_is_a_forest(kind, rng):
    X, y = data(kind, rng)
    forests = [
        estimator(kind), estimator(kind, refine=False), estimator(kind, FOREST_TREES),
        estimator(kind, prediction="compressed"),
    ]  # fmt: skip
    first, *others = [model.fit(X, y) for model in forests]
    assert first.fit_report_.n_trees == FOREST_TREES
    for other in others:
        assert_same_model(other, first, X)
    for exact in (estimator(kind, approximation=None), estimator(kind, refine=True)):
        assert exact.fit(X, y).fit_report_.n_trees == 1
    assert f"{FOREST_TREES} compressed kernels" in first.summary()
    sign = "in sign for" in first.summary()
    assert sign == (kind != "regression")


@pytest.mark.parametrize(("dtype", "sparse"), [(np.float32, True), (np.float64, False)])
def test_a_grown_forest_is_the_same(kind, dtype, sparse, rng):
    X, y = data(kind, rng, dtype=dtype)
    T = data(kind, rng, 300, dtype)[0]
    if sparse:
        X, T = scipy.sparse.csr_array(X), scipy.sparse.csr_array(T)
    model = estimator(kind, 2, warm_start=True, random_state=int(rng.integers(1000)))
    whole = clone(model).set_params(approximation=small(4), warm_start=False).fit(X, y)
    model.fit(X, y).set_params(approximation=small(4)).fit(X, y)
    assert_same_model(model, whole, T)


def test_a_grown_forest_trains_only_the_missing_trees(kind, rng, monkeypatch):
    X, y = data(kind, rng)
    model = estimator(kind, 2, warm_start=True).fit(X, y)
    trees = [tree.weights for tree in model._compressed.trees]
    compressed = count_trees(monkeypatch)
    before = clone(model).set_params(warm_start=False).fit(X, y)
    compressed.clear()
    assert_same_model(model.fit(X, y), before, X)
    assert compressed == []
    model.set_params(approximation=small(3)).fit(X, y)
    assert len(compressed) == 1
    for tree, old in zip(model._compressed.trees, trees, strict=False):
        assert_array_equal(tree.weights, old)


def test_a_forest_without_a_seed_grows(kind, rng, monkeypatch):
    X, y = data(kind, rng)
    model = estimator(kind, 2, warm_start=True, random_state=None).fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    before = model._compressed.decisions(X[:200])
    model.set_params(approximation=small(3)).fit(X, y)
    copy.set_params(approximation=small(4)).fit(X, y)
    assert_array_equal(model._compressed.decisions(X[:200])[:2], before)
    assert_same_model(copy, model.set_params(approximation=small(4)).fit(X, y), X)
    distinct = np.unique(model._compressed.decisions(X[:200]), axis=0)
    assert len(distinct) == 4


def stopped_fit(model, X, y, tree, *, in_solver=True):
    """Fit a model, and stop in the tree of a given index."""
    expected = pytest.warns(ConvergenceWarning, match="before all trees were trained")
    with stopped_in_tree(tree, in_solver=in_solver), expected:
        return model.fit(X, y)


@pytest.mark.parametrize(("seed", "in_solver"), [(0, False), (None, True)])
def test_a_stopped_forest_gets_its_missing_trees(kind, seed, in_solver, rng):
    X, y = data(kind, rng)
    model = estimator(kind, 3, tol=1e-4, random_state=seed, warm_start=True)
    stopped_fit(model, X, y, 1, in_solver=in_solver)
    assert model.fit_report_.n_trees == len(model._compressed.trees) == 1
    assert set(model.fit_report_.status) == {"FEWER_TREES"}
    assert "warm_start=True" in model.summary()
    before = model._compressed.decisions(X[:200])
    model.fit(X, y)
    assert set(model.fit_report_.status) == {"CONVERGED"}
    assert "before all trees" not in model.summary()
    assert_array_equal(model._compressed.decisions(X[:200])[:1], before)
    if seed is None:
        assert model.fit_report_.n_trees == 3
    else:
        assert_same_model(model, clone(model).set_params(warm_start=False).fit(X, y), X)


def test_a_forest_may_stop_several_times(kind, rng):
    X, y = data(kind, rng)
    model = estimator(kind, 3, tol=1e-4, warm_start=True)
    stopped_fit(model, X, y, 1)
    stopped_fit(model, X, y, 1)
    assert model.fit_report_.n_trees == 2
    assert model.fit_report_.advice.count(Status.FEWER_TREES.value) == 1
    model.fit(X, y)
    assert_same_model(model, clone(model).set_params(warm_start=False).fit(X, y), X)


@pytest.mark.parametrize(("seed", "sparse"), [(0, True), (None, False)])
def test_a_stopped_forest_grows_after_it_was_saved(kind, seed, sparse, rng, tmp_path):
    X, y = data(kind, rng)
    X = scipy.sparse.csr_array(X) if sparse else X
    model = estimator(kind, 3, tol=1e-4, random_state=seed, warm_start=True)
    stopped_fit(model, X, y, 2, in_solver=bool(rng.integers(2)))
    model.save(tmp_path / "model")
    loaded = hssvm.load(tmp_path / "model")
    assert_array_equal(values_of(loaded, X), values_of(model, X))
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()
    model.fit(X, y)
    assert_same_model(loaded.fit(X, y), model, X)
    loaded.save(tmp_path / "done")
    assert not hasattr(hssvm.load(tmp_path / "done"), "dual_coef_")


def test_a_stopped_forest_that_is_cross_validated_is_saved(rng, tmp_path):
    X, y = data("two classes", rng)
    approximation = HSS(n_trees=2, leaf_size=128)
    model = SVCCV(
        Cs=[1.0], gammas=[0.3], cv=2, approximation=approximation, tol=1e-4, random_state=0
    )
    stopped_fit(model, X, y, 1, in_solver=False)
    assert model.fit_report_.n_trees == 1
    model.save(tmp_path / "model")
    loaded = hssvm.load(tmp_path / "model")
    assert_array_equal(loaded.decision_function(X), model.decision_function(X))


CHANGES = {  # of the problem, then of the rows and of parameters
    "y": lambda model, X, y, w: (X, -y, w),
    "sample_weight": lambda model, X, y, w: (X, y, w * np.linspace(0.5, 2, w.size)),
    "C": lambda model, X, y, w: model.set_params(C=3.0) and (X, y, w),
    "X": lambda model, X, y, w: (X + 1e-3, y, w),
    "fewer rows": lambda model, X, y, w: (X[:-7], y[:-7], w[:-7]),
    "gamma": lambda model, X, y, w: model.set_params(gamma=0.35) and (X, y, w),
    "leaf_size": lambda model, X, y, w: (
        model.set_params(approximation=replace(model.approximation, leaf_size=100)) and (X, y, w)
    ),
    "random_state": lambda model, X, y, w: model.set_params(random_state=1) and (X, y, w),
}


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        *(("two classes", change) for change in CHANGES),
        *(
            (kind, c)
            for kind in ("three classes", "regression")
            for c in ("y", "sample_weight", "C")
        ),
        ("novelty", "sample_weight"),
    ],
)
def test_on_other_data_or_parameters_all_trees_are_new(kind, change, rng, monkeypatch):
    X, y = data(kind, rng)
    model = estimator(kind, 2, tol=1e-3, warm_start=True)
    model.fit(X, y, sample_weight=np.ones(N))
    model.set_params(approximation=small(3))
    X, y, weight = CHANGES[change](model, X, y, np.ones(N))
    cold = clone(model).set_params(warm_start=False).fit(X, y, sample_weight=weight)
    compressed = count_trees(monkeypatch)
    model.fit(X, y, sample_weight=weight)
    assert len(compressed) == model.fit_report_.n_trees == len(model._compressed.trees) == 3
    assert_allclose(model.fit_report_.objective, cold.fit_report_.objective, rtol=1e-2)
    size = np.abs(values_of(cold, X)).max()
    error = values_of(model, X) - values_of(cold, X)
    assert np.sqrt(np.mean(error**2)) < 0.05 * size
    if change == "fewer rows":  # nothing to start from: the same model
        assert_same_model(model, cold, X)


def test_a_cold_start_trains_all_trees(kind, rng, monkeypatch):
    X, y = data(kind, rng)
    model = estimator(kind, 2, random_state=None).fit(X, y)
    before = model._compressed.decisions(X[:200])
    compressed = count_trees(monkeypatch)
    model.fit(X, y)
    assert len(compressed) == 2
    assert not np.array_equal(model._compressed.decisions(X[:200]), before)


def test_an_error_while_a_forest_grows_leaves_the_model(kind, rng, monkeypatch):
    X, y = data(kind, rng)
    model = estimator(kind, 4, tol=1e-4, warm_start=True)
    stopped_fit(model, X, y, 2)
    before, values, text = pickle.loads(pickle.dumps(model)), values_of(model, X), model.summary()
    original, calls = hssvm.training.routes.forest.route.compress_kernel, []

    def broken(*args, **options):
        calls.append(args)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return original(*args, **options)

    with monkeypatch.context() as patch:
        patch.setattr("hssvm.training.routes.forest.route.compress_kernel", broken)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
    assert_array_equal(values_of(model, X), values)
    assert model.summary() == text
    assert_same_model(model.fit(X, y), before.fit(X, y), X)


def test_advice_is_given_once(rng):
    """Also if a forest grows, and the model is checked again."""
    X, y = data("regression", rng)
    model = estimator("regression", 1, warm_start=True, C=1e-4, epsilon=1e-3)
    for n_trees in (1, 2):
        with pytest.warns(DataWarning, match="C is too small"):
            model.set_params(approximation=small(n_trees)).fit(X, y)
    with pytest.warns(DataWarning, match="C is too small"):
        fresh = clone(model).set_params(warm_start=False).fit(X, y)
    assert model.fit_report_.advice == fresh.fit_report_.advice


def test_support_vectors_are_counted_tree_by_tree(rng):
    """Nearly all rows are support vectors of some tree, but far from all of any one."""
    X, y = stripes(rng, 5000, 6)
    for n_trees in (1, 5):
        approximation = HSS(n_trees, leaf_size=256, max_rank=32)
        model = SVC(gamma=0.15, tol=1e-2, approximation=approximation, random_state=0)
        model.fit(X, y)  # a warning would be an error
        assert not any("support vectors" in advice for advice in model.fit_report_.advice)


@pytest.mark.parametrize("n_trees", [1, 2])
def test_a_tree_that_has_not_converged_is_reported_after_a_stop(n_trees, rng):
    X, y = data("two classes", rng)
    model = estimator("two classes", 2, tol=1e-9, max_iter=20, warm_start=True)
    stopped_fit(model, X, y, 1, in_solver=False)
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        model.set_params(approximation=small(n_trees)).fit(X, y)
    assert model.fit_report_.status == ["MAX_ITER"]


def test_forests_that_cannot_be_name_the_remedy(kind, rng):
    X, y = data(kind, rng, 100)
    refused = pytest.raises(
        InvalidParameterError, match=r"n_trees=3 .*set refine=False or n_trees=None"
    )
    with refused:
        estimator(kind, 3, refine=True).fit(X, y)
    estimator(kind, 1, refine=True).fit(X, y)
    if kind == "two classes":
        with refused:
            svc_path(X, y, [1.0], approximation=small(3), refine=True)
        with refused:
            SVCCV(Cs=[1.0], approximation=small(3), refine=True).fit(X, y)


def test_a_path_is_a_forest_of_columns(rng):
    X, y = data("two classes", rng)
    Cs = [0.5, 2.0]
    parameters = {"gamma": 0.3, "approximation": small(2), "tol": 1e-6, "random_state": 0}
    path = svc_path(X, y, Cs, **parameters)
    assert path.fit_report_.n_trees == 2
    for column, C in enumerate(Cs):
        model = SVC(C=C, **parameters).fit(X, y)
        values = model.decision_function(X)
        assert_allclose(path.decision_function(X)[:, column], values, atol=1e-3)
        assert_allclose(path.fit_report_.spread[column], model.fit_report_.spread[0], rtol=1e-2)


def test_files_of_forests_are_small(rng, tmp_path):
    X = rng.standard_normal((4000, 12))
    y = X[:, 0] * X[:, 1] + X[:, 2] > 0
    sizes = {}
    for n_trees in (1, 5):
        approximation = HSS(n_trees, leaf_size=256, max_rank=32)
        model = SVC(approximation=approximation, random_state=0).fit(X, y)
        ids = model._compressed.ids
        assert np.unique(ids).size == ids.size
        model.save(tmp_path / "model")
        sizes[n_trees] = (tmp_path / "model").stat().st_size
    assert sizes[5] < 2.5 * sizes[1]
