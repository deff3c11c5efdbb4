"""Whole fits on a cluster, with the memory of all processes."""

import os
import warnings

from dask import delayed
from distributed import wait
from sklearn.exceptions import ConvergenceWarning

from benchmarks.scaling.alone import N_ITER, NEVER
from benchmarks.scaling.memory import Peak
from benchmarks.scaling.partitions import gamma_of, make_piece, make_pieces
from benchmarks.timing import timed
from hssvm import HSS
from hssvm.dask import SVC
from hssvm.dask.partitions import as_partitions
from hssvm.dask.plan import plan
from hssvm.dask.shuffle import collect_parts

TEST_ROWS = 20_000


def communication_of(model):
    """Synchronizations of the solver of one part, and seconds spent in them."""
    solve = model.communication["solve"]
    return solve.n_rounds, solve.seconds


def measure(client, rows, n_features=18, *, n_trees=1, only_iterations=False):
    """Fit a number of rows per worker.

    `n_trees` None is the forest that the estimator chooses. With `only_iterations` the solver makes
    as many iterations as one factor serves, and no more.
    """
    n_workers = len(client.nthreads())
    pieces = make_pieces(n_workers * rows, n_features)
    pids = list(client.run(os.getpid).values())
    limits = {"tol": NEVER, "max_iter": N_ITER} if only_iterations else {}
    parameters = {"gamma": gamma_of(n_features), "approximation": HSS(n_trees=n_trees), **limits}
    model = SVC(**parameters, random_state=0, client=client)
    with Peak([*pids, os.getpid()]) as peak, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        _, seconds = timed(lambda: model.fit(pieces))
    report = model.fit_report_
    models = model._model.trained.models
    syncs = client.gather([client.submit(communication_of, part, pure=False) for part in models])
    X, y = make_piece(TEST_ROWS, len(pieces), n_features)
    return {
        "workers": n_workers,
        "rows": rows,
        "features": n_features,
        "pieces": len(pieces),
        "trees": report.n_trees,
        "fit": seconds,
        "seconds": report.seconds,
        "iterations": int(report.n_iter.max()),
        "factors": report.n_factors,
        "syncs": syncs[0][0],
        "waited": [waited for _, waited in syncs],
        "ranks": report.ranks,
        "matrix": report.matrix_bytes / report.n_rows,
        "factor": report.factor_bytes / report.n_rows,
        "peak": max(peak.growth(pid) for pid in pids) / rows,
        "before": max(peak.before[pid] for pid in pids),
        "driver": peak.growth(os.getpid()),
        "accuracy": 100 * model.score(X, y),
    }


def shuffle_tasks(client, n_pieces=1000, n_parts=100, partition_rows=50):
    """A shuffle of many chunks with hardly any rows: what moving them takes."""
    workers = sorted(client.nthreads())
    make = delayed(make_piece, pure=False)
    pieces = as_partitions(client, [make(partition_rows, number) for number in range(n_pieces)])
    layout, _ = plan(client, pieces, n_parts, classify=True)
    owners = [workers[part % len(workers)] for part in range(n_parts)]
    _, seconds = timed(lambda: wait(collect_parts(client, pieces, layout, owners, 0)))
    return {"pieces": n_pieces, "parts": n_parts, "shuffle": seconds}
