"""Exact fits on a cluster: the same solution as on one machine, its time, and the messages.

python -m benchmarks.scaling.exact [NAME ...] [--workers 2 4] [--resume] [--render]

Trains on the exact kernel (float64, tol = 1e-5) in this process, and on clusters of processes on
this machine with one thread each. The last set has all rows of covtype.binary (float32, tol = 1e-2,
two workers); its fits take many minutes. *Dual* is the relative difference of the dual objective
from that of the local fit, and the gaps are those of `certify`; the messages are what the first
worker sends and receives. The results go to docs/results/cluster_exact.json. Threads of the local
fit: set OMP_NUM_THREADS.
"""

import numpy as np

import hssvm
import hssvm.dask
from benchmarks.command import parser_of
from benchmarks.command import run as run_command
from benchmarks.datasets import load
from benchmarks.dual import exactly
from benchmarks.markdown import ABSENT, number, prefixes, seconds, setup, table
from benchmarks.scaling.cluster import cluster
from benchmarks.timing import timed

SETS = {
    "ijcnn1": ("ijcnn1", None, "standard", {"C": 10.0, "gamma": 0.5, "tol": 1e-5}),
    "cod-rna": ("cod-rna", None, "standard", {"C": 10.0, "gamma": 1.0, "tol": 1e-5}),
    "covtype.50k": ("covtype.binary", 50_000, "minmax", {"C": 32.0, "gamma": 8.0, "tol": 1e-5}),
    "covtype": ("covtype.binary", None, "minmax", {"C": 32.0, "gamma": 8.0, "tol": 1e-2}),
}
"""Data set, number of its first rows, scaling, and parameters."""

LARGE = "covtype"
ALONE = 0
"""Number of workers without a cluster."""


def load_rows(name):
    """Return X, y and the parameters."""
    stored, n_rows, scale, parameters = SETS[name]
    X, y, *_ = load(stored, scale=scale)
    X = np.ascontiguousarray(X[:n_rows], np.float32 if name == LARGE else np.float64)
    return X, y[:n_rows], {**parameters, "refine": True, "random_state": 0}


def refinement_of(model):
    """Communication of one part on the exact kernel."""
    return model.communication["refine"]


def run(name, n_workers):
    """Figures of one fit."""
    X, y, parameters = load_rows(name)
    if n_workers == ALONE:
        return figures_of(*timed(lambda: hssvm.SVC(**parameters).fit(X, y)), X, y)
    with cluster(n_workers) as client:
        model = hssvm.dask.SVC(**parameters, client=client)
        found = figures_of(*timed(lambda: model.fit(X, y)), X, y)
        first = client.submit(refinement_of, model._model.trained.models[0]).result()
    return {**found, "bytes": first.n_bytes / found["rounds"]}


def figures_of(model, fit, X, y):
    certificate = model.certify(X, y)
    return {
        "rows": len(y),
        "fit": fit,
        "rounds": int(model.fit_report_.n_rounds.max()),
        "duals": [exactly(dual) for dual in np.ravel(certificate.dual)],
        "gap": float(np.max(certificate.gap)),
    }


def key_of(name, n_workers):
    return f"{name}: {n_workers} workers"


def run_all(results, arguments):
    for name in arguments.names:
        for n_workers in (ALONE, *([2] if name == LARGE else arguments.workers)):
            results.measure(key_of(name, n_workers), run, name, n_workers)


def fits_table(results):
    lines = []
    for name in prefixes(results):
        local = results.runs[key_of(name, ALONE)]
        for key, found in results.runs.items():
            if key.startswith(f"{name}: "):
                lines.append([f"{name}, {found['rows']:,}", *cells(found, local, key)])
    head = ["data set, rows", "workers", "fit", "ratio", "rounds", "dual", "certified gap"]
    return table([*head, "kB per round"], lines)


def cells(found, local, key):
    ratio, difference, n_bytes, workers = "1", ABSENT, ABSENT, ABSENT
    if found is not local:
        workers = key.rpartition(": ")[2].split()[0]
        ratio = f"{found['fit'] / local['fit']:.2f}"
        duals, expected = (np.array(run["duals"], float) for run in (found, local))
        difference = f"{np.abs(duals / expected - 1).max():.1e}"
        n_bytes = number(found["bytes"] / 1e3, 3)
    gap = f"{found['gap']:.1e}"
    return workers, seconds(found["fit"]), ratio, f"{found['rounds']}", difference, gap, n_bytes


TABLES = {"setup": setup, "fits": fits_table}


def main():
    parser = parser_of(__doc__)
    parser.add_argument("names", nargs="*", default=list(SETS))
    parser.add_argument("--workers", nargs="+", type=int, default=[2, 4])
    run_command("cluster_exact", parser, run_all, TABLES)


if __name__ == "__main__":
    main()
