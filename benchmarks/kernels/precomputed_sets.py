"""SVC on precomputed matrices beside scikit-learn's, on ten data sets.

python -m benchmarks.kernels.precomputed_sets [NAME ...] [--rows 3000] [--resume] [--render]

Both get the same Gaussian kernel matrix, in float64. *Dual* is the relative difference between the
dual objectives, *same* the share of equal labels among up to 2,000 test rows. The results go to
docs/results/precomputed_sets.json. Threads: set OMP_NUM_THREADS.
"""

import numpy as np
import scipy.sparse
from sklearn import svm
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import MaxAbsScaler

from benchmarks.command import run_sets
from benchmarks.datasets import load
from benchmarks.dual import below, dual_of
from benchmarks.markdown import percent, power, runs_table, seconds, setup
from benchmarks.timing import timed
from hssvm import SVC
from hssvm.kernels import Gaussian

NAMES = [
    "a9a", "w8a", "ijcnn1", "cod-rna", "phishing", "mushrooms", "covtype", "letter", "satimage",
    "pendigits",
]  # fmt: skip


def run(name, n_rows):
    """How much the solutions differ."""
    X, y, test_X, _ = load(name, max_train=n_rows)
    if test_X is None:
        X, test_X, y = X[: n_rows // 2], X[n_rows // 2 :], y[: n_rows // 2]
    scaler = MaxAbsScaler().fit(X)
    X, test_X = scaler.transform(X), scaler.transform(test_X[:2000])
    gamma = 4 / X.shape[1] if not scipy.sparse.issparse(X) else 0.05
    K, new_K = rbf_kernel(X, gamma=gamma), rbf_kernel(test_X, X, gamma=gamma)
    ours = SVC(10.0, kernel="precomputed", tol=1e-5)
    theirs = svm.SVC(C=10.0, kernel="precomputed", tol=1e-5)
    _, fit = timed(lambda: ours.fit(K, y))
    _, rival_fit = timed(lambda: theirs.fit(K, y))
    duals = [dual_of(model, Gaussian(gamma), X, y) for model in (ours, theirs)]
    return {
        "rows": len(y),
        "fit": fit,
        "rival fit": rival_fit,
        "same": 100 * float(np.mean(ours.predict(new_K) == theirs.predict(new_K))),
        "dual": abs(below(*duals)),
    }


COLUMNS = {
    "rows": ("rows", "{:,}".format),
    "same labels, %": ("same", percent),
    "duals differ by": ("dual", power),
    "fit": ("fit", seconds),
    "scikit-learn": ("rival fit", seconds),
}


TABLES = {"setup": setup, "sets": lambda results: runs_table("data set", COLUMNS, results.runs)}


def main():
    run_sets("precomputed_sets", __doc__, NAMES, run, TABLES, rows=3000)


if __name__ == "__main__":
    main()
