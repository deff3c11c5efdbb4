"""Cost of a cluster: time of an iteration, synchronizations, memory, and a thousand workers.

python -m benchmarks.scaling.cluster [--rows-per-worker 200000] [--workers 2 4]
                                     [--resume] [--render]

Fits the rows of `growth`, made on the workers and labelled by a smooth function of them with noise
(float32, Gaussian kernel with h = 3, C = 1), on clusters of processes on this machine with one
thread each, and measures:

- fits of two sizes on the first number of workers, and of one size on the others: seconds by stage,
  memory per row, peak of every process; one tree each, and the default forest once;
- the time of an iteration, the same without a cluster, and what bare synchronizations cost;
- two threads against one;
- bytes of the messages, and of a shuffle of many chunks;
- exact fits: kernel values and seconds, smaller working sets, rounds and bytes on a cluster;
- memory of the process that calls a fit of a gigabyte of rows (500,000 of 500 features);
- a thousand workers: groups of parts with real arithmetic and copied roots (`tops`), and their
  coordinators with real messages that a few processes send (`messages`).

All of it takes about twenty minutes on two cores. The
results go to docs/results/scaling.json.
"""

import logging
from contextlib import contextmanager
from importlib.metadata import version
from multiprocessing import get_context

from distributed import Client, LocalCluster

from benchmarks.command import parser_of
from benchmarks.command import run as run_command
from benchmarks.scaling import alone, fits, messages, refinement, tops
from benchmarks.scaling.tables import TABLES

MANY_PARTS = [10, 100, 1000]
EXACT_ROWS, WORKING_SETS = [20_000, 40_000, 80_000], [4000, 2000, 1500, 1000]
DRIVER_ROWS, DRIVER_FEATURES = 250_000, 500


@contextmanager
def cluster(n_workers, threads=1):
    """Client of a new cluster of processes."""
    with (
        LocalCluster(
            n_workers=n_workers,
            threads_per_worker=threads,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            memory_limit=0,
            silence_logs=logging.ERROR,
        ) as here,
        Client(here) as client,
    ):
        client.wait_for_workers(n_workers)
        yield client


def on_cluster(n_workers, measure, *args, threads=1, **parameters):
    with cluster(n_workers, threads) as client:
        return measure(client, *args, **parameters)


def bare(client, k):
    return messages.bare(client, sorted(client.nthreads()), k)


def apart(measure, *args):
    """Run in a process of its own, so that its memory is gone afterwards."""
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(measure, args)


def measurements(workers, rows):
    """All runs by key, as functions without arguments."""
    first = workers[0]
    runs = {
        f"fit {first} x {rows // 2}": lambda: on_cluster(first, fits.measure, rows // 2),
        **{f"fit {w} x {rows}": lambda w=w: on_cluster(w, fits.measure, rows) for w in workers},
        f"forest {first} x {rows}": lambda: on_cluster(first, fits.measure, rows, n_trees=None),
        **{
            f"iterations {w} x {rows}": lambda w=w: on_cluster(
                w, fits.measure, rows, only_iterations=True
            )
            for w in workers
        },
        f"alone {first} x {rows}": lambda: on_cluster(first, alone.measure, rows),
        **{
            f"threads {n}": lambda n=n: on_cluster(1, alone.measure, rows // 2, threads=n)
            for n in (1, 2)
        },
        **{
            f"sync {w}, {k} columns": lambda w=w, k=k: on_cluster(w, bare, k)
            for w in workers
            for k in (1, 10)
        },
        **{f"messages {k}": lambda k=k: messages.message_bytes(k) for k in (1, 10)},
        "shuffle": lambda: on_cluster(first, fits.shuffle_tasks),
        **{f"exact {n}": lambda n=n: apart(refinement.measure, n) for n in EXACT_ROWS},
        **{
            f"working set {u}": lambda u=u: apart(refinement.measure, EXACT_ROWS[0], u)
            for u in WORKING_SETS
        },
        f"refine {first} x {EXACT_ROWS[0]}": lambda: on_cluster(
            first, refinement.fit, EXACT_ROWS[0]
        ),
    }
    runs["driver"] = lambda: on_cluster(
        2, fits.measure, DRIVER_ROWS, n_features=DRIVER_FEATURES, only_iterations=True
    )
    for n in MANY_PARTS:
        runs[f"top {n}"] = lambda n=n: apart(tops.measure, n)
        runs[f"crowd {n}"] = lambda n=n: on_cluster(3, messages.crowd, n)
        runs[f"tree {n}"] = lambda n=n: on_cluster(3, messages.tree, n)
    return runs


def run_all(results, arguments):
    results.about["distributed"] = version("distributed")
    for key, run in measurements(arguments.workers, arguments.rows_per_worker).items():
        results.measure(key, run)


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--rows-per-worker", type=int, default=200_000)
    parser.add_argument("--workers", type=int, nargs="+", default=[2, 4])
    run_command("scaling", parser, run_all, TABLES)


if __name__ == "__main__":
    main()
