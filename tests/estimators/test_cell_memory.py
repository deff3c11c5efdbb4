"""The memory of cells: as the model says, and within limits that do not change the model."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse
from helpers.rows import stripes
from numpy.testing import assert_array_equal
from threadpoolctl import threadpool_limits

from hssvm import SVC, Cells
from hssvm.training import Route, TrainingConfig
from hssvm.training.plan import CELLS_SHARE, DEFAULT_MEMORY

CASES = {
    "dense": "SVC(approximation=Cells(2000, 2)), gauss(20_000, 10)",
}
SLOW_CASES = {
    "float32": "SVC(approximation=Cells(4000)), gauss(30_000, 100).astype('f4')",
    "folds": "SVC(approximation=Cells(500), out_of_fold=True), gauss(60_000, 4)",
    "many trees, scaled": "SVC(approximation=Cells(500, 20), scaling='standard'), gauss(90_000, 4)",
    "sparse": "SVC(approximation=Cells(500)), sparse(40_000, 300, 15)",
    "sparse and wide": "SVC(approximation=Cells(2000)), sparse(20_000, 2**18, 30)",
    "sparse, folds": "SVC(approximation=Cells(1000), out_of_fold=True), sparse(20_000, 2**18, 30)",
}

SCRIPT = """
import json, sys, warnings
import numpy as np, scipy.sparse
from hssvm import SVC, Cells
warnings.simplefilter("ignore")
case, seed, limit = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3])
rng = np.random.default_rng(seed)

def gauss(n, p):
    return rng.standard_normal((n, p))

def sparse(n, p, entries):
    columns, ends = rng.integers(0, p, n * entries), np.arange(0, n * entries + 1, entries)
    X = scipy.sparse.csr_array((rng.random(columns.size, np.float32), columns, ends), (n, p))
    X.sum_duplicates()
    return X

def status(name):
    with open("/proc/self/status") as file:
        return next(1024 * int(line.split()[1]) for line in file if line.startswith(name))

model, X = eval(case)
y = rng.random(X.shape[0]) < 0.5  # nearly all rows are support vectors
model.set_params(random_state=0, memory_limit=limit)
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")  # forget the peak so far
before = status("VmRSS")
model.fit(X, y)
peak = status("VmHWM") - before
expected = model.estimate_cost(X, y).memory if limit is None else None
print(json.dumps({"peak": peak, "expected": expected, "n_cells": model.fit_report_.n_cells}))
"""


def measure(case, seed, limit):
    command = [sys.executable, "-c", SCRIPT, case, str(seed), json.dumps(limit)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


@pytest.mark.skipif(
    not os.access("/proc/self/clear_refs", os.W_OK), reason="the peak is that of Linux's /proc"
)
@pytest.mark.parametrize(
    "case",
    [
        *(pytest.param(case, id=name) for name, case in CASES.items()),
        *(pytest.param(case, id=name, marks=pytest.mark.slow) for name, case in SLOW_CASES.items()),
    ],
)
def test_peaks_are_as_estimated_and_within_limits(case, rng):
    seed = int(rng.integers(2**31))
    free = measure(case, seed, None)
    assert free["peak"] < free["expected"] < 1.8 * free["peak"]
    limited = measure(case, seed, free["expected"])
    assert limited["peak"] < free["expected"]
    assert limited["n_cells"] == free["n_cells"]


def wide_rows(rng, n, p=2**18, entries=30):
    columns, ends = rng.integers(0, p, n * entries), np.arange(0, n * entries + 1, entries)
    X = scipy.sparse.csr_array((rng.random(columns.size, np.float32), columns, ends), (n, p))
    X.sum_duplicates()
    return X


@pytest.mark.filterwarnings("ignore:Nearly all rows are support vectors")
def test_sparse_rows_count_without_their_zeros(rng):
    X, y = wide_rows(rng, 4000), rng.random(4000) < 0.5
    model = SVC(approximation=Cells(2000, 1), memory_limit="80MB", random_state=0)
    assert model.fit(X, y).fit_report_.n_cells == 2


@pytest.fixture
def n_threads_of_loops(monkeypatch):
    """The numbers of threads of the loops over cells."""
    numbers = []
    monkeypatch.setattr(
        "hssvm.training.routes.exact.parts.call_with_threads",
        lambda n_threads, function, *args: numbers.append(n_threads) or function(*args),
    )
    return numbers


def test_a_limit_leaves_fewer_cells_at_a_time(n_threads_of_loops, rng):
    X, y = stripes(rng, 8000)
    config = TrainingConfig(approximation=Cells(1000))
    cells = config.plan(*X.shape, route=Route.CELLS).cell_memory(X, 1)
    model = SVC(approximation=Cells(1000), random_state=0)
    with threadpool_limits(4):
        for n_threads in (1, 2, 3, 4):
            n_threads_of_loops.clear()
            limit = 1.0001 * cells.peak(1000, n_threads)
            assert model.set_params(memory_limit=limit).fit(X, y).fit_report_.n_cells == 8
            assert set(n_threads_of_loops) == {n_threads}
        n_threads_of_loops.clear()
        model.set_params(memory_limit=None).fit(X, y)
        assert set(n_threads_of_loops) == {4}
    with pytest.raises(MemoryError):
        model.set_params(memory_limit=0.9999 * cells.peak(1000)).fit(X, y)


def test_without_a_limit_cells_have_a_share_of_the_memory(n_threads_of_loops, rng, monkeypatch):
    X, y = stripes(rng, 2400)
    plan = TrainingConfig(approximation=Cells(300)).plan(*X.shape, route=Route.CELLS)
    for installed, cache in [
        (None, DEFAULT_MEMORY),
        (1e9, DEFAULT_MEMORY),
        (1e12, CELLS_SHARE * 1e12),
    ]:
        monkeypatch.setattr("hssvm.training.plan.installed_memory", lambda found=installed: found)
        assert plan.cache(X, 1) == cache
    large = TrainingConfig(approximation=Cells(80_000)).plan(80_000, route=Route.CELLS)
    monkeypatch.setattr("hssvm.training.plan.installed_memory", lambda: None)
    assert large.cache(X, 1) == 80_000**2 * 8
    monkeypatch.setattr("hssvm.training.plan.DEFAULT_MEMORY", 2.5 * 300**2 * 8)
    with threadpool_limits(4):
        SVC(approximation=Cells(300), random_state=0).fit(X, y)
    assert set(n_threads_of_loops) == {2}


@pytest.mark.parametrize("steps", [20_000, 1])  # with 1, cells are solved again one by one
@pytest.mark.parametrize("limit", ["40MB", "22MB"])
def test_the_model_does_not_depend_on_the_threads(limit, steps, rng, monkeypatch):
    monkeypatch.setattr("hssvm.training.routes.exact.parts.BATCHED_STEPS", steps)
    monkeypatch.setattr("hssvm.training.routes.exact.parts.STEPS_PER_ROW", steps)
    X, y = stripes(rng, 10_000)
    model = SVC(approximation=Cells(n_trees=1), memory_limit=limit, random_state=0)
    models = []
    for n_threads in (1, 2, 4):
        with threadpool_limits(n_threads):
            model.fit(X, y)
        models.append((model.fit_report_.n_cells, model.decision_function(X[:500])))
    for n_cells, values in models[1:]:
        assert n_cells == models[0][0]
        assert_array_equal(values, models[0][1])
