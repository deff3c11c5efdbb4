"""Size, accuracy and speed of an exact model of covtype.binary, and of reduced ones.

python -m benchmarks.micro.reduced [--rows 50000] [--test-rows 20000] [--max-loss 0.001 0.01]
                                   [--resume] [--render]

Half of the test rows choose the number of support vectors, the other half score it. The results go
to docs/results/reduced.json. Threads: set OMP_NUM_THREADS.
"""

import numpy as np

from benchmarks.command import parser_of
from benchmarks.command import run as run_command
from benchmarks.markdown import megabytes, number, percent, runs_table, seconds, setup
from benchmarks.peers.large import file_bytes
from benchmarks.peers.settings import load_setting
from benchmarks.timing import timed
from hssvm import SVC

EXACT = "exact"


def run(n_rows, n_test, losses):
    """Figures of the exact model and, by loss, of the reduced ones."""
    (X, y, X_test, y_test), parameters = load_setting("covtype.binary")
    rng = np.random.default_rng(0)
    rows = rng.permutation(len(y))[:n_rows]
    choose, score = np.array_split(rng.permutation(len(y_test))[:n_test], 2)
    model = SVC(**parameters, refine=True, random_state=0)
    _, fit = timed(lambda: model.fit(X[rows], y[rows]))
    found = {EXACT: {"made": fit, **figures_of(model, X_test[score], y_test[score])}}
    for loss in losses:
        small, reduce = timed(lambda: model.reduce(X_test[choose], y_test[choose], max_loss=loss))
        figures = figures_of(small, X_test[score], y_test[score])
        found[f"`max_loss={loss:g}`"] = {"made": reduce, **figures}
    return found


def figures_of(model, X, y):
    accuracy, predict = timed(lambda: model.score(X, y))
    return {
        "support": len(model.support_vectors_),
        "file": file_bytes(model),
        "accuracy": 100 * float(accuracy),
        "speed": len(y) / predict,
    }


def run_all(results, arguments):
    key = f"{arguments.rows} rows"
    results.measure(key, run, arguments.rows, arguments.test_rows, arguments.max_loss)


COLUMNS = {
    "fit or reduction": ("made", seconds),
    "support vectors": ("support", "{:,}".format),
    "file": ("file", megabytes),
    "accuracy, %": ("accuracy", percent),
    "rows predicted per second": ("speed", lambda speed: number(speed, 2)),
}


def models_table(results):
    (found,) = results.runs.values()
    models = {label: run for label, run in found.items() if isinstance(run, dict)}
    return runs_table("", COLUMNS, models)


TABLES = {"setup": setup, "models": models_table}


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--test-rows", type=int, default=20_000)
    parser.add_argument("--max-loss", type=float, nargs="*", default=[0.001, 0.01])
    run_command("reduced", parser, run_all, TABLES)


if __name__ == "__main__":
    main()
