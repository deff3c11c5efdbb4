"""10 folds x 50 values of C: SVCCV beside TorchKM, which approximates the kernel by Nystroem.

python -m benchmarks.peers.folds [NAME ...] [--limit 600] [--resume] [--render]

Both get the same rows and values of C, and as many threads. TorchKM (pip install torchkm) has its
defaults for large data, 2,000 landmarks and a gamma of its own. Runs are processes of their own,
stopped after --limit seconds. *Published* is what its authors report for an L40S GPU. `SVCCV` also
searches on all rows of covtype.binary, 5 folds x 10 values of C. The results go to
docs/results/folds.json. Threads: set OMP_NUM_THREADS.
"""

import numpy as np

from benchmarks.command import parser_of
from benchmarks.command import run as run_command
from benchmarks.datasets import dense, narrow
from benchmarks.limit import limited
from benchmarks.markdown import ABSENT, cell, percent, prefixes, seconds, setup, table
from benchmarks.peers.rivals import RIVALS, attempt
from benchmarks.peers.settings import load_setting
from benchmarks.timing import timed
from hssvm import SVCCV

PUBLISHED = {"a9a": (85.1, 17.9), "w8a": (98.1, 20.8), "ijcnn1": (98.2, 27.4)}
"""Accuracy in percent, and seconds."""

OURS, TORCHKM = "hssvm", "TorchKM, low rank"
LARGE, LARGE_LIMIT = "covtype.binary", 7200
NAMES = ["ijcnn1", "w8a", "a9a", LARGE]


def grid_of(name):
    """Number of folds, and the values of C."""
    n_folds, n_Cs = (5, 10) if name == LARGE else (10, 50)
    return n_folds, np.logspace(-3, 3, n_Cs)


def run_hssvm(name):
    (X, y, X_test, y_test), parameters = load_setting(name)
    n_folds, Cs = grid_of(name)
    model = SVCCV(Cs, gammas=[parameters["gamma"]], cv=n_folds, random_state=0)
    _, fit = timed(lambda: model.fit(narrow(X), y))
    return {
        "fit": fit,
        "score": 100 * float(model.score(narrow(X_test), y_test)),
        "C": float(model.C_),
        "rows": np.unique(model.cv_results_["n_resources"]).tolist(),
    }


def run_torchkm(name):
    from torchkm import TorchKMSVC

    (X, y, X_test, y_test), _ = load_setting(name)
    signs, test_signs = (np.where(labels == np.max(y), 1, -1) for labels in (y, y_test))
    n_folds, Cs = grid_of(name)
    model = TorchKMSVC(Cs=Cs, cv=n_folds, low_rank=True, device="cpu", random_state=0)
    X, X_test = dense(X), dense(X_test)
    _, fit = timed(lambda: model.fit(X, signs))
    score = 100 * float(np.mean(model.predict(X_test) == test_signs))
    return {"version": RIVALS[TORCHKM].version, "fit": fit, "score": score, "C": model.best_C_}


def key_of(name, tool):
    return f"{name}: {tool}"


def run_all(results, arguments):
    for name in arguments.names:
        limit = LARGE_LIMIT if name == LARGE else arguments.limit
        results.measure(key_of(name, OURS), limited, limit, run_hssvm, name)
        if name != LARGE:
            results.measure(key_of(name, TORCHKM), attempt, limit, TORCHKM, run_torchkm, name)


def folds_table(results):
    lines = []
    for name in prefixes(results):
        if name == LARGE:
            continue
        runs = [results.runs.get(key_of(name, tool), {}) for tool in (OURS, TORCHKM)]
        score, time = PUBLISHED.get(name, (None, None))
        published = ABSENT if score is None else f"{score} % in {time} s"
        lines.append([name, *map(result, runs), published])
    return table(["data set", "`SVCCV`", "TorchKM", "TorchKM, GPU, published"], lines)


def result(run):
    if "score" not in run:
        return cell(run, "score")
    return f"{percent(run['score'])} % in {seconds(run['fit'])}"


def torchkm_version(results):
    versions = [run["version"] for run in results.runs.values() if "version" in run]
    return versions[0] if versions else ABSENT


TABLES = {
    "setup": setup,
    "folds": folds_table,
    "TorchKM": torchkm_version,
}


def main():
    parser = parser_of(__doc__)
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--limit", type=float, default=600, help="seconds of a run")
    run_command("folds", parser, run_all, TABLES)


if __name__ == "__main__":
    main()
