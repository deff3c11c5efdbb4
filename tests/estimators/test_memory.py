import json
import os
import subprocess
import sys
import tempfile
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from hssvm import HSS, SVC, SVR, OneClassSVM, svc_path
from hssvm.training import Route, TrainingConfig
from hssvm.training.plan import DEFAULT_MEMORY

CASES = {
    "dense float32, refined": "SVC(refine=True), gauss(20_000, 10).astype('f4'), rings",
}
SLOW_CASES = {
    "eight classes": "SVC(approximation=HSS(), tol=0.1), gauss(15_000, 8).astype('f4'), octants",
    "dense float64": "SVC(approximation=HSS()), gauss(30_000, 20), rings",
    "many features, scaled": (
        "SVC(approximation=HSS(), scaling='standard'), gauss(9_000, 400), rings"
    ),
    "sparse": "SVC(approximation=HSS()), sparse(20_000, 300, 15), topics",
    "sparse and wide": "SVC(approximation=HSS()), sparse(20_000, 2**20, 30), topics",
    "sparse and wide, refined": "SVC(refine=True), sparse(20_000, 2**20, 30), topics",
}

SCRIPT = """
import json, sys, warnings
import numpy as np, scipy.sparse
from hssvm import HSS, SVC
from hssvm.training import Route
warnings.simplefilter("ignore")
case, seed, limit = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3])
rng = np.random.default_rng(seed)

def gauss(n, p):
    return rng.standard_normal((n, p))

def sparse(n, p, entries):
    global topic
    topic = rng.integers(0, 50, n)
    own = rng.integers(0, p, (50, 60))[topic[:, None], rng.integers(0, 60, (n, entries))]
    columns = np.where(rng.random((n, entries)) < 0.7, own, rng.integers(0, p, (n, entries)))
    ends = np.arange(0, n * entries + 1, entries)
    values = rng.random(n * entries, dtype=np.float32)
    X = scipy.sparse.csr_array((values, columns.ravel(), ends), (n, p))
    X.sum_duplicates()
    return X

rings = lambda X: np.hypot(X[:, 0], X[:, 1]) < 1
topics = lambda X: topic % 2 == 0
octants = lambda X: (X[:, :3] > 0) @ [1, 2, 4]

def status(name):
    with open("/proc/self/status") as file:
        return next(1024 * int(line.split()[1]) for line in file if line.startswith(name))

model, X, target = eval(case)
y = target(X)
model.set_params(random_state=0, memory_limit=limit)
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")  # forget the peak so far
before = status("VmRSS")
model.fit(X, y)
peak = status("VmHWM") - before
route = Route.REFINED if model.fit_report_.n_working > 0 else Route.COMPRESSED
plan = model._config().plan(*X.shape, route=route, sparse=scipy.sparse.issparse(X))
account = plan.memory(X, len(model.dual_coef_))
least = account.largest_peak(account.min_cache)
expected = model.estimate_cost(X, y).memory if limit is None else None
print(json.dumps({"peak": peak, "expected": expected, "least": least}))
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
    assert free["peak"] / 1.5 < free["expected"] < 1.5 * free["peak"]
    limit = 1.01 * free["least"]
    assert measure(case, seed, limit)["peak"] < limit


def data(rng, n):
    X = rng.standard_normal((n, 6))
    return X, np.sin(3 * X[:, 0]) > 0


@pytest.mark.parametrize("refine", [False, True])
@pytest.mark.parametrize("estimator", [SVC(), SVR(), OneClassSVM()])
def test_a_fit_beyond_the_limit_is_refused_before_it_begins(estimator, refine, rng, monkeypatch):
    X, y = data(rng, 5000)
    parameters = {"refine": refine, "approximation": HSS(), "memory_limit": 1e6}
    estimator = clone(estimator).set_params(random_state=0, **parameters)
    monkeypatch.setattr(
        "hssvm.training.routes.forest.compression.ClusterTree", None
    )  # no tree is built
    with pytest.raises(MemoryError, match="lower max_rank or leaf_size"):
        estimator.fit(X, y)
    with pytest.raises(NotFittedError):
        estimator.predict(X)


@pytest.mark.filterwarnings("ignore:Nearly all rows are support vectors")  # of such a low rank
def test_the_error_names_a_rank_that_fits(rng):
    X, y = data(rng, 6000)
    model = SVC(approximation=HSS(n_trees=1), tol=0.1, random_state=0)
    account = model._config().plan(6000, route=Route.COMPRESSED).memory(X, 1)
    model.set_params(memory_limit=0.85 * account.largest_peak(0))
    with pytest.raises(MemoryError, match=r"lower max_rank \(for example, to \d+\)") as refused:
        model.fit(X, y)
    rank = int(str(refused.value).split("for example, to ")[1].split(")")[0])
    model.set_params(approximation=HSS(n_trees=1, max_rank=rank)).fit(X, y)
    model.set_params(approximation=HSS(n_trees=1, max_rank=rank + 2))
    with pytest.raises(MemoryError):
        model.fit(X, y)  # ranks of upper levels are rounded


def test_a_limit_moves_matrix_and_factor_to_disk(rng, monkeypatch, caplog):
    monkeypatch.setattr("hssvm.training.memory.SMALL", 1000)
    monkeypatch.setattr("hssvm.hss.scratch.SMALL", 1000)
    X, y = data(rng, 12_000)
    model = SVC(approximation=HSS(n_trees=2, max_rank=80), tol=0.1, random_state=0)
    account = model._config().plan(12_000, route=Route.COMPRESSED).memory(X, 1)
    on_disk = replace(account, on_disk=True).largest_peak(0)
    assert on_disk < 0.8 * account.largest_peak(0)
    expected = clone(model).fit(X, y).decision_function(X)
    created = []
    monkeypatch.setattr(
        "hssvm.hss.scratch.tempfile.TemporaryFile",
        lambda make=tempfile.TemporaryFile: created.append(make()) or created[-1],
    )
    with caplog.at_level("INFO", "hssvm"):
        model.set_params(memory_limit=1.01 * on_disk).fit(X, y)
    assert_array_equal(model.decision_function(X), expected)
    assert len(created) > 20
    assert "are stored in files" in caplog.text
    with pytest.raises(MemoryError):
        model.set_params(memory_limit=0.99 * on_disk).fit(X, y)


def test_a_limit_shrinks_the_working_set(rng):
    X, y = rng.standard_normal((5000, 4)), rng.random(5000) < 0.5
    model = SVC(refine=True, tol=0.1, random_state=0)
    account = model._config().plan(5000, route=Route.REFINED).memory(X, 1)
    limit = 1.01 * account.largest_peak(account.min_cache)
    cache = account.cache_within(limit)
    assert account.largest_peak(cache) <= 1.0001 * limit
    limited = model.set_params(memory_limit=limit).fit(X, y).fit_report_.n_working
    assert 0 < 8 * limited**2 <= cache < DEFAULT_MEMORY


def test_a_scaled_copy_counts(rng):
    """For the limit, and for what it leaves to the working set."""
    X = rng.standard_normal((5000, 50))
    plain, scaled = (
        SVC(scaling=scaling)._config().plan(5000, route=Route.REFINED)
        for scaling in (None, "standard")
    )
    peak = plain.memory(X, 1).largest_peak(1e6)
    assert scaled.memory(X, 1).largest_peak(1e6) >= X.nbytes + peak
    limit = 1.5 * peak
    caches = [replace(c, memory_limit=limit).cache(X, 1) for c in (plain, scaled)]
    assert caches[0] > caches[1]


def test_a_path_counts_its_columns(rng):
    X, y = data(rng, 3000)
    limit = TrainingConfig().plan(3000, route=Route.COMPRESSED).memory(X, 1).largest_peak(0)
    parameters = {"approximation": HSS(), "memory_limit": limit, "tol": 0.1, "random_state": 0}
    svc_path(X, y, [1.0], **parameters)
    with pytest.raises(MemoryError, match="memory_limit"):
        svc_path(X, y, np.logspace(-2, 2, 50), **parameters)
