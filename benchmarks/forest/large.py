"""Approximations on millions of synthetic rows: accuracy, time per row, and memory.

python -m benchmarks.forest.large [--rows 1000000 3500000] [--resume] [--render]

Every fit is a process of its own; memory is its peak, rows included. The best possible accuracy is
88.37 %. The results go to docs/results/large_forests.json. Threads: set OMP_NUM_THREADS.
"""

from benchmarks.command import parser_of
from benchmarks.command import run as run_command
from benchmarks.forest.problems import synthetic
from benchmarks.limit import limited
from benchmarks.markdown import gigabytes, number, percent, runs_table, seconds, setup
from benchmarks.memory import peak_bytes
from benchmarks.timing import timed
from hssvm import HSS, SVC, Cells

LIMIT = 7200
TEST_ROWS = 200_000
FITS = {
    "cells of 2,000 rows, two trees": Cells(2000, 2),
    "cells of 8,000 rows, one tree": Cells(8000, 1),
    "cells of 8,000 rows, two trees": Cells(8000, 2),
    "cells": Cells(),
    "HSS": HSS(),
}


def run(n_rows, kind):
    """Figures of one fit."""
    X, y = synthetic(n_rows)
    X_test, y_test = synthetic(TEST_ROWS, seed=1)
    model = SVC(C=1.0, gamma=1 / 36, approximation=FITS[kind], random_state=0)
    _, fit = timed(lambda: model.fit(X, y))
    score, predict = timed(lambda: model.score(X_test, y_test))
    return {
        "rows": n_rows,
        "fit": fit,
        "per row": 1e6 * fit / n_rows,
        "predicted rows per second": TEST_ROWS / predict,
        "accuracy": 100 * float(score),
        "peak": peak_bytes(),
    }


def run_all(results, arguments):
    for n_rows in arguments.rows:
        for kind in arguments.fits:
            results.measure(f"{n_rows:,} rows: {kind}", limited, LIMIT, run, n_rows, kind)


COLUMNS = {
    "accuracy, %": ("accuracy", percent),
    "fit": ("fit", seconds),
    "per row, µs": ("per row", lambda value: number(value, 2)),
    "memory": ("peak", gigabytes),
    "predicted rows per second": ("predicted rows per second", lambda value: f"{value:,.0f}"),
}
TABLES = {"setup": setup, "growth": lambda results: runs_table("", COLUMNS, results.runs)}


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 3_500_000])
    parser.add_argument("--fits", nargs="+", default=list(FITS), choices=FITS)
    run_command("large_forests", parser, run_all, TABLES)


if __name__ == "__main__":
    main()
