"""Forests of cells on clusters, against those on one machine."""

import itertools
import time
import types

import dask.array as da
import numpy as np
import pytest
import scipy.sparse
from dask import delayed
from helpers.faults import Killer, fit_on_cluster, slow_partition
from helpers.platforms import posix
from helpers.rows import waves_and_bowls
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

import hssvm
import hssvm.dask
from hssvm import Cells
from hssvm.dask.cells.fit import MAX_SHARE, Grower, n_nodes_for


def same_model(model, local, new):
    """The same bits as on one machine."""
    copy = model.to_local()
    assert_array_equal(copy.decision_function(new), local.decision_function(new))
    assert_allclose(model.decision_function(new), local.decision_function(new), atol=1e-5)
    assert_array_equal(copy.support_, local.support_)
    assert_array_equal(copy.dual_coef_, local.dual_coef_)
    ours, theirs = model.fit_report_, local.fit_report_
    for name in ("gap", "objective", "n_rounds", "n_steps"):
        assert_array_equal(getattr(ours, name), getattr(theirs, name))
    for name in ("status", "n_rows", "n_columns", "n_cells", "n_trees", "n_support", "tol"):
        assert getattr(ours, name) == getattr(theirs, name)
    assert_allclose(ours.spread, theirs.spread, rtol=0.1)  # rows of weight 0 are not compared
    assert_allclose(ours.disagreement, theirs.disagreement, atol=0.02)


@pytest.mark.parametrize("kind", ["dense", "ties", "sparse", "wide"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "workers", ["client", pytest.param("client4", marks=pytest.mark.slow)], ids=[2, 4]
)
def test_the_same_bits_as_on_one_machine(kind, dtype, workers, rng, request):
    n, seed = int(rng.integers(3000, 5000)), int(rng.integers(1000))
    X, y = waves_and_bowls(rng, n)
    if kind == "ties":
        X = np.round(X)
    elif kind != "dense":
        X = scipy.sparse.csr_array(np.where(rng.random(X.shape) < 0.3, 0, X))
    if kind == "wide":
        other = scipy.sparse.random_array((n, 20_000), density=1e-4, rng=rng)
        X = scipy.sparse.hstack([X, other], format="csr")
    X, new = X.astype(dtype), X[: n // 2].astype(dtype)
    parameters = {"C": 3, "gamma": 0.4, "random_state": seed}
    parameters["approximation"] = Cells(size=300, n_trees=3)
    w = rng.uniform(0.5, 2, n) * (rng.random(n) < 0.9)
    local = hssvm.SVC(**parameters).fit(X, y, w)
    cluster = request.getfixturevalue(workers)
    model = hssvm.dask.SVC(**parameters, client=cluster).fit(X, y, w)
    same_model(model, local, new)
    assert_allclose(model.score(X, y), np.mean(model.predict(X) == y))


def test_any_partitions(inside, rng):
    X, y = waves_and_bowls(rng, 3000)
    parameters = {"gamma": 0.4, "random_state": 0, "approximation": Cells(size=200)}
    local = hssvm.SVC(**parameters).fit(X, y)
    ends = [0, 5, 5, 2000, 2001, 3000]
    pieces = [delayed((X[a:b], y[a:b])) for a, b in itertools.pairwise(ends)]
    model = hssvm.dask.SVC(**parameters, client=inside).fit(pieces)
    same_model(model, local, X)
    lazy = model.decision_function(da.from_array(X, chunks=(700, -1)))
    assert_allclose(lazy.compute(), local.decision_function(X), atol=1e-9)
    with pytest.raises(ValueError, match="certify needs one model of all rows"):
        model.certify(X, y)
    w = np.arange(3000) >= 2000  # two blocks, and the first has only rows of weight 0
    weighted = hssvm.dask.SVC(**parameters, client=inside).fit(
        [delayed((X[:2000], y[:2000], w[:2000])), delayed((X[2000:], y[2000:], w[2000:]))]
    )
    expected = hssvm.SVC(**parameters).fit(X, y, w).decision_function(X)
    assert_array_equal(weighted.to_local().decision_function(X), expected)


def test_several_classes_regression_and_a_path(inside, rng):
    X = rng.uniform(-2, 2, (3000, 2))
    y = np.digitize(X[:, 0] + X[:, 1] ** 2, [0, 2])
    cells = {"approximation": Cells(size=300, n_trees=2), "random_state": 0}
    model = hssvm.dask.SVC(C=3, **cells, client=inside).fit(X, y)
    same_model(model, hssvm.SVC(C=3, **cells).fit(X, y), X)

    target = np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(3000)
    regressor = hssvm.dask.SVR(C=3, **cells, client=inside).fit(X, target)
    local = hssvm.SVR(C=3, **cells).fit(X, target)
    assert_allclose(regressor.predict(X), local.predict(X), atol=0.05)  # tol, and the center of y
    assert_allclose(regressor.to_local().predict(X), regressor.predict(X), atol=1e-9)

    path = hssvm.dask.svc_path(X, y > 0, Cs=[0.1, 10.0], **cells, client=inside)
    assert path.fit_report_.n_cells == 16
    single = hssvm.SVC(C=10, **cells).fit(X, y > 0)
    assert_allclose(path.decision_function(X)[:, 1], single.decision_function(X), atol=1e-9)


def test_probabilities_and_searches(inside, rng):
    X, y = waves_and_bowls(rng, 4000)
    y = np.where(rng.random(4000) < 0.2, rng.permutation(y), y)
    cells = {"approximation": Cells(size=500, n_trees=2), "random_state": 0, "client": inside}
    model = hssvm.dask.SVC(C=3, gamma=0.4, probability="sigmoid", **cells).fit(X, y)
    new, truth = waves_and_bowls(rng, 4000)
    expected = hssvm.SVC(C=3, gamma=0.4, probability="sigmoid", random_state=0).fit(X, y)
    ours, theirs = (m.predict_proba(new)[:, 0] for m in (model, expected))
    assert np.abs(ours - theirs).mean() < 0.05
    score, exact = (m.fit_report_.out_of_fold_score for m in (model, expected))
    assert abs(score - exact) < 0.03
    search = hssvm.dask.SVCCV(Cs=[1e-3, 1], gammas=[0.4], **cells).fit(X, y)
    assert search.C_ == 1
    assert search.fit_report_.n_cells == 8
    assert search.score(new, truth) > 0.9


def test_max_time_keeps_complete_trees(inside, rng, monkeypatch):
    X, y = waves_and_bowls(rng, 4000)
    clock = types.SimpleNamespace(monotonic=time.monotonic)
    monkeypatch.setattr(hssvm.dask.base, "time", clock)
    grow = Grower.grow

    def slow(self, index, n_nodes):
        if index == 1:
            clock.monotonic = lambda: time.monotonic() + 1e6
        return grow(self, index, n_nodes)

    monkeypatch.setattr(Grower, "grow", slow)
    parameters = {"gamma": 0.4, "random_state": 0}
    model = hssvm.dask.SVC(
        **parameters, approximation=Cells(500, n_trees=5), max_time=1e4, client=inside
    )
    with pytest.warns(ConvergenceWarning, match="before all trees"):
        model.fit(X, y)
    assert model.fit_report_.status == ["FEWER_TREES"]
    expected = hssvm.SVC(**parameters, approximation=Cells(500, n_trees=2)).fit(X, y)
    ours = model.to_local().decision_function(X)
    assert_array_equal(ours, expected.decision_function(X))


@pytest.mark.parametrize("probability", [None, "sigmoid"])
def test_cells_after_the_deadline_are_not_trained(probability, inside, rng, monkeypatch):
    X, y = waves_and_bowls(rng, 4000)
    late = types.SimpleNamespace(time=lambda: 1e12)
    monkeypatch.setattr(hssvm.dask.deadline, "time", late)
    model = hssvm.dask.SVC(
        gamma=0.4, approximation=Cells(500), probability=probability, max_time=1e4, client=inside
    )
    with pytest.warns(ConvergenceWarning, match="Reached max_time"):
        model.fit(X, y)
    assert model.fit_report_.n_trees == 1
    assert model.fit_report_.status == ["MAX_TIME"]
    assert np.isin(model.predict(X), ["in", "out"]).all()


@pytest.mark.parametrize("n_nodes", [1, 8])
def test_any_number_of_nodes_and_trees(n_nodes, inside, rng, monkeypatch):
    monkeypatch.setattr(hssvm.dask.cells.fit, "n_nodes_for", lambda n_workers, depth: n_nodes)
    monkeypatch.setattr(hssvm.dask.shuffle, "MAX_CHUNK_TASKS", 0)
    X, y = waves_and_bowls(rng, 3500)
    X = np.round(X, 1)
    parameters = {"gamma": 0.4, "approximation": Cells(150, n_trees=6), "random_state": 0}
    model = hssvm.dask.SVC(**parameters, client=inside).fit(X, y)
    same_model(model, hssvm.SVC(**parameters).fit(X, y), X)


def test_a_small_tolerance(inside, rng):
    X, y = waves_and_bowls(rng, 4000)
    parameters = {"gamma": 0.4, "approximation": Cells(30, 1), "tol": 1e-5, "random_state": 0}
    model = hssvm.dask.SVC(**parameters, client=inside).fit(X, y)
    local = hssvm.SVC(**parameters).fit(X, y)
    ours = model.to_local().decision_function(X)
    assert_allclose(ours, local.decision_function(X), atol=1e-3)
    assert (model.fit_report_.gap <= 1e-5).all()


def test_beyond_exact_cells_are_the_default(inside, rng):
    X, y = waves_and_bowls(rng, 5000)
    model = hssvm.dask.SVC(gamma=0.4, refine=False, random_state=0, client=inside).fit(X, y)
    assert model.fit_report_.n_cells == 4
    few = hssvm.dask.SVC(gamma=0.4, refine=False, client=inside).fit(X[:1500], y[:1500])
    assert few.fit_report_.exact_kernel


def test_number_of_nodes():
    for n_workers in range(1, 200):
        n_nodes = n_nodes_for(n_workers, 30)
        share = np.bincount(np.arange(n_nodes) * n_workers // n_nodes).max() / n_nodes
        assert n_nodes & (n_nodes - 1) == 0
        assert share * n_workers <= MAX_SHARE
    assert n_nodes_for(8, depth=2) == 2


class KillerInStage(Killer):
    """Kills a worker when a stage ends for the given time."""

    n_heard = 0

    def hears(self, record):
        name, number = self.says
        self.n_heard += record.getMessage().startswith(f"{name}:")
        return self.n_heard == number


@posix
@pytest.mark.parametrize(
    ("stage", "number"),
    [
        ("shuffle", 2),  # when the first tree is about to be solved
        pytest.param("describe", 1, marks=pytest.mark.slow),
        pytest.param("tree", 1, marks=pytest.mark.slow),
        pytest.param("solve", 3, marks=pytest.mark.slow),
        pytest.param("solve", 4, marks=pytest.mark.slow),
    ],
)
def test_a_worker_is_killed(stage, number, mortal, client):
    """The cells of the lost worker are trained again, and the model is the same, bit for bit."""
    parameters = {"approximation": Cells(size=500)}
    X, _ = (np.concatenate(both) for both in zip(*map(slow_partition, range(8)), strict=True))
    expected, _ = fit_on_cluster(client, **parameters)
    workers = set(mortal.nthreads())
    with KillerInStage(mortal, 1, (stage, number), after=0.02) as killer:
        model, _ = fit_on_cluster(mortal, **parameters, max_time=1000)
        ours = model.to_local()
    assert killer.killed
    assert set(mortal.nthreads()) != workers
    theirs = expected.to_local()
    assert_array_equal(ours.decision_function(X), theirs.decision_function(X))
    assert_array_equal(ours.dual_coef_, theirs.dual_coef_)
