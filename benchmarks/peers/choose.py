"""Which tool for how many rows: hssvm.SVC beside the tools one would take instead.

python -m benchmarks.peers.choose [NAME ...] [--rows 1000 3000 ...] [--limit 600]
                                  [--resume] [--render]

Fits a random part of the training rows of each set, with the h and C of `settings`, and scores some
of the test rows. Every run is a process of its own, stopped after --limit seconds with the reading
of the data; a method that was stopped is not tried with more rows. Nystroem features have the same
kernel and feed a linear SVM with the same C; gradient boosting is as scikit-learn has it. The
results go to docs/results/choose.json. Threads: set OMP_NUM_THREADS.
"""

from importlib.util import find_spec

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC as LibSVM
from sklearn.svm import LinearSVC

from benchmarks.command import parser_of
from benchmarks.command import run as run_command
from benchmarks.datasets import dense
from benchmarks.limit import limited
from benchmarks.markdown import ABSENT, number, percent, setup, table
from benchmarks.peers.settings import load_setting
from benchmarks.timing import timed
from hssvm import HSS, SVC

NAMES = ["cod-rna", "covtype.binary"]
ROWS = [1000, 3000, 10_000, 30_000, 100_000, 464_810]
SEED = 0


def intel(C, gamma):
    from sklearnex.svm import SVC as IntelSVC

    return IntelSVC(C=C, gamma=gamma, cache_size=2000)


def nystroem(n_components):
    def make(C, gamma):
        # In float32 the small values of a narrow kernel are denormal numbers, and slow.
        double = FunctionTransformer(np.float64)
        features = Nystroem(gamma=gamma, n_components=n_components, random_state=SEED)
        return make_pipeline(double, features, LinearSVC(C=C, dual=False, random_state=SEED))

    return make


METHODS = {
    "hssvm": lambda C, gamma: SVC(C=C, gamma=gamma, random_state=SEED),
    "HSS(n_trees=1)": lambda C, gamma: SVC(
        C=C, gamma=gamma, approximation=HSS(n_trees=1), random_state=SEED
    ),
    "SVC of scikit-learn": lambda C, gamma: LibSVM(C=C, gamma=gamma, cache_size=2000),
    "SVC of scikit-learn-intelex": intel,
    "300 Nystroem features": nystroem(300),
    "1,000 Nystroem features": nystroem(1000),
    "gradient boosting": lambda C, gamma: HistGradientBoostingClassifier(random_state=SEED),
}
EXACT = ("SVC of scikit-learn", "SVC of scikit-learn-intelex")


def run(name, method, n_rows, n_test):
    """Fit and score one method."""
    (X, y, X_test, y_test), parameters = load_setting(name)
    rng = np.random.default_rng(SEED)
    train = rng.permutation(len(y))[:n_rows]
    test = rng.permutation(len(y_test))[:n_test]
    X, X_test = dense(X[train]), dense(X_test[test])
    model, fit = timed(lambda: METHODS[method](**parameters).fit(X, y[train]))
    predicted, predict = timed(lambda: model.predict(X_test))
    return {
        "fit": fit,
        "predict": 1e6 * predict / len(test),
        "accuracy": 100 * float(np.mean(predicted == y_test[test])),
    }


def key_of(name, method, n_rows):
    return f"{name}: {method}, {n_rows}"


def run_all(results, names, rows, limit, n_test):
    methods = [key for key in METHODS if key != EXACT[1] or find_spec("sklearnex")]
    for name in names:
        available = len(load_setting(name)[0][1])
        stopped = set()
        for n_rows in sorted({min(n, available) for n in rows}):
            for method in methods:
                if method in stopped:
                    continue
                key = key_of(name, method, n_rows)
                found = results.measure(key, limited, limit, run, name, method, n_rows, n_test)
                if "fit" not in found:
                    stopped.add(method)


def sizes(results, name):
    """Numbers of rows that were tried."""
    keys = [key for key in results.runs if key.startswith(f"{name}: ")]
    return sorted({int(key.rpartition(", ")[2]) for key in keys})


def figure(results, name, method, n_rows, which):
    """None where there is none."""
    return results.runs.get(key_of(name, method, n_rows), {}).get(which)


def fit_table(name):
    def render(results):
        rows = sizes(results, name)
        lines = [
            [method, *(fit_cell(results.runs.get(key_of(name, method, n), {})) for n in rows)]
            for method in present(results, name)
        ]
        return table(["fit, seconds", *(f"{n:,} rows" for n in rows)], lines)

    return render


def fit_cell(run):
    if "stopped" in run:
        return f"over {run['stopped']:g}"
    return run.get("error", number(run.get("fit"), 2))


def score_table(name):
    """Accuracy by rows; time of a prediction after the largest fit that ended."""

    def render(results):
        rows, lines = sizes(results, name), []
        for method in present(results, name):
            scores = [figure(results, name, method, n, "accuracy") for n in rows]
            times = [figure(results, name, method, n, "predict") for n in rows]
            last = next((t for t in reversed(times) if t is not None), None)
            lines.append([method, *map(percent, scores), number(last, 2)])
        head = ["accuracy, %", *(f"{n:,} rows" for n in rows), "predict, µs per row"]
        return table(head, lines)

    return render


def present(results, name):
    return [
        method
        for method in METHODS
        if any(key.startswith(f"{name}: {method}, ") for key in results.runs)
    ]


def crossovers(results):
    """From how many of the tried rows on hssvm has the same answer sooner."""
    lines = []
    for name in NAMES:
        cells = [from_rows(results, name, rival) for rival in EXACT]
        lines.append([name, *cells])
    return table(["hssvm fits sooner than", *EXACT], lines)


def from_rows(results, name, rival):
    first = None
    for n in reversed(sizes(results, name)):
        ours, theirs = (figure(results, name, method, n, "fit") for method in ("hssvm", rival))
        if ours is None and theirs is None:
            continue  # both were stopped, or not tried any more
        if ours is None or (theirs is not None and theirs <= ours):
            break
        first = n
    return ABSENT if first is None else f"from {first:,} rows on"


TABLES = {
    "setup": setup,
    "crossovers": crossovers,
    **{f"{name} fit": fit_table(name) for name in NAMES},
    **{f"{name} score": score_table(name) for name in NAMES},
}


def main():
    parser = parser_of(__doc__)
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS)
    parser.add_argument("--test-rows", type=int, default=20_000)
    parser.add_argument("--limit", type=float, default=600, help="seconds of one run")
    run_command(
        "choose",
        parser,
        lambda results, a: run_all(results, a.names, a.rows, a.limit, a.test_rows),
        TABLES,
    )


if __name__ == "__main__":
    main()
