"""Parameters chosen by SVCCV and SVRCV beside those of GridSearchCV with scikit-learn's SVM.

python -m benchmarks.peers.grid_search [NAME ...] [--rows 4000]

Both get the same standardized rows, folds and grid of 5 x 5 values. *Difference* is the score of
GridSearchCV for our choice minus that for its own, and *error* the standard error of the latter:
the choices are equivalent if the difference is smaller. Threads: set OMP_NUM_THREADS.
"""

import argparse
import warnings

import numpy as np
import scipy.sparse
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from benchmarks.datasets import load
from benchmarks.timing import timed
from hssvm import SVCCV, SVRCV

NAMES = ["ijcnn1", "cod-rna", "phishing", "pendigits", "satimage", "shuttle"]
REGRESSION = {"casp", "cadata", "cpusmall", "kin40k"}


def compare(name, n_rows):
    X, y, _, _ = load(name, max_train=n_rows)
    X = StandardScaler().fit_transform(X.toarray() if scipy.sparse.issparse(X) else X)
    Cs, gammas = np.logspace(-1, 3, 5), np.logspace(-2, 2, 5) / X.shape[1]
    if name in REGRESSION:
        y = (y - np.mean(y)) / np.std(y)
        cv = KFold(5, shuffle=True, random_state=0)
        kind, search, options = SVR(epsilon=0.1), SVRCV, {"epsilon": 0.1}
    else:
        cv = StratifiedKFold(5, shuffle=True, random_state=0)
        kind, search, options = SVC(), SVCCV, {}
    ours = search(Cs, gammas=gammas, cv=cv, scaling=None, random_state=0, **options)
    theirs = GridSearchCV(kind, {"C": Cs, "gamma": gammas}, cv=cv)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the edges of the grid
        _, seconds = timed(lambda: ours.fit(X, y))
        _, their_seconds = timed(lambda: theirs.fit(X, y))
    results = theirs.cv_results_
    (i,) = (
        j
        for j, params in enumerate(results["params"])
        if np.isclose(params["C"], ours.C_) and np.isclose(params["gamma"], ours.gamma_)
    )
    best = theirs.best_index_
    scores = np.array([results[f"split{f}_test_score"][[i, best]] for f in range(5)])
    error = scores[:, 1].std(ddof=1) / 5**0.5
    difference = scores[:, 0].mean() - scores[:, 1].mean()
    chosen = f"C {ours.C_:<6.3g} gamma {ours.gamma_:<7.3g}"
    expected = f"C {theirs.best_params_['C']:<6.3g} gamma {theirs.best_params_['gamma']:<7.3g}"
    print(
        f"{name:12s}{len(y):6d} rows  ours {chosen} theirs {expected} difference {difference:+.4f}"
        f"  error {error:.4f}  {'agree' if abs(difference) <= error else 'DIFFER'}"
        f"  {seconds:6.1f} s  {their_seconds:6.1f} s",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--rows", type=int, default=4000)
    arguments = parser.parse_args()
    for name in arguments.names:
        compare(name, arguments.rows)


if __name__ == "__main__":
    main()
