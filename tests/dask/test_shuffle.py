import os
import time
import tracemalloc

import dask
import numpy as np
import psutil
import pytest
import scipy.sparse
from dask import delayed
from dask.utils import key_split
from distributed import wait
from numpy.testing import assert_array_equal

from hssvm.dask.partitions import Partition, as_partitions
from hssvm.dask.plan import Plan, outside_of, plan
from hssvm.dask.shuffle import collect_parts, join, split
from hssvm.dask.summary import describe, merge


def make_rows(i, n=300, sparse=False, pause=0.0):
    """One partition, the same every time."""
    time.sleep(pause)
    rng = np.random.default_rng(i)
    X = (rng.standard_normal((n + i, 4)) * 10 + 3).astype(np.float32)
    if sparse:
        X = scipy.sparse.csr_array(X * (rng.random(X.shape) < 0.3))
    return X, rng.choice(["a", "b", "c"], n + i), rng.random(n + i)


def serial_parts(triples, n_parts, seed, scaling, classify=True):
    """The same parts, one step after the other."""
    partitions = [Partition.of(*triple) for triple in triples]
    n_keep = 4000 * n_parts
    described = [describe(p, [seed, i], n_keep, classify) for i, p in enumerate(partitions)]
    planned = Plan.of(merge(described, n_keep), n_parts, seed, scaling)
    offsets = planned.layout.offsets
    chunks = [split(p, planned.layout, offsets[i], seed) for i, p in enumerate(partitions)]
    return planned, [join(column) for column in zip(*chunks, strict=True)]


def assert_same(part, expected):
    X, Y = (p.X.toarray() if scipy.sparse.issparse(p.X) else p.X for p in (part, expected))
    assert_array_equal(X, Y)
    assert X.dtype == Y.dtype
    for name in ("y", "weight", "ids"):
        assert_array_equal(getattr(part, name), getattr(expected, name))


def owners_of(client, n_parts):
    workers = list(client.nthreads())
    return [workers[j % len(workers)] for j in range(n_parts)]


def restrictions(keys, dask_scheduler):
    tasks = [dask_scheduler.tasks[key] for key in keys]
    return [(task.worker_restrictions, task.loose_restrictions) for task in tasks]


def fetched(dask_worker):
    return [key for log in dask_worker.transfer_incoming_log for key in log["keys"]]


MOVES = {"tasks": 10**9, "P2P": 0}
"""Number of chunks up to which each is a task."""


@pytest.mark.parametrize(("n_parts", "move"), [(1, "tasks"), (4, "tasks"), (3, "P2P")])
@pytest.mark.parametrize("sparse", [False, True])
def test_parts_are_those_of_one_process(n_parts, move, sparse, client4, rng, monkeypatch):
    monkeypatch.setattr("hssvm.dask.shuffle.MAX_CHUNK_TASKS", MOVES[move])
    seed = int(rng.integers(2**31))
    partitions = as_partitions(client4, [delayed(make_rows)(i, sparse=sparse) for i in range(40)])
    layout, planned = plan(
        client4, partitions, n_parts, seed=seed, scaling="standard", classify=True
    )
    owners = owners_of(client4, n_parts)
    futures = collect_parts(client4, partitions, layout, owners, seed)
    wait(futures)
    found = client4.run_on_scheduler(restrictions, [future.key for future in futures])
    assert found == [({owner}, True) for owner in owners]
    triples = [make_rows(i, sparse=sparse) for i in range(40)]
    serial, expected = serial_parts(triples, n_parts, seed, "standard")
    for part, other in zip(client4.gather(futures), expected, strict=True):
        assert_same(part, other)
        assert abs(part.ids.size * n_parts / layout.n_rows - 1) < 0.1
    if n_parts == 1:
        assert_array_equal(expected[0].ids, np.arange(layout.n_rows))
    for j in range(n_parts):
        outside = client4.submit(outside_of, planned, j, 50).result()
        assert_array_equal(outside.ends, outside_of(serial, j, 50).ends)


def test_targets_of_regression_and_none(client, rng):
    X = rng.standard_normal((100, 2))
    for y in (rng.integers(0, 9, 100), None):
        partitions = as_partitions(client, X, y)
        layout, _ = plan(client, partitions, 2)
        assert layout.classes is None
        for part in client.gather(
            collect_parts(client, partitions, layout, owners_of(client, 2), 0)
        ):
            assert part.weight is None
            if y is None:
                assert part.y is None
            else:
                assert part.y.dtype == np.float64
                assert_array_equal(part.y, y[part.ids])


@pytest.mark.parametrize("n_parts", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("sparse", [False, True])
def test_outside_rows_are_of_the_siblings(n_parts, sparse, rng):
    triples = [make_rows(i) for i in range(20)]
    if sparse:
        triples = [(scipy.sparse.csr_array(X), y, weight) for X, y, weight in triples]
    planned, _ = serial_parts(triples, n_parts, 1, None)
    splits, per_level = planned.layout.splits, 70
    for part, slot in enumerate(splits.slots):
        outside = outside_of(planned, part, per_level)
        assert outside.X.shape[0] == outside.ends[-1]
        assert outside.X.dtype == np.float32
        assert outside.ends.shape == (splits.depth + 1,)
        for level in range(1, splits.depth + 1):
            width = 2 ** (splits.depth - level)
            sibling = slot // width ^ 1
            rows = outside.X[outside.ends[level - 1] : outside.ends[level]]
            at = splits.slots[splits.route(rows)]
            assert_array_equal(at // width, np.full(at.size, sibling))
            filled = np.isin(splits.slots // width, sibling).any()
            assert rows.shape[0] == (per_level if filled else 0)
            # Evenly spaced: every slot of the sibling is seen, in equal shares.
            counts = np.bincount(at, minlength=2**splits.depth)[splits.slots]
            counts = counts[splits.slots // width == sibling]
            if filled:
                assert counts.min() > 0.8 * per_level / counts.size


def test_only_chunks_travel(client):
    partitions = as_partitions(client, [delayed(make_rows)(i, n=5000) for i in range(30)])
    layout, _ = plan(client, partitions, 4, classify=True)
    before = {worker: len(keys) for worker, keys in client.run(fetched).items()}
    wait(collect_parts(client, partitions, layout, owners_of(client, 4), 0))
    keys = [k for worker, keys in client.run(fetched).items() for k in keys[before[worker] :]]
    tasks = {key_split(key) for key in keys}
    assert "split-shuffle" in tasks
    assert "cut" not in tasks


def test_many_chunks_are_no_tasks():
    """As many as partitions and parts: 1,000 partitions and 100 parts have less than 5,000."""
    n_partitions, n_parts = 300, 30
    names = set()

    class Layout:
        offsets = np.arange(n_partitions + 1)

    Layout.n_parts = n_parts

    class Spy:
        def compute(self, parts):
            for part in dask.optimize(*parts):
                names.update(part.__dask_graph__())

    partitions = [delayed(make_rows)(i) for i in range(n_partitions)]
    collect_parts(Spy(), partitions, Layout, ["tcp://127.0.0.1:1"] * n_parts, 0)
    assert n_partitions < len(names) - n_partitions < 4.5 * n_partitions + 4 * n_parts


def test_no_rows_and_no_weight(client):
    empty = [delayed((np.empty((0, 2)), np.empty(0)))] * 2
    with pytest.raises(ValueError, match="no rows"):
        plan(client, as_partitions(client, empty), 2)
    zero = np.zeros(10)
    with pytest.raises(ValueError, match="zero for all rows"):
        plan(client, as_partitions(client, np.ones((10, 2)), zero, zero), 2)
    partitions = as_partitions(client, np.ones((10, 2)))
    with pytest.raises(ValueError, match="n_parts must be at least 1"):
        plan(client, partitions, 0)
    layout, _ = plan(client, partitions, 2, min_part_rows=6)
    assert layout.n_parts == 1
    layout, _ = plan(client, partitions, 2, min_part_rows=5)
    with pytest.raises(ValueError, match="expected 2 owners"):
        collect_parts(client, partitions, layout, ["tcp://127.0.0.1:1"], 0)
    with pytest.raises(ValueError, match="expected the 1 partitions of the plan, got 2"):
        collect_parts(client, partitions * 2, layout, owners_of(client, 2), 0)


def test_empty_partitions_may_be_of_any_kind(client, rng):
    X = rng.standard_normal((100, 2)).astype(np.float32)
    items = [(np.empty((0, 3)), None), (X, X[:, 0] > 0), (scipy.sparse.csr_array((0, 2)), [])]
    partitions = as_partitions(client, [delayed(item, traverse=False) for item in items])
    layout, _ = plan(client, partitions, 1)
    assert (layout.dtype, layout.sparse, layout.has_y) == (np.float32, False, True)
    (part,) = client.gather(collect_parts(client, partitions, layout, owners_of(client, 1), 0))
    assert_array_equal(part.X, X)


def test_the_driver_holds_no_rows(client):
    partitions = as_partitions(client, [delayed(make_rows)(i, n=200_000) for i in range(12)])
    n_bytes = 12 * 200_000 * (4 * 4 + 8)
    tracemalloc.start()
    try:
        layout, _ = plan(client, partitions, 2, scaling="minmax", classify=True)
        wait(collect_parts(client, partitions, layout, owners_of(client, 2), 0))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 0.1 * n_bytes


def kill(client, worker):
    pid = client.run(os.getpid, workers=[worker])[worker]
    psutil.Process(pid).kill()


@pytest.mark.slow
@pytest.mark.parametrize("move", ["tasks", "P2P"])
def test_parts_survive_their_workers(mortal, move, monkeypatch):
    monkeypatch.setattr("hssvm.dask.shuffle.MAX_CHUNK_TASKS", MOVES[move])
    triples = [make_rows(i) for i in range(16)]
    columns = (np.concatenate(column) for column in zip(*triples, strict=True))
    partitions = as_partitions(mortal, [delayed(make_rows)(i, pause=0.1) for i in range(16)])
    layout, _ = plan(mortal, partitions, 3, seed=5, classify=True)
    _, expected = serial_parts(triples, 3, 5, None)
    owners = owners_of(mortal, 3)
    futures = collect_parts(mortal, partitions, layout, owners, 5)
    time.sleep(0.4)
    kill(mortal, owners[0])
    assert not all(future.done() for future in futures)
    for part, other in zip(mortal.gather(futures), expected, strict=True):
        assert_same(part, other)

    # Rows of the driver are lost with no worker either, nor with the partitions.
    here = as_partitions(mortal, *columns)
    layout, _ = plan(mortal, here, 3, seed=5, classify=True)
    more = collect_parts(mortal, here, layout, owners_of(mortal, 3), 5)
    before = mortal.gather(more)
    del here
    holder = mortal.who_has(futures)[futures[0].key][0]
    kill(mortal, holder)
    while holder in mortal.nthreads():
        time.sleep(0.05)
    for part, other in zip(mortal.gather(futures), expected, strict=True):
        assert_same(part, other)
    for part, other in zip(mortal.gather(more), before, strict=True):
        assert_same(part, other)
