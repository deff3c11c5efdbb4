"""The Tanimoto kernel on molecular fingerprints, beside a Gaussian kernel and a random forest.

python -m benchmarks.kernels.fingerprints [--resume] [--render]

Compares the model on 10,000 molecules of HIV (MoleculeNet, 2,048 bits) with scikit-learn's on the
precomputed matrix; trains models on 80 % of the 41,120 molecules, for the ROC AUC on the others;
and trains on 100,000 random fingerprints in a process of its own, for the peak of memory. The
results go to docs/results/fingerprints.json. Threads: set OMP_NUM_THREADS.
"""

import numpy as np
import scipy.sparse
from sklearn import svm
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from benchmarks.command import parser_of
from benchmarks.command import run as run_command
from benchmarks.datasets import load, narrow
from benchmarks.dual import below, dual_of
from benchmarks.limit import limited
from benchmarks.markdown import gigabytes, percent, runs_table, seconds, setup
from benchmarks.memory import peak_bytes
from benchmarks.timing import timed
from hssvm import HSS, SVC
from hssvm.kernels import Tanimoto

N_EXACT, N_TEST, N_LARGE, N_LARGE_TEST = 10_000, 2000, 100_000, 5000
LIMIT = 3600
BALANCED = {"class_weight": "balanced"}
MODELS = {
    "Tanimoto, exact": lambda: SVC(1.0, kernel="tanimoto", refine=True, **BALANCED),
    "Tanimoto, 4 trees": lambda: tanimoto_trees(4),
    "Tanimoto, 1 tree": lambda: tanimoto_trees(1),
    "Gaussian, exact": lambda: SVC(1.0, gamma="scale", refine=True, **BALANCED),
    "random forest of 500 trees": lambda: RandomForestClassifier(
        500, n_jobs=-1, random_state=0, **BALANCED
    ),
}
LARGE = {"exact": {"refine": True}, "forest": {"approximation": HSS()}}


def tanimoto_trees(n_trees):
    options = {"approximation": HSS(n_trees=n_trees), "random_state": 0}
    return SVC(1.0, kernel="tanimoto", **options, **BALANCED)


def hiv():
    X, y, test_X, test_y = load("hiv")
    X = X if test_X is None else scipy.sparse.vstack([X, test_X])
    y = y if test_y is None else np.concatenate([y, test_y])
    return narrow(X.astype(np.float32)), np.asarray(y)


def same_solution():
    """Our solution beside scikit-learn's on the precomputed matrix."""
    X, y = hiv()
    chosen = np.random.default_rng(0).permutation(y.size)[: N_EXACT + N_TEST]
    train, test = chosen[:N_EXACT], chosen[N_EXACT:]
    X, kernel = X.astype(np.float64), Tanimoto()
    model = SVC(1.0, kernel=kernel, tol=1e-5, **BALANCED)
    _, fit = timed(lambda: model.fit(X[train], y[train]))
    K, block = timed(lambda: kernel.block(X[train]))
    theirs = svm.SVC(kernel="precomputed", tol=1e-5, cache_size=2000, **BALANCED)
    _, their_fit = timed(lambda: theirs.fit(K, y[train]))
    ours, dual = (dual_of(m, kernel, X[train], y[train]) for m in (model, theirs))
    labels = theirs.predict(kernel.block(X[test], X[train]))
    return {
        "rows": len(train),
        "fit": fit,
        "matrix": block,
        "rival fit": their_fit,
        "dual": abs(below(ours, dual)),
        "same": 100 * float(np.mean(model.predict(X[test]) == labels)),
    }


def score(name):
    """ROC AUC of one model."""
    X, y = hiv()
    train, test = train_test_split(np.arange(y.size), test_size=0.2, stratify=y, random_state=0)
    model = MODELS[name]()
    _, fit = timed(lambda: model.fit(X[train], y[train]))
    if isinstance(model, SVC):
        values = model.decision_function(X[test])
    else:
        values = model.predict_proba(X[test])[:, 1]
    return {"fit": fit, "auc": float(roc_auc_score(y[test], values))}


def random_fingerprints(n, rng):
    """Fingerprints around 500 scaffolds of 40 of 2,048 bits, with bits flipped and added."""
    scaffolds = np.array([rng.choice(2048, 40, replace=False) for _ in range(500)])
    family = rng.integers(500, size=n)
    kept = rng.random((n, 40)) < 0.7
    rows = np.repeat(np.arange(n), kept.sum(axis=1))
    columns = scaffolds[family][kept]
    noise = rng.integers(0, 2048, (n, 15))
    rows = np.concatenate([rows, np.repeat(np.arange(n), 15)])
    columns = np.concatenate([columns, noise.ravel()])
    X = scipy.sparse.csr_array((np.ones(rows.size, np.float32), (rows, columns)), shape=(n, 2048))
    X.sum_duplicates()
    X.data[:] = 1
    active = rng.random(500) < 0.3
    return X, active[family] ^ (rng.random(n) < 0.05)


def large(kind):
    """Time and memory of one fit of random fingerprints."""
    X, y = random_fingerprints(N_LARGE + N_LARGE_TEST, np.random.default_rng(0))
    options = {"memory_limit": "3GB", "random_state": 0, **LARGE[kind]}
    model = SVC(1.0, kernel="tanimoto", **options)
    _, fit = timed(lambda: model.fit(X[:N_LARGE], y[:N_LARGE]))
    accuracy = 100 * float(model.score(X[N_LARGE:], y[N_LARGE:]))
    return {"rows": N_LARGE, "fit": fit, "accuracy": accuracy, "peak": peak_bytes()}


def run_all(results, arguments):
    results.measure("same solution", same_solution)
    for name in MODELS:
        results.measure(f"HIV: {name}", score, name)
    for kind in LARGE:
        results.measure(f"random: {kind}", limited, LIMIT, large, kind)


def models_table(results):
    found = {name: results.runs.get(f"HIV: {name}", {}) for name in MODELS}
    columns = {"ROC AUC on the others": ("auc", "{:.3f}".format), "fit": ("fit", seconds)}
    return runs_table("model, trained on 80 % of the molecules", columns, found)


def large_table(results):
    found = {kind: results.runs.get(f"random: {kind}", {}) for kind in LARGE}
    columns = {
        "rows": ("rows", "{:,}".format),
        "fit": ("fit", seconds),
        "accuracy, %": ("accuracy", percent),
        "peak memory": ("peak", gigabytes),
    }
    return runs_table("random fingerprints", columns, found)


TABLES = {"setup": setup, "models": models_table, "large": large_table}


def main():
    run_command("fingerprints", parser_of(__doc__), run_all, TABLES)


if __name__ == "__main__":
    main()
