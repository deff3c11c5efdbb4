"""What every change since the paper is worth: the figures of the page "From the paper to hssvm".

One function per change, from the name of a set to figures, with the h of `SETS` and C = 1.
"""

from unittest.mock import patch

import numpy as np

from benchmarks.paper import published
from benchmarks.paper.methods import SEED, accuracy, gamma_of, load_double
from benchmarks.timing import timed
from hssvm import HSS, SVC
from hssvm.hss import HSSANN, NestedNystroem, compress, estimate_error, nystroem
from hssvm.kernels import Gaussian
from hssvm.operators import HSSOperator
from hssvm.predictors import LeafExpansions, LeafwisePredictor
from hssvm.problems import SVCProblem
from hssvm.solvers import ADMM, FixedIterationADMM

SETS = {"a9a": 1, "w8a": 1, "ijcnn1": 1, "cod-rna": 10}
RANK, LANCZOS_STEPS = 72, 100


def definiteness(name):
    """Least eigenvalue of K~: of the paper's two settings, and of nested Nystroem."""
    X, kernel = load_double(name)[0], Gaussian(gamma_of(SETS[name]))
    compressors = {
        setting: HSSANN(**tolerances) for setting, tolerances in published.TOLERANCES.items()
    } | {"nested": NestedNystroem(max_rank=RANK)}
    return {
        key: least_eigenvalue(compress(kernel, X, compressor=compressor, random_state=SEED))
        for key, compressor in compressors.items()
    }


def least_eigenvalue(matrix):
    """From above, by Lanczos with full orthogonalisation.

    The extreme eigenvalue is found long before a hundred steps; ARPACK would go on for a digit
    more of the zero of a semi-definite matrix.
    """
    rng = np.random.default_rng(SEED)
    Q = np.zeros((LANCZOS_STEPS + 1, matrix.shape[0]))
    T = np.zeros((LANCZOS_STEPS + 1, LANCZOS_STEPS + 1))
    q = rng.standard_normal(matrix.shape[0])
    Q[0] = q / np.linalg.norm(q)
    for i in range(LANCZOS_STEPS):
        q = matrix @ Q[i]
        T[i, i] = Q[i] @ q
        for _ in range(2):  # once leaves rounding errors of the large eigenvalues
            q -= Q[: i + 1].T @ (Q[: i + 1] @ q)
        T[i, i + 1] = T[i + 1, i] = np.linalg.norm(q)
        Q[i + 1] = q / T[i, i + 1]
    return float(np.linalg.eigvalsh(T[:-1, :-1])[0])


def one_kernel(name):
    """Predict with the compressed kernel of the training, or with the exact one."""
    X, y, X_test, y_test = load_double(name)
    model = SVC(C=1, gamma=gamma_of(SETS[name]), approximation=HSS(n_trees=1), random_state=SEED)
    model.fit(X, y)
    found = {}
    for key, prediction in (("leafwise", "compressed"), ("exact", "exact")):
        model.set_params(prediction=prediction)
        values, seconds = timed(lambda: model.decision_function(X_test))
        found[key] = {"accuracy": accuracy(values, y_test), "seconds": seconds}
    return found


def growing_ranks(name):
    """Error and memory with ranks that grow towards the root, and with one rank for all levels."""
    X, kernel = load_double(name)[0], Gaussian(gamma_of(SETS[name]))
    return {
        "growing": cost_of(kernel, X, NestedNystroem(rtol=0, max_rank=RANK)),
        "constant": at_one_rank(kernel, X, NestedNystroem(rtol=0, max_rank=RANK)),
        "constant, more": at_one_rank(kernel, X, NestedNystroem(rtol=0, max_rank=100)),
    }


def skeletons(name):
    """Error and time of the two compressors at the same rank on all levels."""
    X, kernel = load_double(name)[0], Gaussian(gamma_of(SETS[name]))
    neighbors = HSSANN(rtol=1e-6, max_rank=RANK, n_neighbors=64)
    return {
        "interpolation": cost_of(kernel, X, neighbors),
        "nested": at_one_rank(kernel, X, NestedNystroem(rtol=0, max_rank=RANK, oversampling=0)),
    }


def at_one_rank(kernel, X, compressor):
    with patch.object(nystroem, "RANK_GROWTH", 1.0):
        return cost_of(kernel, X, compressor)


def cost_of(kernel, X, compressor):
    matrix, seconds = timed(lambda: compress(kernel, X, compressor=compressor, random_state=SEED))
    return {
        "error": estimate_error(matrix, random_state=SEED),
        "memory": matrix.nbytes / 1e6,
        "seconds": seconds,
    }


def convergence(name):
    """Ten iterations with the paper's beta, and ours to a gap of 1e-3, on the same K~."""
    X, y, X_test, y_test = load_double(name)
    kernel = Gaussian(gamma_of(SETS[name]))
    matrix = compress(kernel, X, random_state=SEED, max_rank=RANK)
    problem = SVCProblem(y[:, None])
    found = {}
    for key, solver in {"paper": FixedIterationADMM(), "ours": ADMM(1e-3)}.items():
        solution, seconds = timed(lambda: solver.solve(problem, HSSOperator(matrix)))
        tree = LeafExpansions.of(matrix, solution.Z, solution.intercept)
        values = LeafwisePredictor.of(kernel, X, [tree])(X_test) + solution.intercept
        found[key] = {
            "gap": float(solution.gap[0]),
            "iterations": int(solution.n_iter[0]),
            "factors": int(solution.n_factors),
            "seconds": seconds,
            "accuracy": accuracy(values[:, 0], y_test),
        }
    return found


CHANGES = {
    "definiteness": definiteness,
    "one kernel": one_kernel,
    "growing ranks": growing_ranks,
    "skeletons": skeletons,
    "convergence": convergence,
}
