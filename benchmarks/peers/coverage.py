"""Coverage of conformal prediction sets and intervals at a nominal 90 %, over random splits.

python -m benchmarks.peers.coverage [NAME ...] [--splits 20] [--rows 5000] [--resume] [--render]

Every split draws new training and test rows, as many each. *Size* is the mean number of classes in
a set, or the half-width of the intervals relative to the standard deviation of y. The results go to
docs/results/coverage.json.
"""

import numpy as np

from benchmarks.command import run_sets
from benchmarks.markdown import percent, setup, table
from benchmarks.peers.settings import REGRESSION, load_problem
from hssvm import SVC, SVR

NAMES = ["ijcnn1", "a9a", "cod-rna", "letter", "casp", "cadata"]
COVERAGE = 0.9


def covered(model, X, y):
    """Fraction of rows whose set or interval contains y, and its size."""
    if isinstance(model, SVR):
        low, high = model.predict_interval(X, COVERAGE).T
        return np.mean((low <= y) & (y <= high)), (high - low).mean() / 2 / np.std(y)
    sets = model.predict_set(X, COVERAGE)
    codes = np.searchsorted(model.classes_, y)
    return sets[np.arange(y.size), codes].mean(), sets.sum(axis=1).mean()


def run(name, n_splits, n_rows):
    """Score, coverage and size of every split."""
    (X, y, _, _), parameters = load_problem(name)
    make, found = SVR if "epsilon" in parameters else SVC, []
    for split in range(n_splits):
        train, test = np.random.default_rng(split).permutation(len(y))[: 2 * n_rows].reshape(2, -1)
        model = make(**parameters, out_of_fold=True, random_state=split).fit(X[train], y[train])
        found.append((model.score(X[test], y[test]), *covered(model, X[test], y[test])))
    score, coverage, size = np.array(found).T
    return {
        "classes": 0 if make is SVR else len(model.classes_),
        "score": (100 * score).tolist(),
        "coverage": (100 * coverage).tolist(),
        "size": size.tolist(),
    }


def splits_table(results):
    lines = []
    for name, run in results.runs.items():
        many = f", {run['classes']} classes" if run["classes"] > 2 else ""
        coverage = run["coverage"]
        lines.append(
            [
                name + (", regression" if name in REGRESSION else many),
                percent(np.mean(run["score"])),
                *(percent(f(coverage)) for f in (np.mean, min, max)),
                f"{np.mean(run['size']):.2f}",
            ]
        )
    head = ["data set", "score, %", "coverage, %", "lowest split", "highest split", "size"]
    return table(head, lines)


TABLES = {"setup": setup, "splits": splits_table}


def main():
    run_sets("coverage", __doc__, NAMES, run, TABLES, splits=20, rows=5000)


if __name__ == "__main__":
    main()
