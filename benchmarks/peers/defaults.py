"""Estimators with no arguments, beside scikit-learn's and a grid search.

python -m benchmarks.peers.defaults [NAME ...] [--methods METHOD ...] [--resume] [--render]

Fits 10,000 training rows of each data set as they are stored, scaled or not, and scores at most
20,000 test rows. Each run is a process of its own, stopped after --limit seconds, the grid after
ten times as long. `SVCCV` and `SVRCV` are also compared with one fit with the parameters that they
have chosen, and with a grid: the best of 10 values of C and 10 of gamma on a fifth of the
standardized rows, held out, then trained on all. The results go to docs/results/defaults.json.
Threads: set OMP_NUM_THREADS.
"""

import warnings

import numpy as np
import scipy.sparse
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.model_selection import ShuffleSplit
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC as LibSVC
from sklearn.svm import SVR as LibSVR

from benchmarks.command import parser_of
from benchmarks.command import run as run_command
from benchmarks.datasets import load, narrow
from benchmarks.limit import limited
from benchmarks.markdown import ABSENT, number, percent, setup, table
from benchmarks.timing import timed
from hssvm import SVC, SVCCV, SVR, SVRCV
from hssvm.model_selection import rounds

CLASSIFICATION = [
    "cod-rna", "shuttle", "covtype.binary", "a9a", "ijcnn1", "phishing", "pendigits", "higgs_sample"
]  # fmt: skip
REGRESSION = ["cadata", "casp", "cpusmall", "kin40k"]
TRAIN, TEST = 10_000, 20_000
GRID = "10 x 10 grid"
SEED = 0


def grid(search, X, C_unit=1.0):
    """10 x 10 values around the usual ones; 'scale' is 1 / p on standardized rows."""
    rounds.FIRST_ROWS = X.shape[0]  # a single round, with all candidates and rows
    return search(
        Cs=C_unit * np.logspace(-1.5, 3, 10),
        gammas=np.logspace(-2.25, 2.25, 10) / X.shape[1],
        cv=ShuffleSplit(1, test_size=0.2, random_state=SEED),
        scaling="standard",
        random_state=SEED,
    )


def standardized_svr(X, y):
    svr = SVR(scaling="standard", random_state=SEED)
    return TransformedTargetRegressor(svr, transformer=StandardScaler())


METHODS = {
    "classification": {
        "SVC()": lambda X, y: SVC(random_state=SEED),
        "SVCCV()": lambda X, y: SVCCV(random_state=SEED),
        'SVC(scaling="standard")': lambda X, y: SVC(scaling="standard", random_state=SEED),
        "sklearn.svm.SVC()": lambda X, y: LibSVC(),
        "HistGradientBoosting()": lambda X, y: HistGradientBoostingClassifier(random_state=SEED),
        GRID: lambda X, y: grid(SVCCV, X),
    },
    "regression": {
        "SVR()": lambda X, y: SVR(random_state=SEED),
        "SVRCV()": lambda X, y: SVRCV(random_state=SEED),
        "SVR, X and y standardized": standardized_svr,
        "sklearn.svm.SVR()": lambda X, y: LibSVR(),
        "HistGradientBoosting()": lambda X, y: HistGradientBoostingRegressor(random_state=SEED),
        GRID: lambda X, y: grid(SVRCV, X, np.std(y)),
    },
}


def one_fit(search, X, y):
    """Seconds of a fit with the best parameters of a search."""
    make = SVR if isinstance(search, SVRCV) else SVC
    chosen = {"C": search.C_, "gamma": search.gamma_, "scaling": search.scaling_}
    model = make(**chosen | search.best_params_, random_state=SEED)
    return timed(lambda: model.fit(X, y))[1]


def run(name, method):
    """Fit and score one method."""
    X, y, X_test, y_test = load(name, max_train=TRAIN)
    test = np.random.default_rng(SEED).permutation(len(y_test))[:TEST]
    X_test, y_test = X_test[test], y_test[test]
    if method.startswith("HistGradientBoosting") and scipy.sparse.issparse(X):
        X, X_test = X.toarray(), X_test.toarray()
    make = METHODS["regression" if name in REGRESSION else "classification"][method]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model, seconds = timed(lambda: make(X, y).fit(narrow(X), y))
    found = {
        "rows": len(y),
        "fit": seconds,
        "score": 100 * float(model.score(narrow(X_test), y_test)),
        "warnings": sorted({f"{w.category.__name__}: {w.message}" for w in caught}),
    }
    if isinstance(model, SVCCV | SVRCV):
        found |= {"cv": 100 * model.best_score_, "C": model.C_, "gamma": model.gamma_}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found["one fit"] = one_fit(model, narrow(X), y)
    return found


def key_of(name, method):
    return f"{name}: {method}"


def run_all(results, names, methods, limit):
    for name in names:
        task = "regression" if name in REGRESSION else "classification"
        for method in METHODS[task]:
            if methods and method not in methods:
                continue
            seconds = 10 * limit if method == GRID else limit
            results.measure(key_of(name, method), limited, seconds, run, name, method)


def score_of(results, name, method):
    """A cell: the score, with a star if hssvm warned about the data, or why there is none."""
    found = results.runs.get(key_of(name, method), {})
    if "stopped" in found:
        return f"over {found['stopped']:g} s"
    star = any(text.startswith("DataWarning") for text in found.get("warnings", []))
    return found.get("error", percent(found.get("score")) + ("*" if star else ""))


def scores(task, names):
    """The table of a task, of all methods."""

    def render(results):
        lines = [[name, *(score_of(results, name, m) for m in METHODS[task])] for name in names]
        return table(["data set", *METHODS[task]], lines)

    return render


def choices(results):
    """What the searches chose, how far it is from the grid, and what it cost."""
    lines = []
    for name in CLASSIFICATION + REGRESSION:
        method = "SVRCV()" if name in REGRESSION else "SVCCV()"
        ours = results.runs.get(key_of(name, method), {})
        best = results.runs.get(key_of(name, GRID), {})
        difference = ratio = ABSENT
        if "score" in ours and "score" in best:
            difference = f"{ours['score'] - best['score']:+.2f}"
        if "one fit" in ours:
            ratio = f"{ours['fit'] / ours['one fit']:.1f}"
        cells = [number(run.get(which)) for run in (ours, best) for which in ("C", "gamma")]
        seconds = [number(run.get("fit"), 2) for run in (ours, best)]
        lines.append([name, *cells, difference, seconds[0], ratio, seconds[1]])
    head = ["data set", "C", "gamma", "C, grid", "gamma, grid", "points above the grid",
            "seconds", "fits", "seconds, grid"]  # fmt: skip
    return table(head, lines)


def advice(results):
    """The warnings."""
    lines = []
    for key, found in results.runs.items():
        name, _, method = key.partition(": ")
        texts = [t.partition(": ")[2] for t in found.get("warnings", []) if t.startswith("Data")]
        lines += [[name, method, text] for text in texts if method != GRID]
    return table(["data set", "estimator", "warning"], lines, left=3)


TABLES = {
    "setup": setup,
    "classification": scores("classification", CLASSIFICATION),
    "regression": scores("regression", REGRESSION),
    "choices": choices,
    "advice": advice,
}


def main():
    parser = parser_of(__doc__)
    parser.add_argument("names", nargs="*", default=CLASSIFICATION + REGRESSION)
    parser.add_argument("--methods", nargs="+", help="only these")
    parser.add_argument("--limit", type=float, default=300, help="seconds of one run")
    run_command(
        "defaults",
        parser,
        lambda results, a: run_all(results, a.names, a.methods, a.limit),
        TABLES,
    )


if __name__ == "__main__":
    main()
