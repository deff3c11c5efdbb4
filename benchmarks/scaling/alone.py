"""The same work without a cluster: one part's rows, the ordinary solver, nobody to meet."""

import numpy as np
from distributed import get_worker

from benchmarks.scaling.partitions import gamma_of, make_piece
from benchmarks.timing import timed
from hssvm._threads import openmp_threads
from hssvm.hss import ClusterTree, compress
from hssvm.kernels import Gaussian
from hssvm.operators import HSSOperator
from hssvm.solvers import ADMM
from hssvm.training.config import RANK
from hssvm.training.tasks import Classification

N_ITER = 40
"""Iterations of ADMM before it would make a second factor."""

NEVER = 1e-12
"""A gap that no fit in float32 reaches: all iterations are made."""


def solve_alone(rows, number):
    """Seconds of the stages, and of one iteration, in a task on one worker."""
    X, y = make_piece(rows, number)
    with openmp_threads(get_worker().state.nthreads):
        tree, tree_seconds = timed(lambda: ClusterTree.build(X))
        kernel = Gaussian(gamma_of(X.shape[1]))
        matrix, compress_seconds = timed(lambda: compress(kernel, X, tree, max_rank=RANK))
        task = Classification(np.ones(2), np.ones(1))
        problem = task.problem(X, y.astype(np.int64), np.ones(rows), kernel)
        operator = HSSOperator(matrix)
        solution, seconds = timed(lambda: ADMM(NEVER, N_ITER).solve(problem, operator))
    return {
        "tree": tree_seconds,
        "compress": compress_seconds,
        "factor": solution.factor_seconds,
        "iteration": (seconds - solution.factor_seconds) / int(solution.n_iter.max()),
    }


def measure(client, rows):
    """On all workers at once, each for itself; the slowest counts."""
    workers = sorted(client.nthreads())
    tasks = [
        client.submit(solve_alone, rows, number, workers=[worker], pure=False)
        for number, worker in enumerate(workers)
    ]
    found = client.gather(tasks)
    return {
        "workers": len(workers),
        "threads": client.nthreads()[workers[0]],
        "rows": rows,
        **{stage: max(one[stage] for one in found) for stage in found[0]},
    }
