"""hssvm and its alternatives on the same rows: time, score, and how near to the optimum.

python -m benchmarks.peers.compare [NAME ...] [--only RIVAL ...] [--rows 5000 ...] [--limit 100]
                                   [--resume] [--render]

Fits a random part of the training rows of each set, then all of them, and scores some of the test
rows. `rivals` has the tools and what each is given. Every run is a process of its own, stopped
after --limit seconds, which include reading the data and scoring. A tool is not tried with more
rows if it was stopped, or would be even with a cautious estimate of how its time grows. The results
go to docs/results/compare.json. Threads: set OMP_NUM_THREADS.
"""

import numpy as np
from sklearn.metrics import accuracy_score, r2_score

from benchmarks.command import parser_of
from benchmarks.command import run as run_command
from benchmarks.datasets import dense, narrow
from benchmarks.dual import below, dual_of, exactly
from benchmarks.markdown import ABSENT, number, percent, power, setup, table
from benchmarks.peers.choose import figure, fit_cell, key_of, sizes
from benchmarks.peers.folds import PUBLISHED
from benchmarks.peers.rivals import RIVALS, SEED, attempt
from benchmarks.peers.settings import REGRESSION, load_problem
from benchmarks.timing import timed
from hssvm.kernels import Gaussian

NAMES = ["ijcnn1", "cod-rna", "a9a", "covtype.50k", "cadata"]
ROWS = [5000, 1_000_000]


def run(name, tool, n_rows, n_test):
    """Fit and score one tool."""
    (X, y, X_test, y_test), parameters = load_problem(name)
    rng = np.random.default_rng(SEED)
    train = rng.permutation(len(y))[:n_rows]
    test = rng.permutation(len(y_test))[:n_test]
    return fit_and_score(tool, (X[train], y[train], X_test[test], y_test[test]), parameters)


def fit_and_score(tool, data, parameters):
    """Version, times, score and dual objective of one tool; with an epsilon, of a regression."""
    rival, (X, y, X_test, y_test) = RIVALS[tool], data
    given = narrow if rival.sparse else dense
    X, X_test = given(X), given(X_test)
    epsilon = parameters.get("epsilon")
    make, score = (rival.classify, accuracy_score) if epsilon is None else (rival.regress, r2_score)
    model = make(**parameters)  # imports the tool
    model, fit = timed(lambda: model.fit(X, y))
    predicted, predict = timed(lambda: model.predict(X_test))
    found = {
        "version": rival.version,
        "features": X.shape[1],
        "fit": fit,
        "predict": 1e6 * predict / len(y_test),
        "score": 100 * float(score(y_test, predicted)),
    }
    if rival.dual:
        found["dual"] = exactly(dual_of(model, Gaussian(parameters["gamma"]), X, y, epsilon))
    return found


def run_all(results, names, tools, rows, limit, n_test):
    for name in names:
        available = len(load_problem(name)[0][1])
        able = [tool for tool in tools if name not in REGRESSION or RIVALS[tool].regress]
        smaller = None
        for n_rows in sorted({min(n, available) for n in rows}):
            for tool in able:
                key = key_of(name, tool, n_rows)
                if not smaller or may_end(results, name, tool, smaller, n_rows, limit):
                    results.measure(key, attempt, limit, tool, run, name, tool, n_rows, n_test)
            smaller = n_rows


def may_end(results, name, tool, smaller, n_rows, limit):
    """Whether a fit with more rows may end in time, as far as one with fewer tells."""
    fit = figure(results, name, tool, smaller, "fit")
    return fit is not None and fit * (n_rows / smaller) ** RIVALS[tool].growth < limit


def tools_table(results):
    """Version of each tool, and the parameters it got."""
    lines = []
    for tool, rival in RIVALS.items():
        found = {run["version"] for key, run in runs_of(results, tool) if "version" in run}
        lines.append([tool, rival.package, " ".join(sorted(found)) or ABSENT, rival.parameters])
    return table(["tool", "package", "version", "parameters given"], lines, left=4)


def runs_of(results, tool):
    return [(key, run) for key, run in results.runs.items() if f": {tool}, " in key]


def set_table(name):
    """Time and score by rows; prediction and dual objective after the largest fit."""

    def render(results):
        rows = sizes(results, name)
        best = max_dual(results, name, rows[-1]) if rows else None
        score = "R², %" if name in REGRESSION else "accuracy, %"
        head = ["tool"]
        for n in rows:
            head += [f"fit {n:,} rows, s", score]
        head.append("predict, µs per row")
        if best:
            head.append("dual below best")
        lines = []
        for tool in RIVALS:
            found = [results.runs.get(key_of(name, tool, n), {}) for n in rows]
            if not any(found):
                continue
            line = [tool]
            for run in found:
                line += [fit_cell(run), percent(run.get("score"))]
            line.append(number(last(run.get("predict") for run in found), 2))
            if best:
                line.append(shortfall(found[-1].get("dual"), best))
            lines.append(line)
        return table(head, lines)

    return render


def last(values):
    """The last that there is, or None."""
    return next((value for value in reversed(list(values)) if value is not None), None)


def max_dual(results, name, n_rows):
    duals = [figure(results, name, tool, n_rows, "dual") for tool in RIVALS]
    return max((float(dual) for dual in duals if dual is not None), default=None)


def shortfall(dual, best):
    """By how much a dual objective is below the best, relative to it."""
    if dual is None:
        return ABSENT
    return "best" if float(dual) == best else power(below(dual, best))


def published_table(results):
    """What the authors of TorchKM report."""
    lines = [
        [name, f"{score:.1f}", f"{seconds:.1f}"] for name, (score, seconds) in PUBLISHED.items()
    ]
    return table(["TorchKM, published", "accuracy, %", "seconds, GPU"], lines)


TABLES = {
    "setup": setup,
    "tools": tools_table,
    "published": published_table,
    **{name: set_table(name) for name in NAMES},
}


def main():
    parser = parser_of(__doc__)
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--only", nargs="+", choices=RIVALS, default=list(RIVALS), metavar="RIVAL")
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS)
    parser.add_argument("--test-rows", type=int, default=10_000)
    parser.add_argument("--limit", type=float, default=100, help="seconds of one run")
    run_command(
        "compare",
        parser,
        lambda results, a: run_all(results, a.names, a.only, a.rows, a.limit, a.test_rows),
        TABLES,
    )


if __name__ == "__main__":
    main()
