"""Coverage of conformal prediction sets and intervals at a nominal 90 %, over random splits.

python -m benchmarks.peers.coverage [NAME ...] [--splits 20] [--rows 5000] [--coverage 0.9]

Every split draws new training and test rows, as many each. *Size* is the mean number of classes in
a set, or the half-width of the intervals relative to the standard deviation of y.
"""

import argparse

import numpy as np

from benchmarks.peers.settings import REGRESSION, load_regression, load_setting
from hssvm import SVC, SVR

NAMES = ["ijcnn1", "a9a", "cod-rna", "letter", "casp", "cadata"]


def covered(model, X, y, coverage):
    """Fraction of rows whose set or interval contains y, and its size."""
    if isinstance(model, SVR):
        low, high = model.predict_interval(X, coverage).T
        return np.mean((low <= y) & (y <= high)), (high - low).mean() / 2 / np.std(y)
    sets = model.predict_set(X, coverage)
    codes = np.searchsorted(model.classes_, y)
    return sets[np.arange(y.size), codes].mean(), sets.sum(axis=1).mean()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--coverage", type=float, default=0.9)
    arguments = parser.parse_args()
    print(f"{'':14s}{'score':>8s}{'coverage':>11s}{'lowest':>9s}{'highest':>9s}{'size':>8s}")
    for name in arguments.names:
        regression = name in REGRESSION
        (X, y, _, _), parameters = (load_regression if regression else load_setting)(name)
        results = []
        for split in range(arguments.splits):
            order = np.random.default_rng(split).permutation(len(y))
            train, test = order[: arguments.rows], order[arguments.rows : 2 * arguments.rows]
            make = SVR if regression else SVC
            model = make(**parameters, out_of_fold=True, random_state=split)
            model.fit(X[train], y[train])
            coverage, size = covered(model, X[test], y[test], arguments.coverage)
            results.append((model.score(X[test], y[test]), coverage, size))
        score, coverage, size = np.array(results).T
        print(
            f"{name:14s}{score.mean():8.4f}{100 * coverage.mean():9.2f} %"
            f"{100 * coverage.min():7.1f} %{100 * coverage.max():7.1f} %{size.mean():8.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
