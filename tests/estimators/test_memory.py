import json
import os
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from hssvm import SVC, SVR, OneClassSVM, svc_path

CASES = {
    "dense float32, refined": "SVC(refine=True), gauss(20_000, 10).astype('f4'), rings",
    "eight classes": "SVC(refine=False), gauss(15_000, 8).astype('f4'), octants",
}
SLOW_CASES = {
    "dense float64": "SVC(refine=False), gauss(30_000, 20), rings",
    "many features, scaled": "SVC(refine=False, scaling='standard'), gauss(9_000, 400), rings",
    "sparse": "SVC(refine=False), sparse(20_000, 300, 15), topics",
    "sparse and wide": "SVC(refine=False), sparse(20_000, 2**20, 30), topics",
    "sparse and wide, refined": "SVC(refine=True), sparse(20_000, 2**20, 30), topics",
}

SCRIPT = """
import json, sys, warnings
import numpy as np, scipy.sparse
from hssvm import SVC
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
account = model._memory(X, model.dual_coef_.shape[0], model.fit_report_.n_working > 0)
least = account.largest_peak(account.min_cache)
forecast = model.forecast(X, y).memory if limit is None else None
print(json.dumps({"peak": peak, "forecast": forecast, "least": least}))
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
def test_peaks_are_as_forecast_and_within_limits(case, rng):
    seed = int(rng.integers(2**31))
    free = measure(case, seed, None)
    assert free["peak"] / 1.5 < free["forecast"] < 1.5 * free["peak"]
    limit = 1.01 * free["least"]
    assert measure(case, seed, limit)["peak"] < limit


def data(rng, n):
    X = rng.standard_normal((n, 6))
    return X, np.sin(3 * X[:, 0]) > 0


@pytest.mark.parametrize("refine", [False, True])
@pytest.mark.parametrize("estimator", [SVC(), SVR(), OneClassSVM()])
def test_a_fit_beyond_the_limit_is_refused_before_it_begins(estimator, refine, rng, monkeypatch):
    X, y = data(rng, 5000)
    estimator = clone(estimator).set_params(memory_limit=1e6, refine=refine, random_state=0)
    monkeypatch.setattr("hssvm.estimators.base.ClusterTree", None)  # no tree is built
    with pytest.raises(MemoryError, match="lower max_rank or leaf_size"):
        estimator.fit(X, y)
    with pytest.raises(NotFittedError):
        estimator.predict(X)


def test_the_error_names_a_rank_that_fits(rng):
    X, y = data(rng, 6000)
    model = SVC(refine=False, tol=0.1, random_state=0)
    account = model._memory(X, 1, False)
    model.set_params(memory_limit=0.7 * account.largest_peak(0))
    with pytest.raises(MemoryError, match=r"lower max_rank \(to \d+, say\)") as refused:
        model.fit(X, y)
    rank = int(str(refused.value).split("(to ")[1].split(",")[0])
    model.set_params(max_rank=rank).fit(X, y)
    with pytest.raises(MemoryError):
        model.set_params(max_rank=rank + 1).fit(X, y)


def test_a_limit_shrinks_the_working_set(rng):
    X, y = rng.standard_normal((5000, 4)), rng.random(5000) < 0.5
    model = SVC(refine=True, tol=0.1, random_state=0)
    account = model._memory(X, 1, True)
    limit = 1.01 * account.largest_peak(account.min_cache)
    cache = account.cache_within(limit)
    assert account.largest_peak(cache) <= 1.0001 * limit
    limited = model.set_params(memory_limit=limit).fit(X, y).fit_report_.n_working
    assert 0 < 8 * limited**2 <= cache < model.cache_size * 1e6


def test_a_path_counts_its_columns(rng):
    X, y = data(rng, 3000)
    limit = SVC(refine=False)._memory(X, 1, False).largest_peak(0)
    svc_path(X, y, [1.0], memory_limit=limit, tol=0.1, random_state=0)
    with pytest.raises(MemoryError, match="memory_limit"):
        svc_path(X, y, np.logspace(-2, 2, 50), memory_limit=limit, tol=0.1, random_state=0)
