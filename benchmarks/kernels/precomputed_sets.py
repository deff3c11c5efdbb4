"""SVC on precomputed matrices beside scikit-learn's, on ten data sets.

python -m benchmarks.kernels.precomputed_sets [NAME ...] [--rows 3000]

Both get the same Gaussian kernel matrix, in float64. *Dual* is the relative difference between the
dual objectives (two classes), *same* the share of equal labels among up to 2,000 test rows.
Threads: set OMP_NUM_THREADS.
"""

import argparse

import numpy as np
import scipy.sparse
from sklearn import svm
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import MaxAbsScaler

from benchmarks.datasets import load
from benchmarks.kernels.objective import dual_objective
from benchmarks.timing import timed
from hssvm import SVC

NAMES = [
    "a9a", "w8a", "ijcnn1", "cod-rna", "phishing", "mushrooms", "covtype", "letter", "satimage",
    "pendigits",
]  # fmt: skip


def compare(name, n_rows):
    X, y, test_X, _ = load(name, max_train=n_rows)
    if test_X is None:
        X, test_X, y = X[: n_rows // 2], X[n_rows // 2 :], y[: n_rows // 2]
    scaler = MaxAbsScaler().fit(X)
    X, test_X = scaler.transform(X), scaler.transform(test_X[:2000])
    gamma = 4 / X.shape[1] if not scipy.sparse.issparse(X) else 0.05
    K, new_K = rbf_kernel(X, gamma=gamma), rbf_kernel(test_X, X, gamma=gamma)
    ours = SVC(10.0, kernel="precomputed", tol=1e-5)
    theirs = svm.SVC(C=10.0, kernel="precomputed", tol=1e-5)
    _, seconds = timed(lambda: ours.fit(K, y))
    _, their_seconds = timed(lambda: theirs.fit(K, y))
    same = np.mean(ours.predict(new_K) == theirs.predict(new_K))
    dual = ""
    if len(ours.classes_) == 2:
        values = [dual_objective(K, m) for m in (ours, theirs)]
        dual = f"dual {abs(values[0] / values[1] - 1):.0e}"
    print(
        f"{name:12s}{len(y):6d} rows  same {same:7.2%}  {dual:11s}  {seconds:5.2f} s  scikit-learn "
        f"{their_seconds:5.2f} s",
        flush=True,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--rows", type=int, default=3000)
    arguments = parser.parse_args()
    for name in arguments.names:
        compare(name, arguments.rows)
