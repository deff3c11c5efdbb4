"""``hssvm predict`` on a Parquet file: rows per second, and memory.

python -m benchmarks.micro.streaming --rows 10000000

The rows are random, with ten features; the model has a compressed kernel. Threads: set
OMP_NUM_THREADS.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow
from pyarrow import parquet

from benchmarks.timing import timed
from hssvm import SVC

N_FEATURES = 10
PART = 1_000_000


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--trees", type=int, nargs="+", default=[1, 5])
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    X = rows(rng, 100_000)
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] > 0
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "rows.parquet"
        write(data, rng, options.rows)
        print(f"{options.rows:,} rows, {data.stat().st_size / 1e9:.1f} GB", flush=True)
        for n_trees in options.trees:
            model = Path(folder) / "model.hssvm"
            fit = SVC(C=1, gamma=0.1, refine=False, n_trees=n_trees, random_state=0).fit(X, y)
            fit.save(model)
            _, inside = timed(lambda fit=fit: fit.predict(X))
            command = [sys.executable, "-m", "hssvm", "predict", model, data, "--quiet"]
            command += ["-o", Path(folder) / "labels.parquet"]
            _, seconds = timed(lambda command=command: subprocess.run(command, check=True))
            peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e6
            speed = f"{options.rows / seconds:,.0f} rows per second ({seconds:.0f} s)"
            alone = f"predict alone {len(X) / inside:,.0f}"
            print(f"{n_trees} trees: {speed}, peak {peak:.2f} GB; {alone}", flush=True)


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


if __name__ == "__main__":
    main()
