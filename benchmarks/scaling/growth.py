"""Time and memory as n grows, on synthetic data.

The data: 18 features that depend on 6 hidden ones. Each row belongs to one of 16 groups, whose
centres are drawn from N(0, 4 I_6); its hidden features are the centre plus N(0, I_6), the visible
ones a fixed random 6 x 18 mixture of them (entries N(0, 1/6)) plus noise N(0, 0.01). float32.

python -m benchmarks.scaling.growth 125000 500000 2000000
"""

import argparse
import resource
import subprocess
import sys
import time

import numpy as np

from hssvm.hss import ClusterTree, compress, factor
from hssvm.kernels import Gaussian


def geometry(rng, n_features=18):
    """Centres of the groups, and the mixture."""
    centers = 2 * rng.standard_normal((16, 6))
    return centers, rng.standard_normal((6, n_features)) / np.sqrt(6)


def draw(n, centers, mixture, rng):
    """So many rows."""
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


def run(n, rank, h):
    X = make(n)
    times = [time.perf_counter()]
    tree = ClusterTree.build(X)
    times.append(time.perf_counter())
    H = compress(Gaussian(1 / (2 * h**2)), X, tree, max_rank=rank)
    times.append(time.perf_counter())
    F = factor(H, 10.0)
    times.append(time.perf_counter())
    b = np.ones(n, dtype=np.float32)
    F.solve(b)
    times.append(time.perf_counter())
    F.solve(b)
    times.append(time.perf_counter())
    seconds = np.diff(times)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(
        n,
        *(f"{s:.3f}" for s in (*seconds[:3], seconds[4])),
        H.nbytes + F.nbytes,
        peak,
        ",".join(f"{r.mean():.0f}" for r in H.ranks[1:]),
    )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("n", type=int, nargs="+")
    parser.add_argument("--rank", type=int, default=64)
    parser.add_argument("--h", type=float, default=3.0)
    parser.add_argument("--repeats", type=int, default=1, help="of each n; the fastest counts")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return run(options.n[0], options.rank, options.h)
    print(
        "       n    tree compress  factor   total  growth    solve  HSS + factor  growth    peak"
    )
    first = None
    for n in options.n:
        # A process per size, so that the peak is its own.
        command = [sys.executable, "-m", "benchmarks.scaling.growth", str(n), "--child"]
        command += ["--rank", str(options.rank), "--h", str(options.h)]
        rows = [
            subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
            for _ in range(options.repeats)
        ]
        row = min(rows, key=lambda r: sum(map(float, r[1:4])))
        tree, compress_s, factor_s, solve = map(float, row[1:5])
        held, peak = int(row[5]), int(row[6])
        total = tree + compress_s + factor_s
        first = first or (n, total, held)
        growth = (total / first[1]) / (n / first[0]), (held / first[2]) / (n / first[0])
        print(
            f"{n:8d} {tree:6.1f} s {compress_s:5.1f} s {factor_s:5.1f} s {total:5.1f} s "
            f"{growth[0]:6.2f}  {1e3 * solve:5.0f} ms  {held / 1e9:8.2f} GB  {growth[1]:6.2f} "
            f"{peak / 1e9:5.1f} GB  ranks {row[7]}",
            flush=True,
        )
    return None


if __name__ == "__main__":
    main()
