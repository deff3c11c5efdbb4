"""The exact solver: kernel values and seconds without a cluster, rounds and bytes on one."""

import time
from dataclasses import dataclass

import numpy as np

from benchmarks.scaling.partitions import gamma_of, make_piece, make_pieces
from benchmarks.timing import timed
from hssvm._threads import openmp_threads
from hssvm.dask import SVC
from hssvm.kernels import Gaussian
from hssvm.kernels.lazy import LazyKernelMatrix
from hssvm.solvers import Solution, WorkingSet
from hssvm.training.tasks import Classification

TOL = 1e-3


@dataclass(eq=False)
class TimedKernelMatrix(LazyKernelMatrix):
    """Counts the values of products, and the seconds of products and blocks."""

    n_product_values: int = 0
    product_seconds: float = 0.0
    block_seconds: float = 0.0

    def block(self, rows, columns):
        """Kernel values of the rows that two sets of columns stand for."""
        found, seconds = timed(lambda: super(TimedKernelMatrix, self).block(rows, columns))
        self.block_seconds += seconds
        return found

    def product(self, rows, columns, W):
        """``K[rows, columns] @ W``."""
        begin, before = time.perf_counter(), self.n_values
        found = super().product(rows, columns, W)
        self.product_seconds += time.perf_counter() - begin
        self.n_product_values += self.n_values - before
        return found


def measure(rows, max_working=20_000):
    """Solve on the exact kernel, on one thread, from 0."""
    X, y = make_piece(rows, 0)
    kernel = Gaussian(gamma_of(X.shape[1]))
    task = Classification(np.ones(2), np.ones(1))
    problem = task.problem(X, y.astype(np.int64), np.ones(rows), kernel)
    K = TimedKernelMatrix(kernel, X)
    start = Solution.empty(np.zeros((rows, 1), X.dtype))
    memory = X.dtype.itemsize * max_working**2
    with openmp_threads(1):
        solution, seconds = timed(lambda: WorkingSet(TOL, memory).solve(problem, K, start))
    return {
        "rows": rows,
        "support": int(np.count_nonzero(solution.Z)),
        "free": int(np.count_nonzero(problem.free(solution.Z))),
        "working": solution.n_working,
        "rounds": int(solution.n_rounds[0]),
        "product values": K.n_product_values,
        "block values": K.n_values - K.n_product_values,
        "product": K.product_seconds,
        "block": K.block_seconds,
        "smo": seconds - K.product_seconds - K.block_seconds,
    }


def communication_of(model):
    """Synchronizations and bytes of one part on the exact kernel."""
    refine = model.communication["refine"]
    return refine.n_rounds, refine.n_bytes


def fit(client, rows):
    """Fit a number of rows per worker on the exact kernel of a cluster."""
    n_workers = len(client.nthreads())
    pieces = make_pieces(n_workers * rows)
    model = SVC(gamma=gamma_of(18), refine=True, tol=TOL, random_state=0, client=client)
    model.fit(pieces)
    report, first = model.fit_report_, model._model.trained.models[0]
    syncs, n_bytes = client.submit(communication_of, first).result()
    return {
        "workers": n_workers,
        "rows": rows,
        "refine": report.seconds["refine"],
        "rounds": int(report.n_rounds.max()),
        "working": report.n_working,
        "support": report.n_support,
        "syncs": syncs,
        "bytes": n_bytes,
    }
