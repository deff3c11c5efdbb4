"""``hssvm predict`` on a Parquet file: rows per second, and memory.

python -m benchmarks.micro.streaming [--rows 10000000] [--trees 1 5] [--resume] [--render]

The rows are random, with ten features; the model has compressed kernels. The results go to
docs/results/streaming.json. Threads: set OMP_NUM_THREADS.
"""

import tempfile
from pathlib import Path

import numpy as np
import pyarrow
from pyarrow import parquet

from benchmarks.command import parser_of
from benchmarks.command import run as run_command
from benchmarks.limit import limited
from benchmarks.markdown import gigabytes, number, runs_table, seconds, setup
from benchmarks.memory import peak_bytes
from benchmarks.timing import timed
from hssvm import HSS, SVC
from hssvm.cli.app import app

LIMIT = 3600
N_FEATURES = 10
TRAINING_ROWS = 100_000
TREES = [1, 5]
PART = 1_000_000


def run(n_rows, n_trees):
    """Write the rows, train, and predict them in a process of its own."""
    rng = np.random.default_rng(0)
    X = rows(rng, TRAINING_ROWS)
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] > 0
    model = SVC(C=1, gamma=0.1, approximation=HSS(n_trees=n_trees), random_state=0).fit(X, y)
    _, alone = timed(lambda: model.predict(X))
    with tempfile.TemporaryDirectory() as folder:
        data, saved = Path(folder) / "rows.parquet", Path(folder) / "model.hssvm"
        write(data, rng, n_rows)
        model.save(saved)
        found, predict = timed(lambda: limited(LIMIT, predict_file, saved, data))
        n_bytes = data.stat().st_size
    alone_speed = len(X) / alone
    return {"rows": n_rows, "file": n_bytes, "predict": predict, "alone": alone_speed, **found}


def predict_file(model, data):
    """What the command does, and the peak of its memory."""
    output = Path(data).with_name("labels.parquet")
    arguments = ["predict", model, data, "--quiet", "-o", output]
    app(list(map(str, arguments)), standalone_mode=False)
    return {"peak": peak_bytes()}


def run_all(results, arguments):
    for n_trees in arguments.trees:
        results.measure(key_of(n_trees), run, arguments.rows, n_trees)


def key_of(n_trees):
    return "1 tree" if n_trees == 1 else f"{n_trees} trees"


def rows(rng, n):
    return rng.standard_normal((n, N_FEATURES), dtype=np.float32)


def write(path, rng, n):
    writer = None
    for begin in range(0, n, PART):
        X = rows(rng, min(PART, n - begin))
        table = pyarrow.table({f"x{j}": X[:, j] for j in range(N_FEATURES)})
        writer = writer or parquet.ParquetWriter(path, table.schema)
        writer.write_table(table)
    writer.close()


COLUMNS = {
    "rows": ("rows", "{:,}".format),
    "file": ("file", gigabytes),
    "predict": ("predict", seconds),
    "peak memory": ("peak", gigabytes),
    "rows per second in memory": ("alone", lambda speed: number(speed, 2)),
}
TABLES = {"setup": setup, "files": lambda results: runs_table("", COLUMNS, results.runs)}


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--trees", type=int, nargs="+", default=TREES)
    run_command("streaming", parser, run_all, TABLES)


if __name__ == "__main__":
    main()
