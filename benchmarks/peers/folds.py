"""10 folds x 50 values of C: SVCCV beside TorchKM, which approximates the kernel by Nystroem.

python -m benchmarks.peers.folds [NAME ...] [--folds 10] [--Cs 50] [--limit 600] [--alone]

Both get the same rows and values of C, and as many threads. TorchKM (pip install torchkm) has its
defaults for large data, 2,000 landmarks and a gamma of its own, and is stopped after --limit
seconds. *Published*
is what its authors report for an L40S GPU. Threads: set OMP_NUM_THREADS.
"""

import argparse

import numpy as np
import scipy.sparse

from benchmarks.datasets import narrow
from benchmarks.limit import limited
from benchmarks.peers.settings import load_setting
from benchmarks.timing import timed
from hssvm import SVCCV

PUBLISHED = {"a9a": (85.1, 17.9), "w8a": (98.1, 20.8), "ijcnn1": (98.2, 27.4)}
"""Accuracy in percent, and seconds."""


def run_hssvm(name, n_folds, n_Cs):
    (X, y, X_test, y_test), parameters = load_setting(name)
    model = SVCCV(
        np.logspace(-3, 3, n_Cs), gammas=[parameters["gamma"]], cv=n_folds, random_state=0
    )
    _, seconds = timed(lambda: model.fit(narrow(X), y))
    rows = " ".join(map(str, np.unique(model.cv_results_["n_resources"])))
    return {
        "seconds": seconds,
        "score": 100 * model.score(narrow(X_test), y_test),
        "C": model.C_,
        "notes": f"rounds of {rows} rows",
    }


def run_torchkm(name, n_folds, n_Cs):
    from torchkm import TorchKMSVC

    (X, y, X_test, y_test), _ = load_setting(name)
    X, X_test = (rows.toarray() if scipy.sparse.issparse(rows) else rows for rows in (X, X_test))
    signs, test_signs = (np.where(labels == np.max(y), 1, -1) for labels in (y, y_test))
    model = TorchKMSVC(
        Cs=np.logspace(-3, 3, n_Cs),
        cv=n_folds,
        low_rank=True,
        device="cpu",
        random_state=0,
    )
    _, seconds = timed(lambda: model.fit(X, signs))
    return {
        "seconds": seconds,
        "score": 100 * float(np.mean(model.predict(X_test) == test_signs)),
        "C": float(model.best_C_),
        "notes": "",
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=["a9a", "w8a", "ijcnn1"])
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--Cs", type=int, default=50)
    parser.add_argument("--limit", type=float, default=600, help="seconds of a run")
    parser.add_argument("--alone", action="store_true", help="without TorchKM")
    arguments = parser.parse_args()
    print(f"{arguments.folds} folds x {arguments.Cs} values of C")
    runs = {"hssvm": run_hssvm} | ({} if arguments.alone else {"TorchKM": run_torchkm})
    for name in arguments.names:
        for label, run in runs.items():
            found = limited(arguments.limit, run, name, arguments.folds, arguments.Cs)
            if "score" in found:
                text = f"{found['seconds']:7.1f} s  {found['score']:6.2f} %  C {found['C']:.3g}"
                print(f"{name:16s}{label:9s}{text}  {found['notes']}", flush=True)
            else:
                print(f"{name:16s}{label:9s}{found}", flush=True)
        if name in PUBLISHED:
            score, seconds = PUBLISHED[name]
            print(f"{name:16s}published{seconds:7.1f} s  {score:6.1f} %  on a GPU", flush=True)


if __name__ == "__main__":
    main()
