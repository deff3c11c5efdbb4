"""Kernels on tables: Gaussian, exponential and L1, on standardized features and on learned scales.

python -m benchmarks.tables.kernels [PROBLEM ...] [--methods METHOD ...] [--resume] [--render]

A fifth of the rows of each table are for the test, and the training rows are a random part of the
others. Up to 20,000 rows are fitted exactly, more of them in cells of 2,000 rows. All kernels have
the same rule for C and gamma: one fit of all rows has the best of 12 pairs. With at most 3,000
rows, the pairs are scored by three folds, and the figures are means of three divisions. With more,
four fifths of at most 50,000 rows are fitted in cells, and scored on the other fifth. gamma is a
multiple of the inverse of the median distance (squared for Gaussian kernels). The results go to
docs/results/table_kernels.json. Threads: set OMP_NUM_THREADS.
"""

import warnings
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import numpy as np
from scipy.spatial.distance import pdist

from benchmarks.command import parser_of
from benchmarks.command import run as run_command
from benchmarks.markdown import ABSENT, number, percent, prefixes, setup, table
from benchmarks.tables.data import CLASSIFICATION, REGRESSION, divided, read
from benchmarks.tables.tools import RIVALS
from benchmarks.timing import timed
from hssvm import SVC, SVCCV, SVR, SVRCV, Cells

NAME = "table_kernels"
KERNELS = {"Gaussian": "rbf", "exponential": "exponential", "L1": "laplacian"}
SCALINGS = ["standard", "learned"]
BOOSTING, ROUNDS, CATBOOST = "HistGradientBoosting", "the same, 1,000 rounds", "CatBoost"
METHODS = [*(f"{k}, {s}" for k, s in product(KERNELS, SCALINGS)), BOOSTING, ROUNDS, CATBOOST]

FEW_ROWS, EXACT_ROWS, CHOICE_ROWS, CELL_ROWS = 3000, 20_000, 50_000, 2000
WIDTHS, CS = [0.3, 1, 3, 10], [1, 10, 100]
ALL_ROWS = 464_810


@dataclass(frozen=True)
class Problem:
    """Training rows of a table; `n_trees` if they are divided into cells."""

    table: str
    rows: int
    task: str = CLASSIFICATION
    n_trees: int = 4

    @property
    def splits(self):
        """Several for few rows, whose scores vary."""
        return range(3 if self.rows <= FEW_ROWS else 1)

    @property
    def approximation(self):
        """None for an exact fit."""
        return Cells(CELL_ROWS, self.n_trees) if self.rows > EXACT_ROWS else None

    @property
    def methods(self):
        """Many rounds of boosting take too long on all rows of covtype.binary."""
        return METHODS[:-2] if self.rows == ALL_ROWS else METHODS


PROBLEMS = {
    "fri_c1, 800": Problem("593_fri_c1_1000_10", 800, REGRESSION),
    "cadata, 3,000": Problem("cadata", 3000, REGRESSION),
    "cadata, 16,512": Problem("cadata", 16_512, REGRESSION),
    "casp, 36,584": Problem("casp", 36_584, REGRESSION),
    "higgs_sample, 3,000": Problem("higgs_sample", 3000),
    "covtype.binary, 3,000": Problem("covtype.binary", 3000),
    "covtype.binary, 12,000": Problem("covtype.binary", 12_000),
    "covtype.binary, 50,000": Problem("covtype.binary", 50_000),
    "covtype.binary, 464,810, one tree": Problem("covtype.binary", ALL_ROWS, n_trees=1),
    "covtype.binary, 464,810": Problem("covtype.binary", ALL_ROWS),
}

read_once = lru_cache(1)(read)


def load_problem(problem, split):
    """The four arrays; values are standardized."""
    rows = problem.rows
    data = divided(*read_once(problem.table), problem.task, split, rows, test_rows=np.inf)
    if problem.task == CLASSIFICATION:
        return data
    X, y, X_test, y_test = data
    return X, (y - y.mean()) / y.std(), X_test, (y_test - y.mean()) / y.std()


def run(name, method):
    """Means over the splits: the score, and seconds to choose, to fit and to predict."""
    problem, found, chosen = PROBLEMS[name], [], []
    for split in problem.splits:
        X, y, X_test, y_test = load_problem(problem, split)
        parameters, choose = timed(lambda: choose_parameters(problem, method, split, X, y))
        options = {"approximation": problem.approximation} if parameters else {}
        model = make(problem, method, split, **parameters, **options)
        _, fit = timed(lambda: model.fit(X, y))
        score, predict = timed(lambda: model.score(X_test, y_test))
        found.append({"score": float(score), "choose": choose, "fit": fit, "predict": predict})
        chosen.append(parameters)
    means = {key: float(np.mean([one[key] for one in found])) for key in found[0]}
    sizes = {"rows": len(y), "test rows": len(y_test), "features": X.shape[1]}
    return {"task": problem.task, **sizes, **means, "chosen": chosen}


def make(problem, method, split, **options):
    """Make an estimator."""
    kernel, _, scaling = method.partition(", ")
    if kernel in KERNELS:
        make_svm = SVC if problem.task == CLASSIFICATION else SVR
        given = {"kernel": KERNELS[kernel], "scaling": scaling, "random_state": split}
        return make_svm(**given | options)
    if method == ROUNDS:
        return RIVALS[BOOSTING].make(problem.task, split).set_params(max_iter=1000)
    return RIVALS[method].make(problem.task, split)


def choose_parameters(problem, method, split, X, y):
    """C and gamma of a kernel; the scales are learned once, from the rows of the choice."""
    kernel = method.partition(", ")[0]
    if kernel not in KERNELS:
        return {}
    X, y = X[:CHOICE_ROWS], y[:CHOICE_ROWS]
    few = len(y) <= FEW_ROWS
    cells = {} if few else {"approximation": Cells(CELL_ROWS, n_trees=1)}
    scaled = make(problem, method, split, **cells).fit(X, y)
    X = (X - scaled.feature_shift_) * scaled.feature_factor_
    gammas = [multiple / median_distance(X, kernel) for multiple in WIDTHS]
    if few:
        make_search = SVCCV if problem.task == CLASSIFICATION else SVRCV
        given = {"kernel": KERNELS[kernel], "scaling": None, "cv": 3, "random_state": split}
        return make_search(CS, gammas=gammas, **given).fit(X, y).best_params_
    n_fit, scores = round(0.8 * len(y)), {}
    for pair in product(CS, gammas):
        model = make(problem, method, split, scaling=None, C=pair[0], gamma=pair[1], **cells)
        scores[pair] = model.fit(X[:n_fit], y[:n_fit]).score(X[n_fit:], y[n_fit:])
    return dict(zip(("C", "gamma"), max(scores, key=scores.get), strict=True))


def median_distance(X, kernel):
    """Between 1,000 rows; squared for Gaussian kernels, and in the L1 norm for L1 kernels."""
    metric = {"Gaussian": "sqeuclidean", "exponential": "euclidean", "L1": "cityblock"}[kernel]
    return float(np.median(pdist(X[:1000], metric)))


def run_all(results, arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in arguments.names:
            for method in arguments.methods:
                if method in PROBLEMS[name].methods:
                    results.measure(f"{name}: {method}", run, name, method)


def scores(task):
    """Accuracy in percent, or the root of the mean squared error in standard deviations of y."""
    return lambda results: by_method(results, task)


def score_of(run):
    if run["task"] == CLASSIFICATION:
        return percent(100 * run["score"])
    return number(np.sqrt(1 - run["score"]))


def by_method(results, task):
    """A line for each problem of a task, a column for each method."""
    lines = []
    for name in prefixes(results):
        runs = [results.runs.get(f"{name}: {method}") for method in METHODS]
        if task == next(run["task"] for run in runs if run):
            lines.append([name, *(score_of(run) if run else ABSENT for run in runs)])
    return table(["table, training rows", *METHODS], lines)


TABLES = {
    "setup": setup,
    "classification": scores(CLASSIFICATION),
    "regression": scores(REGRESSION),
}


def main():
    parser = parser_of(__doc__)
    parser.add_argument("names", nargs="*", default=list(PROBLEMS), metavar="PROBLEM")
    parser.add_argument("--methods", nargs="+", default=METHODS, choices=METHODS, metavar="METHOD")
    run_command(NAME, parser, run_all, TABLES)


if __name__ == "__main__":
    main()
