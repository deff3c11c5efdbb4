"""Estimators on real clusters of processes, against those on one machine."""

import gc
import time

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from clusters import start_cluster
from dask import delayed
from dask.utils import key_split
from distributed import Client
from distributed.security import Security
from numpy.testing import assert_allclose, assert_array_equal
from parts_in_threads import join_levels
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import r2_score

import hssvm
import hssvm.dask
from hssvm.dask.columns import ClassColumns
from hssvm.dask.description import describe, merge
from hssvm.dask.pieces import Piece
from hssvm.dask.plan import Plan, outside_of
from hssvm.dask.shuffle import join, split
from hssvm.dask.waiting import wait_for
from hssvm.hss import ClusterTree, HSSMatrix, NestedNystroem
from hssvm.hss.parts import compress_part, compress_top, join_trees
from hssvm.hss.tree import depth_for
from hssvm.predict import LeafwisePredictor
from hssvm.problems.parts import ALONE
from hssvm.solvers import ADMM, initial_beta
from hssvm.systems import HSSSystem


def rings(rng, n, p=3):
    X = rng.standard_normal((n, p))
    noise = 0.2 * rng.standard_normal(n)
    return X, np.where(np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + noise > 0.6, "in", "out")


def local_engine(X, y, n_parts, C, gamma, seed, tol, leaf_size=256, max_rank=72):
    """Predictor and intercept of the local engine, on the tree that a cluster makes."""
    labels, codes = np.unique(y, return_inverse=True)
    piece = Piece.of(X, y)
    described = merge([describe(piece, [seed, 0], 10**6, True)], 4000 * n_parts)
    planned = Plan.of(described, n_parts, seed)
    layout = planned.layout
    rows = [join([part]) for part in split(piece, layout, 0, seed)]
    kernel, strategy = hssvm.kernels.Gaussian(gamma), NestedNystroem(max_rank=max_rank)
    depth = depth_for(max(r.ids.size for r in rows), leaf_size)
    matrices, roots = [], []
    for part, own in enumerate(rows):
        tree = ClusterTree.build(own.X, leaf_size, random_state=seed + part, min_depth=depth)
        outside = outside_of(planned, part)
        built = compress_part(kernel, own.X, tree, strategy, outside, random_state=seed + part)
        matrices.append(built[0])
        roots.append(built[1])
    cuts = layout.cuts
    top = compress_top(
        kernel, roots, cuts.slots, planned.X, planned.ends, strategy, depth, random_state=seed
    )
    tree = join_trees(
        cuts.directions, cuts.thresholds, [matrix.tree for matrix in matrices], cuts.slots
    )
    ids = np.concatenate([own.ids for own in rows])
    whole = ClusterTree(
        ids[tree.perm], tree.depth, tree.directions, tree.thresholds, tree.leaf_ends
    )
    levels = [
        join_levels([m.levels[level] for m in matrices], [own.ids for own in rows])
        for level in range(depth + 1)
    ]
    matrix = HSSMatrix(kernel, X, whole, [*top.levels, *levels])
    problem = ClassColumns(np.ones(labels.size), np.array([C])).problem(
        codes, np.ones(X.shape[0]), matrix, ALONE
    )
    system = HSSSystem(matrix, initial_beta(problem, 1.0))
    solution = ADMM(tol).solve(problem, system)
    return LeafwisePredictor(matrix, solution.Z), solution.intercept


@pytest.mark.parametrize("n_workers", [2, 4])
def test_same_decision_values_as_the_local_engine(n_workers, rng, request):
    cluster = request.getfixturevalue("client" if n_workers == 2 else "client4")
    X, y = rings(rng, 6000)
    new, _ = rings(rng, 2000)
    seed = int(rng.integers(1000))
    model = hssvm.dask.SVC(C=3, gamma=0.4, tol=1e-6, random_state=seed, client=cluster).fit(X, y)
    assert model._model.layout.n_parts == n_workers
    draw = hssvm.SVC(random_state=seed)._seed()
    predictor, intercept = local_engine(X, y, n_workers, 3, 0.4, draw, 1e-6)
    expected = (predictor(new) + intercept)[:, 0]
    assert_allclose(model.decision_function(new), expected, atol=1e-6)
    assert_allclose(model.to_local().decision_function(new), expected, atol=1e-6)
    assert model.fit_report_.gap[0] <= 1e-6


def test_one_worker_is_the_local_estimator(rng):
    X, y = rings(rng, 5000)
    new, _ = rings(rng, 500)
    w = rng.uniform(0.5, 2, 5000)
    with start_cluster(1) as cluster, Client(cluster):
        model = hssvm.dask.SVC(C=2, gamma=0.3, random_state=3).fit(X, y, w)
        gathered = model.to_local()
        values = model.decision_function(new)
    local = hssvm.SVC(C=2, gamma=0.3, refine=False, random_state=3).fit(X, y, w)
    assert_allclose(values, local.decision_function(new), atol=1e-6)
    assert_array_equal(model.n_iter_, local.n_iter_)
    assert_array_equal(gathered.support_, local.support_)
    assert_allclose(gathered.dual_coef_, local.dual_coef_, atol=1e-6)
    assert_array_equal(gathered.n_support_, local.n_support_)


@pytest.mark.parametrize("n_parts", [3, 4])
def test_close_to_the_local_estimator(n_parts, client4, rng, monkeypatch):
    """Another tree, and another compression, but the same accuracy."""
    workers = hssvm.dask.fit.live_workers
    monkeypatch.setattr(hssvm.dask.fit, "live_workers", lambda client: workers(client)[:n_parts])
    X, y = rings(rng, 8000)
    new, truth = rings(rng, 4000)
    model = hssvm.dask.SVC(C=3, random_state=0, client=client4).fit(X.astype(np.float32), y)
    assert model._model.layout.n_parts == n_parts
    local = hssvm.SVC(C=3, random_state=0, refine=False).fit(X.astype(np.float32), y)
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


def test_every_kind_of_input_is_the_same(client, rng, tmp_path):
    X, y = rings(rng, 4000)
    w = rng.uniform(0.5, 2, 4000)
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
        model = hssvm.dask.SVC(C=3, tol=1e-7, random_state=1, client=client).fit(*data)
        values[name] = model.decision_function(X[:100])
        assert_array_equal(model.classes_, ["in", "out"])
    for name, found in values.items():
        # other samples, other cuts: another compression of the same matrix
        assert np.mean(np.sign(found) == np.sign(values["numpy"])) > 0.9, name
    assert_array_equal(client.compute(model.predict(blocks[0])).result(), model.predict(X))
    assert_array_equal(
        client.compute(model.predict(frames[list("abc")])).result(), model.predict(X)
    )
    frame_model = hssvm.dask.SVC(C=3, random_state=1, client=client).fit(frames, "label", "weight")
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
    y = np.digitize(X[:, 0] + X[:, 1], [-0.7, 0.7])
    rows = [scipy.sparse.csr_array(X[i : i + 1000]) for i in range(0, 5000, 1000)]
    pieces = [delayed((r, y[1000 * i : 1000 * (i + 1)])) for i, r in enumerate(rows)]
    model = hssvm.dask.SVC(C=10, class_weight="balanced", random_state=0, client=client)
    model.fit(pieces)
    local = model.to_local()
    new = rng.standard_normal((1000, 4))
    truth = np.digitize(new[:, 0] + new[:, 1], [-0.7, 0.7])
    assert model.decision_function(new).shape == (1000, 3)
    assert np.mean(model.predict(scipy.sparse.csr_array(new)) == truth) > 0.93
    assert_allclose(local.decision_function(new), model.decision_function(new), atol=1e-6)
    assert_array_equal(local.predict(new), model.predict(new))
    assert local.n_support_.sum() == local.support_.size
    assert_array_equal(local.support_vectors_.toarray(), X[local.support_])
    local.save(tmp_path / "model")
    loaded = hssvm.load(tmp_path / "model")
    assert_array_equal(loaded.decision_function(new), local.decision_function(new))


def test_regression(client, rng):
    X = rng.uniform(-3, 3, (6000, 2))
    y = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + 0.05 * rng.standard_normal(6000)
    w = rng.uniform(0, 2, 6000)
    model = hssvm.dask.SVR(C=10, epsilon=0.05, random_state=0, client=client)
    model.fit(da.from_array(X, chunks=(1500, 2)), da.from_array(y, chunks=1500))
    local = hssvm.SVR(C=10, epsilon=0.05, random_state=0, refine=False).fit(X, y)
    assert model.score(X, y) > local.score(X, y) - 0.01
    assert model.score(X, y, w) == pytest.approx(r2_score(y, model.predict(X), sample_weight=w))
    assert_allclose(model.to_local().predict(X), model.predict(X), atol=1e-8)
    with pytest.raises(ValueError, match="needs y"):
        clone(model).fit(X)


def test_novelty(client, rng):
    X = rng.standard_normal((6000, 2))
    model = hssvm.dask.OneClassSVM(nu=0.2, random_state=0, client=client).fit(X)
    assert np.mean(model.predict(X) == -1) == pytest.approx(0.2, abs=0.02)
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


def test_targets_beyond_the_precision_of_the_rows(client, rng):
    X = rng.standard_normal((5000, 2)).astype(np.float32)
    with pytest.raises(ValueError, match="y has values up to 1e\\+39, too large for float32"):
        hssvm.dask.SVR(client=client).fit(X, np.where(X[:, 0] > 0, 1e39, 0.0))


def test_path(client, rng):
    X, y = rings(rng, 5000)
    Cs = [0.1, 1.0, 10.0]
    path = hssvm.dask.svc_path(X, y, Cs, random_state=0, client=client)
    assert (path.report.gap <= 1e-3).all()
    local = hssvm.svc_path(X, y, Cs, random_state=0)
    new, truth = rings(rng, 3000)
    accuracy = (path.predict(new) == truth[:, None]).mean(axis=0)
    assert (accuracy > (local.predict(new) == truth[:, None]).mean(axis=0) - 0.02).all()
    gathered = path.to_local()
    assert_array_equal(gathered.predict(new), path.predict(new))
    assert_array_equal(
        client.compute(path.predict(da.from_array(new, chunks=(500, 3)))).result(),
        path.predict(new),
    )
    assert gathered.dual_coef.shape == (5000, 3)
    with pytest.raises(ValueError, match="two classes"):
        hssvm.dask.svc_path(X, np.digitize(X[:, 0], [-1, 1]), Cs, client=client)
    with pytest.raises(ValueError, match="non-empty sequence"):
        hssvm.dask.svc_path(X, y, client=client)
    with pytest.raises(TypeError, match="see Cs"):
        hssvm.dask.svc_path(X, y, Cs, C=3)


def test_the_paper_setting_and_time(client, rng):
    X, y = rings(rng, 4000)
    model = hssvm.dask.SVC(tol=None, max_iter=10, beta="paper", random_state=0, client=client)
    assert model.fit(X, y).fit_report_.status == ["FIXED"]
    quick = hssvm.dask.SVC(C=1e4, tol=1e-12, max_time=0.5, random_state=0, client=client)
    with pytest.warns(ConvergenceWarning, match="max_time"):
        quick.fit(X, y)
    assert quick.fit_report_.status == ["MAX_TIME"]
    assert 0 < quick.n_iter_[0] < 1000


def test_errors_say_what_to_do(client, rng):
    X, y = rings(rng, 3000)
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
    with pytest.raises(ValueError, match="labels that y has not"):
        clone(model).set_params(class_weight={7: 2.0}).fit(X, y)
    with pytest.raises(ValueError, match="fractions"):
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
    X, y = rings(rng, 4000)
    model = hssvm.dask.SVC(C=3, random_state=0, client=client).fit(X, y)
    wait_for(client, model._model.trained.models)
    time.sleep(1)
    assert set(map(key_split, in_memory(client) - before)) == {"take_model", "Shelf"}
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


def test_tls(rng):
    X, y = rings(rng, 4000)
    security = Security.temporary()
    with (
        start_cluster(2, protocol="tls://", security=security) as cluster,
        Client(cluster, security=security) as client,
    ):
        assert cluster.scheduler_address.startswith("tls://")
        model = hssvm.dask.SVC(C=3, random_state=0, client=client).fit(X, y)
        assert model._model.layout.n_parts == 2
        assert model.score(X, y) > 0.9
