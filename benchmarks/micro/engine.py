"""Time, memory and error of the engine, beside the bare costs of the machine.

python -m benchmarks.micro.engine [NAME ...] [--threads 2] [--repeats 3] [--resume] [--render]

Tree, compression (rank 100 at the leaves of at most 256 rows), factor and solve, in float64. The
bare costs are those of the same LAPACK calls and of a large copy; they take turns with what they
are compared with. The results go to docs/results/engine.json.
"""

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.command import run_sets
from benchmarks.datasets import size_of
from benchmarks.markdown import (
    gigabytes,
    megabytes,
    milliseconds,
    number,
    seconds,
    setup,
    share,
    table,
    times,
)
from benchmarks.micro import bare
from benchmarks.peers.settings import load_setting
from benchmarks.timing import Fastest
from hssvm._threads import serial_blas
from hssvm.hss import ClusterTree, compress, estimate_error, estimate_product_error, factor
from hssvm.kernels import Gaussian

NAMES = ["ijcnn1", "cod-rna", "a9a"]
LEAF_SIZE, RANK, RTOL, SHIFT = 256, 100, 1e-3, 10.0


def solve_bytes(factor):
    """What a solve must read: the triangles once, the W twice."""
    return sum(level.packed.nbytes + 2 * level.W.nbytes for level in factor.levels)


def measure(X, y, kernel, n_threads, repeats):
    """Figures of the matrix of some rows, and of its factor."""
    fastest, bandwidth = Fastest(), 0.0

    def make():
        return compress(kernel, X, tree, rtol=RTOL, max_rank=RANK)

    for _ in range(
        repeats
    ):  # both sides of a ratio, so that a busy moment of the machine hits both
        tree = fastest.time("tree", lambda: ClusterTree.build(X, LEAF_SIZE))
        H = fastest.time("compress", make)
        F = fastest.time("factor", lambda: factor(H, SHIFT))
        with serial_blas():
            fastest.add("bare factor", bare.factor_seconds(H, n_threads))
        with threadpool_limits(1):
            fastest.time("compress alone", make)
            fastest.time("factor alone", lambda: factor(H, SHIFT))
    rng = np.random.default_rng(0)
    one, block = (rng.standard_normal((X.shape[0], k)).astype(X.dtype) for k in (1, 16))
    for _ in range(repeats):
        for _ in range(20):
            fastest.time("solve", lambda: F.solve(one))
        for _ in range(5):
            fastest.time("solve 16", lambda: F.solve(block))
        bandwidth = max(bandwidth, bare.copy_bandwidth(n_threads))
    _, label_error = estimate_product_error(H, np.column_stack([np.ones(len(y)), y]), n_rows=1000)
    return {
        **fastest,
        "threads": n_threads,
        "solve bandwidth": solve_bytes(F) / fastest["solve"],
        "copy bandwidth": bandwidth,
        "matrix": H.nbytes,
        "factor memory": F.nbytes,
        "ranks": [float(ranks.mean()) for ranks in H.ranks[1:]],
        "error": float(estimate_error(H, n_rows=1000)),
        "label error": float(label_error),
    }


def run(name, n_threads, repeats):
    (X, y, _, _), parameters = load_setting(name)
    kernel = Gaussian(parameters["gamma"])
    with threadpool_limits(n_threads):
        found = measure(X.astype(np.float64), y, kernel, n_threads, repeats)
    return {**size_of(X, y), "parameters": {"gamma": parameters["gamma"]}, **found}


def all_stages(run):
    return run["tree"] + run["compress"] + run["factor"]


def speed_up(run):
    """Of compression and factor, on all threads against one."""
    alone = run["compress alone"] + run["factor alone"]
    return times(alone / (run["compress"] + run["factor"]))


LINES = {
    "rows x features": lambda run: f"{run['rows']:,} x {run['features']}",
    "gamma": lambda run: number(run["parameters"]["gamma"]),
    "tree + compress + factor": lambda run: seconds(all_stages(run)),
    "compress + factor on one thread, as a multiple": speed_up,
    "factor alone (share of the bare LAPACK rate)": lambda run: (
        f"{seconds(run['factor'])} ({share(run['bare factor'] / run['factor'])})"
    ),
    "solve, one right-hand side (share of a large copy's bandwidth)": lambda run: (
        f"{milliseconds(run['solve'])} ({share(run['solve bandwidth'] / run['copy bandwidth'])})"
    ),
    "solve, 16 right-hand sides": lambda run: milliseconds(run["solve 16"]),
    "matrix + factor": lambda run: megabytes(run["matrix"] + run["factor memory"]),
    "the dense matrix": lambda run: gigabytes(8 * run["rows"] ** 2),
    "relative error of K~, Frobenius norm": lambda run: number(run["error"], 2),
    "relative error of K~ y, y the labels": lambda run: number(run["label error"], 2),
}


def engine_table(results):
    runs = results.runs.values()
    lines = [[label, *(form(run) for run in runs)] for label, form in LINES.items()]
    return table(["", *results.runs], lines)


TABLES = {"setup": setup, "engine": engine_table}


def main():
    run_sets("engine", __doc__, NAMES, run, TABLES, threads=2, repeats=3)


if __name__ == "__main__":
    main()
