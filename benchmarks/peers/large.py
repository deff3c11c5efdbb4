"""All rows of covtype.binary, exact and approximated: time, accuracy, peak memory.

python -m benchmarks.peers.large [--fits cells HSS] [--limit 3600] [--resume] [--render]

Every fit is a process of its own; its peak includes the data. The exact one has tol=1e-2 and
memory_limit="12GB". The results go to docs/results/large.json. Threads: set OMP_NUM_THREADS.
"""

import tempfile
from pathlib import Path

from benchmarks.command import parser_of
from benchmarks.command import run as run_command
from benchmarks.limit import limited
from benchmarks.markdown import gigabytes, megabytes, percent, power, runs_table, seconds, setup
from benchmarks.memory import peak_bytes
from benchmarks.peers.settings import load_setting
from benchmarks.timing import timed
from hssvm import HSS, SVC, Cells

NAME = "covtype.binary"
FITS = {
    "exact": {"refine": True, "tol": 1e-2, "memory_limit": "12GB"},
    "cells of 2,000 rows, one tree": {"approximation": Cells(2000, 1)},
    "cells of 2,000 rows, four trees": {"approximation": Cells(2000, 4)},
    "cells": {"approximation": Cells()},
    "HSS": {"approximation": HSS()},
}


def run(kind):
    """Figures of one fit."""
    (X, y, X_test, y_test), parameters = load_setting(NAME)
    model = SVC(**parameters, **FITS[kind], random_state=0)
    _, fit = timed(lambda: model.fit(X, y))
    score, predict = timed(lambda: model.score(X_test, y_test))
    return {
        "rows": len(y),
        "test rows": len(y_test),
        "fit": fit,
        "predict": predict,
        "accuracy": 100 * float(score),
        "gap": float(model.fit_report_.gap.max()),
        "support": len(model.support_),
        "peak": peak_bytes(),
        "file": file_bytes(model),
    }


def file_bytes(model):
    """Size of a saved model."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.hssvm"
        model.save(path)
        return path.stat().st_size


def run_all(results, arguments):
    for kind in arguments.fits:
        results.measure(kind, limited, arguments.limit, run, kind)


COLUMNS = {
    "rows": ("rows", "{:,}".format),
    "fit": ("fit", seconds),
    "peak memory": ("peak", gigabytes),
    "accuracy, %": ("accuracy", percent),
    "gap": ("gap", power),
    "test rows": ("test rows", "{:,}".format),
    "predict": ("predict", seconds),
    "support vectors": ("support", "{:,}".format),
    "file": ("file", megabytes),
}
TABLES = {"setup": setup, "fits": lambda results: runs_table("", COLUMNS, results.runs)}


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--fits", nargs="+", default=list(FITS), choices=FITS)
    parser.add_argument("--limit", type=float, default=3600, help="seconds of one run")
    run_command("large", parser, run_all, TABLES)


if __name__ == "__main__":
    main()
