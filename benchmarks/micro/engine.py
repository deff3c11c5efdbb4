"""Time, memory and error of the engine on one data set, beside the bare costs of the machine.

python -m benchmarks.micro.engine ijcnn1 --h 0.5 --rank 100
"""

import argparse
import platform
import time

import numpy as np
import scipy.sparse
from threadpoolctl import threadpool_limits

from benchmarks.datasets import load
from benchmarks.micro import bare
from hssvm._threads import serial_blas
from hssvm.hss import ClusterTree, compress, estimate_error, estimate_product_error, factor
from hssvm.kernels import Gaussian


def best_of(repeats, function):
    """(seconds, result) of the fastest of a few calls."""
    best = np.inf
    for _ in range(repeats):
        start = time.perf_counter()
        result = function()
        best = min(best, time.perf_counter() - start)
    return best, result


def solve_bytes(factor):
    """What a solve must read: the triangles once, the W twice."""
    return sum(level.packed.nbytes + 2 * level.W.nbytes for level in factor.levels)


def measure(X, y, kernel, options):
    tree_s, tree = best_of(options.repeats, lambda: ClusterTree.build(X, options.leaf_size))
    compress_s, H = best_of(
        options.repeats,
        lambda: compress(kernel, X, tree, rtol=options.rtol, max_rank=options.rank),
    )
    # The two sides of a ratio take turns, so that a busy moment of the machine hits both.
    factor_s = bare_s = np.inf
    for _ in range(options.repeats):
        seconds, F = best_of(1, lambda: factor(H, options.shift))
        factor_s = min(factor_s, seconds)
        with serial_blas():
            bare_s = min(bare_s, bare.factor_seconds(H, options.threads))
    with threadpool_limits(1):
        compress_1, _ = best_of(
            options.repeats,
            lambda: compress(kernel, X, tree, rtol=options.rtol, max_rank=options.rank),
        )
        factor_1, _ = best_of(options.repeats, lambda: factor(H, options.shift))
    rng = np.random.default_rng(0)
    one, block = (rng.standard_normal((X.shape[0], k)).astype(X.dtype) for k in (1, 16))
    solve_1, solve_16, bandwidth = np.inf, np.inf, 0.0
    for _ in range(options.repeats):
        solve_1 = min(solve_1, best_of(20, lambda: F.solve(one))[0])
        solve_16 = min(solve_16, best_of(5, lambda: F.solve(block))[0])
        bandwidth = max(bandwidth, bare.copy_bandwidth(options.threads))
    solve_rate = solve_bytes(F) / solve_1
    ones_error, label_error = estimate_product_error(
        H, np.column_stack([np.ones(len(y)), y]), n_rows=1000
    )
    return [
        ("tree", f"{tree_s:.2f} s"),
        ("compress", f"{compress_s:.2f} s", f"{compress_s / factor_s:.2f} x factor"),
        ("factor", f"{factor_s:.2f} s", f"{bare_s / factor_s:.0%} of the bare LAPACK rate"),
        ("  the same calls, bare LAPACK", f"{bare_s:.2f} s"),
        ("tree + compress + factor", f"{tree_s + compress_s + factor_s:.2f} s"),
        (
            f"{options.threads} threads against 1",
            f"{(compress_1 + factor_1) / (compress_s + factor_s):.2f} x",
            f"compress {compress_1 / compress_s:.2f} x, factor {factor_1 / factor_s:.2f} x",
        ),
        ("solve, k = 1", f"{1e3 * solve_1:.1f} ms", f"{solve_rate / bandwidth:.0%} of a copy's"),
        ("  its bandwidth", f"{solve_rate / 1e9:.1f} GB/s"),
        ("  a large copy's", f"{bandwidth / 1e9:.1f} GB/s"),
        ("solve, k = 16", f"{1e3 * solve_16:.1f} ms", f"{1e3 * solve_16 / 16:.1f} ms a column"),
        ("memory of the matrix", f"{H.nbytes / 1e6:.0f} MB"),
        ("memory of the factor", f"{F.nbytes / 1e6:.0f} MB"),
        ("ranks, mean per level", " ".join(f"{r.mean():.0f}" for r in H.ranks[1:])),
        ("error, random vectors", f"{estimate_error(H, n_rows=1000):.4f}"),
        ("error, ones", f"{ones_error:.4f}"),
        ("error, labels", f"{label_error:.4f}"),
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", help="data set, e.g. ijcnn1")
    parser.add_argument("--h", type=float, required=True, help="width: exp(-d^2 / (2 h^2))")
    parser.add_argument("--rank", type=int, default=100)
    parser.add_argument("--rtol", type=float, default=1e-3)
    parser.add_argument("--shift", type=float, default=10.0)
    parser.add_argument("--leaf-size", type=int, default=256)
    parser.add_argument("--scale", choices=["minmax", "standard"])
    parser.add_argument("--dtype", choices=["float32", "float64"], default="float64")
    parser.add_argument("--dense", action="store_true", help="make a sparse set dense")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    X, y, *_ = load(options.name, scale=options.scale)
    if options.dense and scipy.sparse.issparse(X):
        X = X.toarray()
    X = X.astype(options.dtype)
    print(
        f"{options.name}: {X.shape[0]:,} x {X.shape[1]}, {options.dtype}, h = {options.h}, "
        f"rank {options.rank}, leaf {options.leaf_size}, {options.threads} threads, "
        f"{platform.processor() or platform.machine()}"
    )
    with threadpool_limits(options.threads):
        rows = measure(X, y, Gaussian(1 / (2 * options.h**2)), options)
    for name, value, *note in rows:
        print(f"{name:32s} {value:>12s}   {' '.join(note)}".rstrip())


if __name__ == "__main__":
    main()
