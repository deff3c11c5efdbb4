"""Exact fits on a cluster: the same solution as on one machine, its time, and the messages.

python -m benchmarks.scaling.exact [--sets ijcnn1 cod-rna covtype-50000] [--workers 2 4]
                                   [--tol 1e-5]

Trains on the exact kernel (float64) in this process with two threads, and on clusters of
processes on this machine with one thread each, and prints a row per fit: seconds, the ratio to the
time of the local fit, rounds, the largest relative difference of the dual objective, the gaps of
`certify`, and the kilobytes per round that the first worker sends and receives. `covtype-N` are the
first N rows of covtype; with all 464,810 (float32, --tol 1e-3), a fit takes many minutes.
"""

import argparse

import numpy as np

import hssvm
import hssvm.dask
from benchmarks.datasets import load
from benchmarks.scaling.cluster import cluster
from benchmarks.timing import timed

PARAMETERS = {
    "ijcnn1": ({"C": 10.0, "gamma": 0.5}, "standard"),
    "cod-rna": ({"C": 10.0, "gamma": 1.0}, "standard"),
    "covtype": ({"C": 32.0, "gamma": 8.0}, "minmax"),
}
HEADER = (
    "set, rows",
    "workers",
    "seconds",
    "ratio",
    "rounds",
    "dual",
    "certified gap",
    "kB per round",
)


def refinement_of(model):
    """Communication of one part on the exact kernel."""
    return model.communication["refine"]


def compare(name, workers, tol):
    """Rows of the table for one data set."""
    stem, _, n_rows = name.partition("-") if name.startswith("covtype-") else (name, "", "")
    parameters, scale = PARAMETERS[stem]
    X, y, *_ = load("covtype.binary" if stem == "covtype" else stem, scale=scale)
    X, y = X[: int(n_rows or len(y))], y[: int(n_rows or len(y))]
    X = np.ascontiguousarray(X, np.float32 if len(y) > 100_000 else np.float64)
    parameters = {**parameters, "tol": tol, "refine": True, "random_state": 0}
    local, alone = timed(lambda: hssvm.SVC(**parameters).fit(X, y))
    expected = local.certify(X, y)
    label, rounds = f"{stem} {len(y):,}", int(local.fit_report_.n_rounds.max())
    yield label, "-", f"{alone:.1f}", "1", f"{rounds}", "", f"{expected.gap.max():.1e}", ""
    for n_workers in workers:
        with cluster(n_workers) as client:
            model = hssvm.dask.SVC(**parameters, client=client)
            _, seconds = timed(lambda model=model: model.fit(X, y))
            found = model.certify(X, y)
            first = client.submit(refinement_of, model._model.trained.models[0]).result()
        rounds = int(model.fit_report_.n_rounds.max())
        difference = np.abs(found.dual / expected.dual - 1).max()
        yield (
            label, f"{n_workers}", f"{seconds:.1f}", f"{seconds / alone:.2f}", f"{rounds}",
            f"{difference:.1e}", f"{found.gap.max():.1e}", f"{first.n_bytes / rounds / 1e3:,.0f}",
        )  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=["ijcnn1", "cod-rna", "covtype-50000"])
    parser.add_argument("--workers", nargs="+", type=int, default=[2, 4])
    parser.add_argument("--tol", type=float, default=1e-5)
    arguments = parser.parse_args()
    print("| " + " | ".join(HEADER) + " |\n|" + "---|" * len(HEADER))
    for name in arguments.sets:
        for row in compare(name, arguments.workers, arguments.tol):
            print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
