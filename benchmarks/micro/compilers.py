"""Time of the hot loops in two builds of the core, such as those of GCC and Clang.

python -m benchmarks.micro.compilers FIRST.so SECOND.so [--repeats 5]

Each core runs on one thread, in processes of its own. They take turns; the best CPU time of each
counts. Every repeat starts new processes: where their arrays lie in memory changes times by a
fifth. The exit code is 1 if the second core needs more than 1.3 times as long in some row.
"""

import argparse
import importlib.util
import multiprocessing
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import scipy.sparse

DTYPES = "float32", "float64"
LIMIT = 1.3
SECONDS_PER_TURN = 0.1


def cases(dtype):
    """Calls to measure, by name."""
    # Only now: the core must be chosen first.
    from hssvm import _core
    from hssvm.hss import ClusterTree, compress, factor
    from hssvm.kernels import Gaussian
    from hssvm.predictors import ExpansionPredictor, LeafExpansions, LeafwisePredictor

    rng, kernel = np.random.default_rng(0), Gaussian(0.1)
    X, T = (rng.standard_normal((n, 12)).astype(dtype) for n in (4000, 2000))
    sparse = scipy.sparse.random_array(
        (1000, 500), density=0.05, format="csr", dtype=dtype, rng=rng
    )
    weights = rng.standard_normal((4000, 8)).astype(dtype)
    one, two = np.ascontiguousarray(weights[:, :1]), np.ascontiguousarray(weights[:, :2])
    label = np.sign(X[:, 0] * X[:, 1] + 0.3 * one[:, 0])
    K = kernel.block(X[:2000])
    tree = ClusterTree.build(X, 128)
    H = compress(kernel, X, tree, rtol=1e-2, max_rank=64, random_state=0)
    F = factor(H, 1.0)
    exact = ExpansionPredictor(kernel, X, one)
    leaves = LeafExpansions.of(H, one, np.zeros(1), None)
    compressed = LeafwisePredictor.of(kernel, X, [leaves])

    def smo():
        bound = 10 * label[:2000]
        z, g, steps = np.zeros_like(bound), -label[:2000], np.zeros(1, np.int64)
        _core.smo(
            K, np.array([0, 2000]), np.arange(2000), np.minimum(bound, 0), np.maximum(bound, 0),
            np.zeros(1), z, g, np.zeros(1), 5000, steps,
        )  # fmt: skip
        assert steps[0] == 5000

    def prox(V):
        k = V.shape[1]
        _core.shifted_prox(
            V, np.ones(4000, dtype), np.zeros(k), np.ones_like(V), True, np.full(k, 0.1),
            np.empty_like(V), np.empty((3, k)),
        )  # fmt: skip

    return {
        "kernel values, dense": lambda: kernel.block(T, T),
        "kernel values, sparse": lambda: kernel.block(sparse),
        "product with kernel rows": lambda: kernel.product(T, X, one),
        "product with stored rows": lambda: _core.add_transposed_product(K, two[:2000], two[2000:]),
        "SMO": smo,
        "proximal step, k = 1": lambda: prox(one),
        "proximal step, k = 8": lambda: prox(weights),
        "tree": lambda: ClusterTree.build(X, 128),
        "compression": lambda: compress(kernel, X, tree, rtol=1e-2, max_rank=64, random_state=0),
        "ULV factor": lambda: factor(H, 1.0),
        "ULV solve, k = 1": lambda: F.solve(one),
        "ULV solve, k = 8": lambda: F.solve(weights),
        "prediction, compressed": lambda: compressed(T),
        "prediction, exact": lambda: exact(T),
        "prediction, compressed, few rows": lambda: compressed(T[:20]),
        "prediction, exact, few rows": lambda: exact(T[:20]),
    }


class Worker:
    """The cases of one core, in this process."""

    cases: dict

    @classmethod
    def load(cls, path):
        """Use the core at `path` as `hssvm._core`."""
        spec = importlib.util.spec_from_file_location("hssvm._core", path)
        core = importlib.util.module_from_spec(spec)
        sys.modules["hssvm._core"] = core
        spec.loader.exec_module(core)
        tables = {dtype: cases(dtype) for dtype in DTYPES}
        cls.cases = {(name, d): tables[d][name] for name in tables[DTYPES[0]] for d in DTYPES}

    @classmethod
    def names(cls):
        """Names and dtypes of the cases."""
        return list(cls.cases)

    @classmethod
    def measure(cls, case):
        """Best seconds of a few calls."""
        best, began = np.inf, time.process_time()
        while (start := time.process_time()) < began + SECONDS_PER_TURN:
            cls.cases[case]()
            best = min(best, time.process_time() - start)
        return best


def measure(paths):
    """Seconds of the cases in each core, from new processes."""
    spawn = multiprocessing.get_context("spawn")
    cores = [
        ProcessPoolExecutor(1, spawn, initializer=Worker.load, initargs=(path,)) for path in paths
    ]
    seconds = {
        case: [core.submit(Worker.measure, case).result() for core in cores]
        for case in cores[0].submit(Worker.names).result()
    }
    for core in cores:
        core.shutdown()
    return seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cores", nargs=2, type=Path, metavar="CORE", help="a built core, _core*.so")
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    runs = [measure([path.resolve() for path in arguments.cores]) for _ in range(arguments.repeats)]
    slow = False
    print(f"{'':36s}{'dtype':10s}{'first':>10s}{'second':>13s}   ratio")
    for case in runs[0]:
        first, second = np.min([run[case] for run in runs], axis=0)
        slow |= bool(second > LIMIT * first)
        print(
            f"{case[0]:36s}{case[1]:10s}{1e3 * first:7.3f} ms{1e3 * second:10.3f} ms"
            f"{second / first:8.2f}"
        )
    sys.exit(int(slow))


if __name__ == "__main__":
    main()
