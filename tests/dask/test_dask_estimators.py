"""Estimators on real clusters of processes, against those on one machine."""

import gc
import time

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from dask import delayed
from dask.utils import key_split
from distributed import Client
from distributed.security import Security
from helpers.clusters import start_cluster
from helpers.parts_in_threads import join_levels
from helpers.predictors import leafwise
from helpers.rows import waves_and_bowls
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import r2_score

import hssvm
import hssvm.dask
from hssvm import HSS
from hssvm.dask.partitions import Partition
from hssvm.dask.plan import Plan, outside_of
from hssvm.dask.shuffle import join, split
from hssvm.dask.summary import describe, merge
from hssvm.dask.waiting import wait_for
from hssvm.hss import ClusterTree, HSSMatrix, NestedNystroem
from hssvm.hss.parts import compress_part, join_trees
from hssvm.hss.top import compress_top
from hssvm.hss.tree import depth_for
from hssvm.operators import HSSOperator
from hssvm.solvers import ADMM, Status
from hssvm.training import Route, TrainingConfig
from hssvm.training.config import FOREST_TOL
from hssvm.training.tasks import Classification


def local_engine(X, y, n_parts, C, gamma, seed, tol, leaf_size, max_rank, index=0):
    """Predictor and intercept of the local engine, on a tree that a cluster makes."""
    labels, codes = np.unique(y, return_inverse=True)
    partition = Partition.of(X, y)
    described = merge([describe(partition, [seed, 0], 10**6, True)], 4000 * n_parts)
    planned = Plan.of(described, n_parts, seed)
    layout = planned.layout
    rows = [join([part]) for part in split(partition, layout, 0, seed)]
    kernel, compressor = hssvm.kernels.Gaussian(gamma), NestedNystroem(max_rank=max_rank)
    tree_seed = TrainingConfig(seed=seed).plan(X.shape[0], route=Route.COMPRESSED).tree_seed(index)
    depth = depth_for(max(r.ids.size for r in rows), leaf_size)
    matrices, roots = [], []
    for part, own in enumerate(rows):
        own_seed = tree_seed + part
        tree = ClusterTree.build(own.X, leaf_size, random_state=own_seed, min_depth=depth)
        outside = outside_of(planned, part)
        built = compress_part(kernel, own.X, tree, compressor, outside, random_state=own_seed)
        matrices.append(built[0])
        roots.append(built[1])
    splits = layout.splits
    top, _ = compress_top(
        kernel, roots, splits.slots, planned.X, planned.offsets, compressor, depth,
        random_state=tree_seed,
    )  # fmt: skip
    tree = join_trees(
        splits.directions, splits.thresholds, [matrix.tree for matrix in matrices], splits.slots
    )
    ids = np.concatenate([own.ids for own in rows])
    whole = ClusterTree(
        ids[tree.perm], tree.depth, tree.directions, tree.thresholds, tree.leaf_offsets
    )
    levels = [
        join_levels([m.levels[level] for m in matrices], [own.ids for own in rows])
        for level in range(depth + 1)
    ]
    matrix = HSSMatrix(kernel, X, whole, [*top.levels, *levels])
    task = Classification(np.ones(labels.size), np.array([C]))
    problem = task.problem(X, codes, np.ones(X.shape[0]), kernel)
    solution = ADMM(tol).solve(problem, HSSOperator(matrix))
    return leafwise(matrix, solution.Z), solution.intercept


@pytest.mark.parametrize(
    ("n_workers", "n_trees"), [(2, 2), pytest.param(4, 2, marks=pytest.mark.slow)]
)
def test_same_decision_values_as_the_local_engine(n_workers, n_trees, rng, request):
    cluster = request.getfixturevalue("client" if n_workers == 2 else "client4")
    X, y = waves_and_bowls(rng, 3000)
    new, _ = waves_and_bowls(rng, 2000)
    seed = int(rng.integers(1000))
    model = hssvm.dask.SVC(
        C=3, gamma=0.4, tol=1e-2, random_state=seed,
        approximation=HSS(n_trees=n_trees, leaf_size=256, max_rank=40),
        client=cluster,
    ).fit(X, y)  # fmt: skip
    assert model._model.layout.n_parts == n_workers
    draw = hssvm.SVC(random_state=seed)._seed()
    trees = [
        local_engine(X, y, n_workers, 3, 0.4, draw, 1e-2, 256, 40, index)
        for index in range(n_trees)
    ]
    at_new, at_rows = (
        np.array([(predictor(rows) + intercept)[:, 0] for predictor, intercept in trees])
        for rows in (new, X)
    )
    expected = at_new.mean(axis=0)
    assert_allclose(model.decision_function(new), expected, atol=1e-6)
    local = model.to_local()
    assert_allclose(local.decision_function(new), expected, atol=1e-6)
    assert_allclose(local._compressed.decisions(new)[..., 0], at_new, atol=1e-6)
    report = model.fit_report_
    assert report.gap[0] <= 1e-2
    assert report.n_trees == local.fit_report_.n_trees == n_trees
    if n_trees > 1:
        variance = at_rows.var(axis=0, ddof=1).mean()
        assert_allclose(report.spread, [variance**0.5], rtol=1e-4)
        assert abs(report.disagreement[0] - np.mean(np.ptp(np.sign(at_rows), axis=0) > 0)) < 1e-3


class StopInTree:
    """Stops fits in a tree, the first one being 0: while it is solved, or before it begins."""

    def __init__(self, monkeypatch, index, *, in_solver):
        self.begun, self.done, grow = [], [], hssvm.dask.fit.Grower.grow
        fit = hssvm.dask.fit.fit

        def recorded(grower, job, earlier):
            self.begun.append(job.index)
            grown = grow(grower, job, earlier)
            self.done.append(job.index)
            return grown

        def should_stop():
            late = index in self.begun if in_solver else index - 1 in self.done
            return Status.MAX_TIME if late else None

        def stopped(*args, **options):
            return fit(*args, **{**options, "should_stop": should_stop})

        monkeypatch.setattr(hssvm.dask.fit.Grower, "grow", recorded)
        monkeypatch.setattr("hssvm.dask.base.fit", stopped)


def small_forest(n_trees, client):
    approximation = HSS(n_trees, leaf_size=256, max_rank=40)
    parameters = {"approximation": approximation, "tol": 1e-7, "random_state": 0}
    return hssvm.dask.SVC(C=3, gamma=0.4, client=client, **parameters)


@pytest.mark.slow
@pytest.mark.parametrize("in_solver", [False, True])
def test_a_forest_that_is_stopped_keeps_its_trees(in_solver, client, rng, tmp_path, monkeypatch):
    X, y = waves_and_bowls(rng, 4000)
    one = small_forest(1, client).fit(X, y)
    model = small_forest(3, client)
    with monkeypatch.context() as patch:
        stop = StopInTree(patch, 1, in_solver=in_solver)
        with pytest.warns(ConvergenceWarning, match="before all trees were trained"):
            model.fit(X, y)
    assert stop.begun == ([0, 1] if in_solver else [0])
    assert model.fit_report_.n_trees == 1
    assert model.fit_report_.status == ["FEWER_TREES"]
    values = model.decision_function(X)
    assert_allclose(values, one.decision_function(X), atol=1e-6)
    local = model.to_local()
    assert_allclose(local.decision_function(X), values, atol=1e-9)
    local.save(tmp_path / "model")
    assert_array_equal(hssvm.load(tmp_path / "model").predict(X), local.predict(X))


def test_a_first_tree_that_is_stopped_is_kept_unfinished(client, rng, monkeypatch):
    X, y = waves_and_bowls(rng, 4000)
    model = small_forest(3, client)
    stop = StopInTree(monkeypatch, 0, in_solver=True)
    with pytest.warns(ConvergenceWarning, match="raise max_time"):
        model.fit(X, y)
    assert stop.begun == [0]
    assert model.fit_report_.status == ["MAX_TIME"]
    assert model.fit_report_.n_trees == 1
    assert model.score(X, y) > 0.6


def test_one_worker_is_the_local_estimator(rng):
    X, y = waves_and_bowls(rng, 5000)
    new, _ = waves_and_bowls(rng, 500)
    w = rng.uniform(0.5, 2, 5000)
    with start_cluster(1) as cluster, Client(cluster):
        model = hssvm.dask.SVC(C=2, gamma=0.3, approximation=HSS(n_trees=2), random_state=3)
        model.fit(X, y, w)
        gathered = model.to_local()
        values = model.decision_function(new)
    local = hssvm.SVC(C=2, gamma=0.3, approximation=HSS(n_trees=2), random_state=3).fit(X, y, w)
    assert_allclose(values, local.decision_function(new), atol=1e-6)
    assert_array_equal(model.n_iter_, local.n_iter_)
    assert_array_equal(gathered.support_, local.support_)
    assert_allclose(gathered.dual_coef_, local.dual_coef_, atol=1e-6)
    assert_array_equal(gathered.n_support_, local.n_support_)


@pytest.mark.slow
@pytest.mark.parametrize("n_parts", [3, 4])
def test_close_to_the_local_estimator(n_parts, client4, rng, monkeypatch):
    """Another tree, and another compression, but the same accuracy."""
    workers = hssvm.dask.fit.live_workers
    monkeypatch.setattr(hssvm.dask.fit, "live_workers", lambda client: workers(client)[:n_parts])
    X, y = waves_and_bowls(rng, 8000)
    new, truth = waves_and_bowls(rng, 4000)
    model = hssvm.dask.SVC(C=3, random_state=0, approximation=HSS(), client=client4).fit(
        X.astype(np.float32), y
    )
    assert model._model.layout.n_parts == n_parts
    local = hssvm.SVC(C=3, random_state=0, approximation=HSS()).fit(X.astype(np.float32), y)
    accuracy = np.mean(model.predict(new) == truth)
    assert accuracy > np.mean(local.predict(new) == truth) - 0.015
    assert model.score(new, truth) == pytest.approx(accuracy)
    report = model.fit_report_
    assert report.status == ["CONVERGED"]
    assert report.kernel_error < 3 * local.fit_report_.kernel_error + 1e-3
    assert report.n_rows == 8000
    assert 0.5 < report.matrix_bytes / local.fit_report_.matrix_bytes < 2
    assert f"8,000 rows, {X.shape[1]} features, 2 classes" in model.summary()
    assert report.n_support == model.to_local().support_.size


@pytest.mark.slow
def test_every_kind_of_input_is_the_same(client, rng, tmp_path):
    X, truth = waves_and_bowls(rng, 4000)
    parameters = {"C": 3, "tol": 0.1, "approximation": HSS(n_trees=1), "random_state": 1}
    w = rng.uniform(0.5, 2, 4000) * (rng.random(4000) < 0.55)
    y = np.where(w > 0, truth, np.where(truth == "in", "out", "in"))  # without weights: noise
    frame = pd.DataFrame(X, columns=list("abc")).assign(label=y, weight=w)
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=1000)
    parts = [delayed((X[i : i + 500], y[i : i + 500], w[i : i + 500])) for i in range(0, 4000, 500)]
    frames = dd.from_pandas(frame, npartitions=3)
    blocks = [da.from_array(a, chunks=(700, 3)[: a.ndim]) for a in (X, y, w)]
    inputs = {
        "numpy": (X, y, w),
        "dask arrays": blocks,
        "frame": (frames[list("abc")], frames["label"], frames["weight"]),
        "names": (frames, "label", "weight"),
        "parquet": (tmp_path / "rows.parquet", "label", "weight"),
        "delayed": (parts,),
    }
    values = {}
    for name, data in inputs.items():
        model = hssvm.dask.SVC(**parameters, client=client).fit(*data)
        values[name] = model.decision_function(X)
        assert_array_equal(model.classes_, ["in", "out"])
    local = hssvm.SVC(**parameters).fit(X, y, w)
    right = np.mean(local.predict(X) == truth)
    assert right > 0.9
    for name, found in values.items():
        # other samples, other splits: another compression of the same matrix
        assert np.mean((found > 0) == (truth == "out")) > right - 0.02, name
        assert np.mean((found > 0) == (values["numpy"] > 0)) > 0.95, name
    assert_array_equal(client.compute(model.predict(blocks[0])).result(), model.predict(X))
    assert_array_equal(
        client.compute(model.predict(frames[list("abc")])).result(), model.predict(X)
    )
    frame_model = hssvm.dask.SVC(**parameters, client=client).fit(frames, "label", "weight")
    assert frame_model.feature_names_in_.tolist() == list("abc")
    assert frame_model.to_local().feature_names_in_.tolist() == list("abc")
    right = np.average(frame_model.predict(X) == y, weights=w)
    assert frame_model.score(frames, "label", "weight") == pytest.approx(right)
    with pytest.raises(ValueError, match="in this order"):
        frame_model.predict(frames[list("cab")])
    lazy = model.decision_function(blocks[0])
    assert isinstance(lazy, da.Array)
    assert lazy.shape == (4000,)


def test_many_classes_weights_and_sparse_rows(client, rng, tmp_path):
    X = rng.standard_normal((5000, 4)) * (rng.random((5000, 4)) < 0.7)
    y = np.digitize(X[:, 0] + X[:, 1] + rng.standard_normal(5000), [-1.5, 1.5])
    rows = [scipy.sparse.csr_array(X[i : i + 1000]) for i in range(0, 5000, 1000)]
    partitions = [delayed((r, y[1000 * i : 1000 * (i + 1)])) for i, r in enumerate(rows)]
    parameters = {"class_weight": "balanced", "approximation": HSS(n_trees=2), "random_state": 0}
    model = hssvm.dask.SVC(**parameters, client=client).fit(partitions)
    local = model.to_local()
    new = rng.standard_normal((1000, 4))
    assert model.decision_function(new).shape == (1000, 3)
    expected = hssvm.SVC(**parameters).fit(scipy.sparse.csr_array(X), y).predict(new)
    agree = np.mean(model.predict(scipy.sparse.csr_array(new)) == expected)
    assert agree > 0.9  # without weights of the classes a half
    assert_allclose(local.decision_function(new), model.decision_function(new), atol=1e-6)
    assert_array_equal(local.predict(new), model.predict(new))
    assert local.n_support_.sum() == local.support_.size
    assert_array_equal(local.support_vectors_.toarray(), X[local.support_])
    local.save(tmp_path / "model")
    loaded = hssvm.load(tmp_path / "model")
    assert_array_equal(loaded.decision_function(new), local.decision_function(new))


def test_regression(client, rng):
    X = rng.uniform(-3, 3, (5000, 2))
    truth = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + 0.05 * rng.standard_normal(5000)
    w = rng.uniform(0.5, 2, 5000) * (rng.random(5000) < 0.4)
    y = np.where(w > 0, truth, -truth)  # without weights most are wrong
    parameters = {"C": 10, "epsilon": 0.05, "approximation": HSS(n_trees=2), "random_state": 0}
    model = hssvm.dask.SVR(**parameters, client=client)
    model.fit(*(da.from_array(a, chunks=(1250, 2)[: a.ndim]) for a in (X, y, w)))
    local = hssvm.SVR(**parameters).fit(X, y, w)
    assert local.score(X, truth) > 0.95
    assert model.score(X, truth) > local.score(X, truth) - 0.01
    assert model.score(X, y, w) == pytest.approx(r2_score(y, model.predict(X), sample_weight=w))
    assert_allclose(model.to_local().predict(X), model.predict(X), atol=1e-8)
    with pytest.raises(ValueError, match="y is missing"):
        clone(model).fit(X)


def test_novelty(client, rng):
    X = rng.standard_normal((6000, 2))
    w = np.ones(6000)
    X[:2000] += 9
    w[:2000] = 0  # a third of the rows, which is new to the model
    model = hssvm.dask.OneClassSVM(nu=0.2, refine=False, random_state=0, client=client).fit(
        X, sample_weight=w
    )
    outside = model.predict(X) == -1
    assert outside[2000:].mean() == pytest.approx(0.2, abs=0.02)
    assert outside[:2000].mean() > 0.99
    lazy = model.predict(da.from_array(X, chunks=(2000, 2)))
    assert_array_equal(client.compute(lazy).result(), model.predict(X))
    local = model.to_local()
    assert_array_equal(local.predict(X), model.predict(X))
    assert_allclose(local.score_samples(X), model.score_samples(X), atol=1e-8)


def test_novelty_with_an_optimum_near_0(client, rng):
    """The linear kernel of centered rows; a gap relative to the objective alone never falls."""
    X = rng.standard_normal((5000, 3))
    X -= X.mean(axis=0)
    model = hssvm.dask.OneClassSVM(nu=0.5, kernel="linear", random_state=0, client=client).fit(X)
    assert model.fit_report_.status == ["CONVERGED"]
    assert set(model.predict(X)) <= {-1, 1}


def test_targets_beyond_the_precision_of_the_rows(client, rng):
    X = rng.standard_normal((5000, 2)).astype(np.float32)
    with pytest.raises(ValueError, match="y has values up to 1e\\+39, too large for float32"):
        hssvm.dask.SVR(client=client).fit(X, np.where(X[:, 0] > 0, 1e39, 0.0))


def test_a_path_knows_the_names_of_a_frame(client, rng):
    X, y = waves_and_bowls(rng, 3000)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    rows = dd.from_pandas(frame.assign(y=y), npartitions=2)
    path = hssvm.dask.svc_path(
        rows[["a", "b", "c"]], rows["y"], [1.0], approximation=HSS(n_trees=1), client=client
    )
    gathered = path.to_local()
    assert gathered.feature_names_in_.tolist() == ["a", "b", "c"]
    assert_array_equal(gathered.predict(frame), path.predict(X))


def test_path(client, rng):
    X, y = waves_and_bowls(rng, 5000)
    Cs = [0.1, 1.0, 10.0]
    path = hssvm.dask.svc_path(
        X, y, Cs, approximation=HSS(n_trees=2), random_state=0, client=client
    )
    assert (path.fit_report_.gap <= FOREST_TOL).all()
    local = hssvm.svc_path(X, y, Cs, approximation=HSS(n_trees=2), random_state=0)
    new, truth = waves_and_bowls(rng, 3000)
    accuracy = (path.predict(new) == truth[:, None]).mean(axis=0)
    assert (accuracy > (local.predict(new) == truth[:, None]).mean(axis=0) - 0.02).all()
    gathered = path.to_local()
    assert_array_equal(gathered.predict(new), path.predict(new))
    assert_array_equal(
        client.compute(path.predict(da.from_array(new, chunks=(500, 3)))).result(),
        path.predict(new),
    )
    assert gathered.dual_coef_.shape == (3, gathered.support_.size)
    assert_array_equal(gathered.support_vectors_, X[gathered.support_])
    assert_allclose(np.abs(gathered.dual_coef_).max(axis=1), Cs)
    with pytest.raises(ValueError, match="two classes"):
        hssvm.dask.svc_path(X, np.digitize(X[:, 0], [-1, 1]), Cs, client=client)
    with pytest.raises(ValueError, match="non-empty sequence"):
        hssvm.dask.svc_path(X, y, client=client)
    with pytest.raises(TypeError, match="pass the values as Cs"):
        hssvm.dask.svc_path(X, y, Cs, C=3)


def test_the_paper_setting_and_time(client, rng):
    X, y = waves_and_bowls(rng, 4000)
    model = hssvm.dask.SVC(solver="paper", random_state=0, client=client)
    assert model.fit(X, y).fit_report_.status == ["FIXED"]
    assert_array_equal(model.n_iter_, [10])
    assert model.score(X, y) > 0.8
    quick = hssvm.dask.SVC(
        C=1e4, tol=1e-12, max_time=0.5, approximation=HSS(), random_state=0, client=client
    )
    with pytest.warns(ConvergenceWarning, match="max_time"):
        quick.fit(X, y)
    assert quick.fit_report_.status == ["MAX_TIME"]
    assert 0 < quick.n_iter_[0] < 1000
    assert set(quick.predict(X)) == {"in", "out"}


def test_errors_say_what_to_do(client, rng):
    X, y = waves_and_bowls(rng, 3000)
    model = hssvm.dask.SVC(client=client)
    with pytest.raises(NotFittedError):
        model.predict(X)
    with pytest.raises(ValueError, match="at least 2 classes"):
        model.fit(X, np.ones(3000))
    with pytest.raises(ValueError, match="kernel must be one of"):
        clone(model).set_params(kernel="sigmoid").fit(X, y)
    with pytest.raises(ValueError, match="tol must be"):
        clone(model).set_params(tol=-1).fit(X, y)
    with pytest.raises(ValueError, match="C must be"):
        clone(model).set_params(C=-1).fit(X, y)
    with pytest.raises(ValueError, match="class_weight must"):
        clone(model).set_params(class_weight=3).fit(X, y)
    with pytest.raises(ValueError, match="labels that are not in y: 7"):
        clone(model).set_params(class_weight={7: 2.0}).fit(X, y)
    with pytest.raises(ValueError, match="non-integer values"):
        clone(model).fit(X, X[:, 0])
    with pytest.raises(ValueError, match="missing"):
        clone(model).fit(X, np.array([None, *y[1:]], object))
    bad = X.copy()
    bad[17, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        model.fit(bad, y)
    assert model.fit(X, y).client is client
    with pytest.raises(ValueError, match="features"):
        model.predict(X[:, :2])
    with pytest.raises(TypeError, match="to_local"):
        model.__getstate__()
    with pytest.raises(RuntimeError, match="broken kernel"):
        hssvm.dask.SVC(kernel=broken_kernel, client=client).fit(X, y)


def test_nothing_but_the_model_stays(client, rng):
    gc.collect()
    before = in_memory(client)
    X, y = waves_and_bowls(rng, 4000)
    model = hssvm.dask.SVC(C=3, approximation=HSS(n_trees=2), random_state=0, client=client)
    model.fit(X, y)
    wait_for(client, model._model.trained.models)
    time.sleep(1)
    assert set(map(key_split, in_memory(client) - before)) == {"load_model", "CheckpointStore"}
    del model
    gc.collect()
    time.sleep(1)
    assert in_memory(client) <= before


def in_memory(client):
    """Keys of all results and actors that the workers hold."""
    return set().union(*client.run(keys_of).values())


def keys_of(dask_worker):
    return {*dask_worker.state.data, *dask_worker.state.actors}


def broken_kernel(X, Y):
    raise RuntimeError("broken kernel")


@pytest.mark.slow
def test_tls(client, rng):
    X, y = waves_and_bowls(rng, 4000)
    parameters = {"C": 3, "tol": 0.1, "approximation": HSS(n_trees=1), "random_state": 0}
    expected = hssvm.dask.SVC(**parameters, client=client).fit(X, y).decision_function(X)
    security = Security.temporary()
    with (
        start_cluster(2, protocol="tls://", security=security) as cluster,
        Client(cluster, security=security) as secure,
    ):
        assert cluster.scheduler_address.startswith("tls://")
        model = hssvm.dask.SVC(**parameters, client=secure).fit(X, y)
        assert model._model.layout.n_parts == 2
        assert_allclose(model.decision_function(X), expected, atol=1e-6)
