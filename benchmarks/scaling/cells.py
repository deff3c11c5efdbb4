"""Cells on a thousand workers, simulated from the times of real cells.

python -m benchmarks.scaling.cells [--rows 200000] [--sizes 2000 8000] [--resume] [--render]

The synthetic rows of `benchmarks.forest.problems` (18 features, Gaussian kernel, C = 1) are cut
into cells, and every cell is solved alone on one thread. A large cluster solves cells whose times
are drawn from these: a worker takes the next cell when one of its threads is free, and needs
nothing from other workers once its rows have arrived. Not measured, but assumed: the network, and
that each thread of a worker keeps half of its speed, as in `benchmarks.scaling.model`. Reading and
the tasks of the shuffle take what `benchmarks.scaling.cluster` has measured. The results go to
docs/results/cells_at_scale.json.
"""

import heapq
from math import log2

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.command import parser_of
from benchmarks.command import run as run_command
from benchmarks.forest.problems import synthetic
from benchmarks.markdown import milliseconds, number, seconds, setup, share, table
from benchmarks.results import RESULTS, Results
from benchmarks.scaling.model import PIECE_BYTES, Cluster, Constants
from benchmarks.timing import Fastest, timed
from hssvm import SVC
from hssvm.hss import ClusterTree
from hssvm.training.routes.cells.route import SPLITTER

PARAMETERS = {"C": 1.0, "gamma": 1 / 36}
PLANS = [(10**8, 10), (10**8, 100), (10**9, 100), (10**9, 1000)]
"""Rows and workers."""

BYTES_PER_SECOND = 125e6
"""Assumed traffic of a worker in each direction, that of a network of 1 Gbit/s."""

DRAWS = 5
"""Number of simulated clusters; the slowest of their workers counts."""


def measure(n_rows, size):
    """Seconds of the tree, and of every cell, on one thread."""
    X, y = synthetic(n_rows)
    with threadpool_limits(1):
        tree, building = timed(lambda: ClusterTree.build(X, size, SPLITTER))
        offsets = tree.offsets(tree.depth)
        cells = np.split(tree.perm, offsets[1:-1])
        model, times = SVC(**PARAMETERS, tol=1e-2, scaling=None), Fastest()
        for i, rows in enumerate(cells):
            if np.unique(y[rows]).size > 1:
                times.time(i, lambda rows=rows: model.fit(X[rows], y[rows]))
    return {
        "rows": n_rows,
        "features": X.shape[1],
        "cells": len(cells),
        "per level": building / (n_rows * tree.depth),
        "solve": [times.get(i, 0.0) for i in range(len(cells))],
    }


def run_all(results, arguments):
    for size in arguments.sizes:
        results.measure(f"{size}", measure, arguments.rows, size)


def slowest_worker(times, n_cells, cluster, rng):
    """Seconds until the last of the workers has solved its cells."""
    slowest = 0.0
    for _ in range(cluster.workers):
        free = [0.0] * cluster.threads
        for spent in rng.choice(times, n_cells):
            heapq.heappush(free, heapq.heappop(free) + spent / cluster.efficiency)
        slowest = max(slowest, *free)
    return slowest


def predict(found, constants, n_rows, workers):
    """Seconds of the stages of a fit of one tree."""
    cluster, own = Cluster(workers), n_rows / workers
    n_cells = round(own / (found["rows"] / found["cells"]))
    levels = log2(n_cells * workers)
    row_bytes = 4 * (found["features"] + 1)
    solves = found["solve"]
    draws = 1 if workers > 100 else DRAWS
    rng = np.random.default_rng(0)
    pieces = n_rows * row_bytes / PIECE_BYTES
    return {
        "cells": n_cells,
        "read": own * constants.read / cluster.speed,
        "shuffle": (pieces + workers) * constants.task / workers
        + own * row_bytes / BYTES_PER_SECOND,
        "tree": own * levels * found["per level"] / cluster.speed,
        "solve": n_cells * float(np.mean(solves)) / cluster.speed,
        "slowest": max(slowest_worker(solves, n_cells, cluster, rng) for _ in range(draws)),
    }


def cells_table(results):
    """The measured cells."""
    lines = []
    for size, found in results.runs.items():
        solves, per_row = np.array(found["solve"]), found["rows"] / found["cells"]
        lines.append(
            [f"{int(size):,}", f"{found['cells']:,}", number(1e9 * found["per level"], 2),
             milliseconds(solves.mean()), milliseconds(solves.max()),
             number(1e6 * solves.mean() / per_row, 2)]
        )  # fmt: skip
    head = ["rows of a cell, at most", "cells", "a level of the tree, ns per row", "a cell, mean",
        "the slowest cell", "solution, µs per row"]  # fmt: skip
    return table(head, lines)


def plan_table(results):
    """The simulated clusters."""
    constants = Constants.of(Results.read(RESULTS / "scaling.json").runs)
    lines = []
    for size, found in results.runs.items():
        for n_rows, workers in PLANS:
            plan = predict(found, constants, n_rows, workers)
            total = plan["read"] + plan["shuffle"] + plan["tree"] + plan["slowest"]
            busy = plan["slowest"] / plan["solve"] - 1
            lines.append(
                [f"{n_rows:,}", f"{workers:,}", f"{int(size):,}", f"{plan['cells']:,}",
                 *(seconds(plan[stage]) for stage in ("read", "shuffle", "tree", "solve")),
                 share(busy), seconds(total)]
            )  # fmt: skip
    head = ["rows", "workers", "rows of a cell", "cells of a worker", "read", "shuffle", "tree",
        "solve, mean", "the slowest worker takes longer by", "one tree in all"]  # fmt: skip
    return table(head, lines, left=0)


TABLES = {"setup": setup, "cells": cells_table, "plan": plan_table}


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--sizes", type=int, nargs="+", default=[2000, 8000])
    run_command("cells_at_scale", parser, run_all, TABLES)


if __name__ == "__main__":
    main()
