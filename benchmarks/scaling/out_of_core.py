"""A fit larger than memory: matrix and factor in files, beside the same fit in memory.

python -m benchmarks.scaling.out_of_core [--trees 2] [--resume] [--render]

Makes the rows of `growth` (18 features, float32) and fits them in a process of its own: 2 million
in memory; the same, and 8 million, in a control group (which takes root on Linux) whose memory,
including the page cache, is limited. The accuracy is that on 100,000 other rows. The results go to
docs/results/out_of_core.json. Threads: set OMP_NUM_THREADS.
"""

import os
from contextlib import nullcontext

from benchmarks.cgroups import control_group
from benchmarks.command import parser_of
from benchmarks.command import run as run_command
from benchmarks.limit import limited
from benchmarks.markdown import gigabytes, percent, runs_table, seconds, setup
from benchmarks.memory import peak_bytes
from benchmarks.scaling.partitions import gamma_of, make_piece
from benchmarks.timing import timed
from hssvm import HSS, SVC

CASES = [(2_000_000, None), (2_000_000, 2.0), (8_000_000, 6.0)]
"""Rows, and GB that the process may take."""

OTHERS = 0.6e9
"""Bytes: beside X, the interpreter takes memory, and the system for the files that are read."""

TEST_ROWS = 100_000
TIME_LIMIT = 7200


def fit(n_rows, limit, n_trees, members):
    """Fit in this process, which enters the control group first."""
    if members is not None:
        members.write_text(str(os.getpid()))
    X, y = make_piece(n_rows, 0)
    model = SVC(
        gamma=gamma_of(X.shape[1]),
        approximation=HSS(n_trees=n_trees),
        memory_limit=None if limit is None else 1e9 * limit - X.nbytes - OTHERS,
        random_state=0,
    )
    _, seconds_of_fit = timed(lambda: model.fit(X, y))
    X_test, y_test = make_piece(TEST_ROWS, 10**6)
    return {
        "fit": seconds_of_fit,
        "seconds": model.fit_report_.seconds,
        "iterations": int(model.fit_report_.n_iter.max()),
        "peak": peak_bytes(),
        "accuracy": 100 * float(model.score(X_test, y_test)),
    }


def run(n_rows, limit, n_trees):
    """Fit in a process of its own."""
    n_bytes = limit and int(1e9 * limit)
    first, second = {"memory.limit_in_bytes": n_bytes}, {"memory.max": n_bytes}
    with control_group("memory", first, second) if limit else nullcontext() as members:
        if limit and members is None:
            return {"error": "no control group"}
        return limited(TIME_LIMIT, fit, n_rows, limit, n_trees, members)


def key_of(n_rows, limit):
    return f"{n_rows:,} rows in {'memory' if limit is None else f'{limit:g} GB'}"


def run_all(results, arguments):
    for case in CASES:
        results.measure(key_of(*case), run, *case, arguments.trees)


COLUMNS = {
    "fit": ("fit", seconds),
    **{stage: (stage, seconds) for stage in ("compress", "factor", "solve")},
    "iterations": ("iterations", str),
    "peak memory": ("peak", gigabytes),
    "accuracy, %": ("accuracy", percent),
}


def fits_table(results):
    runs = {key: run.get("seconds", {}) | run for key, run in results.runs.items()}
    return runs_table("", COLUMNS, runs)


TABLES = {"setup": setup, "fits": fits_table}


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--trees", type=int, default=2)
    run_command("out_of_core", parser, run_all, TABLES)


if __name__ == "__main__":
    main()
