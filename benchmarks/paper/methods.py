"""The methods that are compared, one function each: (name of the set, h, C or all C) to figures.

Rows are float64, as in the paper's programs. Seconds of a compression have those of its tree; an
accuracy is in per cent of the test rows.
"""

import warnings

import numpy as np
import scipy.sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC as LibSVM

from benchmarks.datasets import narrow
from benchmarks.libsvm_files import load
from benchmarks.paper import multiblock, published
from benchmarks.timing import timed
from hssvm import HSS, SVC, svc_path
from hssvm.hss import HSSANN, ClusterTree, compress
from hssvm.kernels import Gaussian
from hssvm.operators import HSSOperator
from hssvm.predictors import ExpansionPredictor
from hssvm.problems import SVCProblem
from hssvm.solvers import FixedIterationADMM

SEED = 0


def load_double(name):
    X, y, X_test, y_test = load(name)
    return X.astype(np.float64), y.astype(np.float64), X_test.astype(np.float64), y_test


def gamma_of(h):
    return 1 / (2 * h**2)


def accuracy(values, y):
    """Of decision values (m,) or (m, k)."""
    return (100 * np.mean((values.T > 0) == (y > 0), axis=-1)).tolist()


def interpolation(name, h, Cs, tolerances):
    """The paper's algorithm: HSS-ANN, ten iterations of ADMM, its bias, the exact kernel."""
    X, y, X_test, y_test = load_double(name)
    kernel, compressor = Gaussian(gamma_of(h)), HSSANN(**tolerances)
    tree, in_tree = timed(lambda: ClusterTree.build(X, published.LEAF_SIZE, random_state=SEED))
    matrix, in_compress = timed(lambda: compress(kernel, X, tree, compressor, random_state=SEED))
    problem, solver = SVCProblem(y[:, None] * np.array(Cs)), FixedIterationADMM()
    solution, in_solve = timed(lambda: solver.solve(problem, HSSOperator(matrix)))
    b = mean_intercept(solution.Z, solution.F, y, Cs)
    support = np.flatnonzero(solution.Z.any(axis=1))
    predictor = ExpansionPredictor(kernel, X[support], solution.Z[support])
    values, in_predict = timed(lambda: predictor(X_test) + b)
    return {
        "compress": in_tree + in_compress,
        "factor": solution.factor_seconds,
        "solve": in_solve - solution.factor_seconds,
        "predict": in_predict,
        "memory": (matrix.nbytes + solution.factor_bytes) / 1e6,
        "ranks": [int(ranks.max()) for ranks in matrix.ranks],
        "accuracy": accuracy(values, y_test),
    }


def expansion_accuracy(h, X, z, b, X_test, y_test):
    """Of ``sum_i k(., x_i) z_i + b``."""
    support = np.flatnonzero(z)
    predictor = ExpansionPredictor(Gaussian(gamma_of(h)), X[support], z[support, None])
    return accuracy(predictor(X_test)[:, 0] + b, y_test)


def mean_intercept(Z, F, y, Cs):
    """The bias of the paper: the mean of y - K~ z over the rows inside the box.

    With the sign corrected; 0 where there are no such rows.
    """
    inside = (Z != 0) & (np.abs(Z) < np.asarray(Cs))
    return np.where(inside, y[:, None] - F, 0).sum(axis=0) / np.maximum(1, inside.sum(axis=0))


def compressed(name, h, Cs):
    """One tree on the compressed kernel."""
    X, y, X_test, y_test = load_double(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        path = svc_path(
            X, y, Cs, gamma=gamma_of(h), approximation=HSS(n_trees=1), random_state=SEED
        )
    values, in_predict = timed(lambda: path.decision_function(X_test))
    report = path.fit_report_
    return {
        "compress": report.seconds["tree"] + report.seconds["compress"],
        "factor": report.seconds["factor"],
        "solve": report.seconds["solve"],
        "predict": in_predict,
        "memory": (report.matrix_bytes + report.factor_bytes) / 1e6,
        "ranks": report.ranks,
        "kernel_error": report.kernel_error,
        "gap": report.gap.tolist(),
        "accuracy": accuracy(values, y_test),
    }


def refined(name, h, C):
    """The default on the exact kernel."""
    X, y, X_test, y_test = load_double(name)
    model = SVC(C=C, gamma=gamma_of(h), refine=True, random_state=SEED)
    _, seconds = timed(lambda: model.fit(X, y))
    values, in_predict = timed(lambda: model.decision_function(X_test))
    return {
        "seconds": seconds,
        "predict": in_predict,
        "gap": float(model.fit_report_.gap[0]),
        "support": len(model.support_),
        "accuracy": accuracy(values, y_test),
    }


def libsvm(name, h, C):
    """LIBSVM with the tolerance of its command line.

    Its coefficients are evaluated by our kernel products: its own prediction takes minutes.
    """
    X, y, X_test, y_test = load_double(name)
    model = LibSVM(C=C, gamma=gamma_of(h), cache_size=2000)
    _, seconds = timed(lambda: model.fit(narrow(X), y))
    z = np.zeros(len(y))
    z[model.support_] = scipy.sparse.csr_array(model.dual_coef_).toarray()[0]
    return {
        "seconds": seconds,
        "support": len(model.support_),
        "accuracy": expansion_accuracy(h, X, z, model.intercept_, X_test, y_test),
    }


def blocks(name, h, C, max_time):
    """Multi-block ADMM on the exact kernel."""
    X, y, X_test, y_test = load_double(name)
    kernel = Gaussian(gamma_of(h))
    (z, b, sweeps), seconds = timed(lambda: multiblock.train(kernel, X, y, C, max_time, SEED))
    return {
        "seconds": seconds,
        "sweeps": sweeps,
        "accuracy": expansion_accuracy(h, X, z, b, X_test, y_test),
    }
