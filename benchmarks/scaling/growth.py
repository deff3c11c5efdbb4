"""Time and memory as n grows, on synthetic data.

python -m benchmarks.scaling.growth [N ...] [--resume] [--render]

The data: 18 features that depend on 6 hidden ones. Each row belongs to one of 16 groups, whose
centers are drawn from N(0, 4 I_6); its hidden features are the center plus N(0, I_6), the visible
ones a fixed random 6 x 18 mixture of them (entries N(0, 1/6)) plus noise N(0, 0.01). float32,
Gaussian kernel with h = 3, rank 64 at the leaves. Every size is a process of its own, so that the
peak is its own. The results go to docs/results/growth.json. Threads: set OMP_NUM_THREADS.
"""

import numpy as np

from benchmarks.command import parser_of
from benchmarks.command import run as run_command
from benchmarks.limit import limited
from benchmarks.markdown import gigabytes, milliseconds, runs_table, seconds, setup
from benchmarks.memory import peak_bytes
from benchmarks.timing import timed
from hssvm.hss import ClusterTree, compress, factor
from hssvm.kernels import Gaussian

ROWS = [125_000, 500_000, 2_000_000, 3_500_000]
GAMMA, RANK = 1 / 18, 64
LIMIT = 3600


def geometry(rng, n_features=18):
    """Centers of the groups, and the mixture."""
    centers = 2 * rng.standard_normal((16, 6))
    return centers, rng.standard_normal((6, n_features)) / np.sqrt(6)


def draw(n, centers, mixture, rng):
    """Rows of these groups."""
    n_features = mixture.shape[1]
    X = np.empty((n, n_features), dtype=np.float32)
    for begin in range(0, n, 100_000):
        rows = min(100_000, n - begin)
        hidden = centers[rng.integers(0, 16, rows)] + rng.standard_normal((rows, 6))
        X[begin : begin + rows] = hidden @ mixture + 0.1 * rng.standard_normal((rows, n_features))
    return X


def make(n, seed=0):
    rng = np.random.default_rng(seed)
    return draw(n, *geometry(rng), rng)


def run(n):
    """Seconds of every stage, and memory."""
    X, b = make(n), np.ones(n, dtype=np.float32)
    tree, in_tree = timed(lambda: ClusterTree.build(X))
    H, in_compress = timed(lambda: compress(Gaussian(GAMMA), X, tree, max_rank=RANK))
    F, in_factor = timed(lambda: factor(H, 10.0))
    F.solve(b)  # the first solve also loads what it needs
    return {
        "rows": n,
        "tree": in_tree,
        "compress": in_compress,
        "factor": in_factor,
        "solve": timed(lambda: F.solve(b))[1],
        "memory": H.nbytes + F.nbytes,
        "peak": peak_bytes(),
        "ranks": [float(ranks.mean()) for ranks in H.ranks[1:]],
    }


def run_all(results, arguments):
    for n in arguments.n:
        results.measure(f"{n:,} rows", limited, LIMIT, run, n)


COLUMNS = {
    "tree": ("tree", seconds),
    "compress": ("compress", seconds),
    "factor": ("factor", seconds),
    "one solve": ("solve", milliseconds),
    "matrix + factor": ("memory", gigabytes),
    "peak of the process": ("peak", gigabytes),
}
TABLES = {"setup": setup, "growth": lambda results: runs_table("", COLUMNS, results.runs)}


def main():
    parser = parser_of(__doc__)
    parser.add_argument("n", type=int, nargs="*", default=ROWS)
    run_command("growth", parser, run_all, TABLES)


if __name__ == "__main__":
    main()
