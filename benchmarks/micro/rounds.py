"""Seconds of a round of training without any work: two parts, which all wait for each other.

python -m benchmarks.micro.rounds [--engines E [E ...]] [--resume] [--render]

In Spark, and with tasks of Dask, each round is a job over two partitions that the driver starts; in
`hssvm.dask`, two running parts add up a number. The fastest of 20 rounds, after three others.
Spark: pip install --group engines. The results go to docs/results/rounds.json.
"""

import os
import sys

import numpy as np

from benchmarks.command import parser_of
from benchmarks.command import run as run_command
from benchmarks.markdown import number, setup, table
from benchmarks.timing import timed

WARM_UP, ROUNDS = 3, 20


def seconds_of(one_round):
    for _ in range(WARM_UP):
        one_round()
    return min(timed(one_round)[1] for _ in range(ROUNDS))


def spark():
    """Python functions of rows that are in memory."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = session.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    parts = session.range(2, numPartitions=2).cache()
    seconds = seconds_of(parts.mapInArrow(lambda batches: batches, "id long").collect)
    session.stop()
    return seconds


def dask():
    """Functions of data that are on the workers."""
    with two_workers() as client:
        workers = list(client.scheduler_info()["workers"])
        parts = [client.submit(int, workers=[worker], pure=False) for worker in workers]
        return seconds_of(lambda: client.gather(client.map(abs, parts, pure=False)))


def hssvm_dask():
    """Messages between running parts, as in a fit."""
    from hssvm.dask.coordinator import Coordinator

    with two_workers() as client:
        workers = list(client.scheduler_info()["workers"])
        coordinator = client.submit(
            Coordinator, NoTop(), np.arange(2), 1, None, actor=True, workers=workers[:1]
        ).result()
        tasks = [
            client.submit(attend, coordinator, part, workers=[worker], pure=False)
            for part, worker in enumerate(workers)
        ]
        return max(client.gather(tasks))


class NoTop:
    """The top of a tree without ranks: sums need none."""

    ranks = np.zeros(3, int)


def attend(coordinator, part):
    from hssvm.dask.communicator import ActorCommunicator
    from hssvm.dask.messages import Link

    communicator, ones = ActorCommunicator(Link(coordinator, part), part, 2), np.ones(1)
    return seconds_of(lambda: communicator.allreduce(ones))


def two_workers():
    from distributed import Client

    return Client(n_workers=2, threads_per_worker=1, dashboard_address=":0")


ENGINES = {
    "Spark, a job": spark,
    "Dask, two tasks": dask,
    "`hssvm.dask`, a sum over running parts": hssvm_dask,
}


def run(engine):
    return {"seconds": ENGINES[engine]()}


def run_all(results, arguments):
    for engine in arguments.engines:
        results.measure(engine, run, engine)


def rounds_table(results):
    lines = [[engine, number(1e3 * run["seconds"], 2)] for engine, run in results.runs.items()]
    return table(["a round of two parts", "milliseconds"], lines)


TABLES = {"setup": setup, "rounds": rounds_table}


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--engines", nargs="+", default=list(ENGINES), metavar="ENGINE")
    run_command("rounds", parser, run_all, TABLES)


if __name__ == "__main__":
    main()
