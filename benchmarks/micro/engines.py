"""Rows per second of the recipes of docs/guide/score.md.

python -m benchmarks.micro.engines [--rows 1000000] [--engines E [E ...]] [--resume] [--render]

The rows are random, with ten features, and in a Parquet file; the model is one tree of compressed
kernels. Times include reading the file and passing the predictions back, and are those of the
second of two runs, so that workers have started. Spark and Ray: pip install --group engines. The
results go to docs/results/engines.json. Threads: set OMP_NUM_THREADS.
"""

import os
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

import hssvm
from benchmarks.command import parser_of
from benchmarks.command import run as run_command
from benchmarks.markdown import number, setup, table
from benchmarks.micro.streaming import rows as random_rows
from benchmarks.micro.streaming import write
from benchmarks.timing import timed
from hssvm import HSS, SVC
from hssvm.arrow import predict_batches

TRAINING_ROWS, BATCH = 20_000, 100_000


def numpy(model, data):
    """No engine: `predict` of rows that have been read at once."""
    values = parquet.read_table(data, use_threads=False)
    X = np.stack([column.to_numpy() for column in values.columns], axis=1)
    return len(hssvm.load(model).predict(X))


def batches(model, data):
    """No engine: the batches of a file."""
    found = parquet.ParquetFile(data).iter_batches(BATCH, use_threads=False)
    return sum(batch.num_rows for batch in predict_batches(model, found))


def polars(model, data):
    import polars

    found = polars.read_parquet(data).to_arrow().to_batches()
    return len(polars.from_arrow(pa.Table.from_batches(predict_batches(model, found))))


def duckdb(model, data):
    import duckdb

    with duckdb.connect() as database:
        found = database.sql(f"from '{data}'").to_arrow_reader(BATCH)
        return sum(batch.num_rows for batch in predict_batches(model, found))


def spark(model, data):
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    session = session.config("spark.sql.execution.arrow.maxRecordsPerBatch", BATCH).getOrCreate()
    found = session.read.parquet(str(data))
    return found.mapInArrow(lambda parts: predict_batches(model, parts), "prediction long").count()


def ray(model, data):
    import ray

    ray.init(num_cpus=1, include_dashboard=False, ignore_reinit_error=True, log_to_driver=False)

    def score(part):
        return pa.Table.from_batches(predict_batches(model, part.to_batches()))

    found = ray.data.read_parquet(str(data)).materialize()
    return found.map_batches(score, batch_format="pyarrow", batch_size=BATCH, num_cpus=1).count()


ENGINES = {
    "`predict`, whole file": numpy,
    "`predict_batches`": batches,
    "Polars": polars,
    "DuckDB": duckdb,
    "Spark": spark,
    "Ray": ray,
}


def run(n_rows, engine):
    rng = np.random.default_rng(0)
    X = random_rows(rng, TRAINING_ROWS)
    y = (np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] > 0).astype(int)
    model = SVC(gamma=0.1, approximation=HSS(n_trees=1), random_state=0).fit(X, y)
    with tempfile.TemporaryDirectory() as folder:
        data, saved = Path(folder) / "rows.parquet", Path(folder) / "model.hssvm"
        write(data, rng, n_rows)
        model.save(saved)
        for _ in range(2):
            count, duration = timed(lambda: ENGINES[engine](saved, data))
            assert count == n_rows, count
    return {"rows": n_rows, "seconds": duration}


def run_all(results, arguments):
    for engine in arguments.engines:
        results.measure(engine, run, arguments.rows, engine)


def engines_table(results):
    lines = [
        [engine, number(run["rows"]), number(run["rows"] / run["seconds"], 2)]
        for engine, run in results.runs.items()
    ]
    return table(["", "rows", "rows per second"], lines)


TABLES = {"setup": setup, "engines": engines_table}


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows to predict")
    parser.add_argument("--engines", nargs="+", default=list(ENGINES), metavar="ENGINE")
    run_command("engines", parser, run_all, TABLES)


if __name__ == "__main__":
    main()
