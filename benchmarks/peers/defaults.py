"""Estimators with no arguments: hssvm before and after a change, beside scikit-learn's.

python -m benchmarks.peers.defaults [NAME ...] [--label after] [--resume] [--render]

Fits 10,000 training rows of each data set as they are stored, scaled or not, and scores at most
20,000 test rows. Each run is a process of its own, stopped after --limit seconds, the grid after
ten times as long. The runs of hssvm are recorded under --label: "before" runs `SVC`, `SVCCV` and
`SVR` only, so that another version of the package can be put on PYTHONPATH; "after" also runs the
remedies that the warnings name, scikit-learn, and the reference: the best of 10 values of C and 10
of gamma on a fifth of the standardized rows, held out, then trained on all. The results go to
results.json in the output folder and the tables into the page docs/defaults.md; --resume keeps the
runs that are there, --render only fills in the tables again. Threads: set OMP_NUM_THREADS.
"""

import argparse
import subprocess
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.model_selection import ShuffleSplit
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC as LibSVC
from sklearn.svm import SVR as LibSVR

import hssvm
from benchmarks import rendering
from benchmarks.datasets import load, narrow
from benchmarks.paper.limit import limited
from benchmarks.paper.results import Results
from benchmarks.rendering import ABSENT, number, percent, setup, table
from benchmarks.timing import timed
from hssvm import SVC, SVCCV, SVR

DOCS = Path(__file__).parents[2] / "docs"
CLASSIFICATION = [
    "cod-rna", "shuttle", "covtype.binary", "a9a", "ijcnn1", "phishing", "pendigits", "higgs_sample"
]  # fmt: skip
REGRESSION = ["cadata", "casp", "cpusmall", "kin40k"]
TRAIN, TEST = 10_000, 20_000
LABELS = ("before", "after")
SEED = 0


def grid(X, y):
    """10 x 10 values around the usual ones; 'scale' is 1 / p on standardized rows.

    The columns of many classes are only iterated together, for 100 iterations.
    """
    scale = 1 / X.shape[1]
    return SVCCV(
        Cs=np.logspace(-1.5, 3, 10),
        gammas=scale * np.logspace(-2.25, 2.25, 10),
        cv=ShuffleSplit(1, test_size=0.2, random_state=SEED),
        scaling="standard",
        max_iter=200 if np.unique(y).size == 2 else 100,
        random_state=SEED,
    )


def standardized_svr(X, y):
    svr = SVR(scaling="standard", random_state=SEED)
    return TransformedTargetRegressor(svr, transformer=StandardScaler())


OURS = {
    "SVC()": lambda X, y: SVC(random_state=SEED),
    "SVCCV()": lambda X, y: SVCCV(random_state=SEED),
    "SVR()": lambda X, y: SVR(random_state=SEED),
}
CLASSIFIERS = {
    'SVC(scaling="standard")': lambda X, y: SVC(scaling="standard", random_state=SEED),
    "sklearn.svm.SVC()": lambda X, y: LibSVC(),
    "HistGradientBoosting()": lambda X, y: HistGradientBoostingClassifier(random_state=SEED),
    "10 x 10 grid": grid,
}
REGRESSORS = {
    "SVR, X and y standardized": standardized_svr,
    "sklearn.svm.SVR()": lambda X, y: LibSVR(),
    "HistGradientBoosting()": lambda X, y: HistGradientBoostingRegressor(random_state=SEED),
}
METHODS = {
    "classification": {"SVC()": OURS["SVC()"], "SVCCV()": OURS["SVCCV()"], **CLASSIFIERS},
    "regression": {"SVR()": OURS["SVR()"], **REGRESSORS},
}


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
    if isinstance(model, SVCCV):
        found |= {"cv": 100 * model.best_score_, "C": model.C_, "gamma": model.gamma_}
    return found


def key_of(name, method, label):
    return f"{name}: {method}" + (f", {label}" if method in OURS else "")


def commit():
    """Of the package that is measured."""
    folder = Path(hssvm.__file__).parent
    command = ["git", "-C", str(folder), "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def run_all(results, names, methods, label, limit):
    version = commit()
    for name in names:
        task = "regression" if name in REGRESSION else "classification"
        for method in METHODS[task]:
            key = key_of(name, method, label)
            if (label == "before" and method not in OURS) or key in results.runs:
                continue
            if methods and method not in methods:
                continue
            seconds = 10 * limit if method == "10 x 10 grid" else limit
            found, wall = timed(lambda: limited(seconds, run, name, method))
            results.add(key, {**found, "commit": version, "wall": wall})
            print(f"{results.minutes:5.1f} min  {key}: {found}", flush=True)


def score_of(results, name, method, label=None):
    """A cell: the score, with a star if hssvm warned about the data, or why there is none."""
    found = results.runs.get(key_of(name, method, label), {})
    if "stopped" in found:
        return f"over {found['stopped']:g} s"
    star = any(text.startswith("DataWarning") for text in found.get("warnings", []))
    return found.get("error", percent(found.get("score")) + ("*" if star else ""))


def scores(task, names):
    """Hssvm before and after, then everything else."""
    ours = [method for method in METHODS[task] if method in OURS]
    others = [method for method in METHODS[task] if method not in OURS]

    def render(results):
        head = [
            "data set",
            *(f"{method}, {label}" for method in ours for label in LABELS),
            *others,
        ]
        lines = [
            [
                name,
                *(score_of(results, name, method, label) for method in ours for label in LABELS),
                *(score_of(results, name, method) for method in others),
            ]
            for name in names
        ]
        return table(head, lines)

    return render


def choices(results):
    """What `SVCCV()` chose, and how far it is from the grid."""
    lines = []
    for name in CLASSIFICATION:
        ours = results.runs.get(key_of(name, "SVCCV()", "after"), {})
        grid = results.runs.get(key_of(name, "10 x 10 grid", None), {})
        difference = ABSENT
        if "score" in ours and "score" in grid:
            difference = f"{ours['score'] - grid['score']:+.2f}"
        cells = [number(run.get(which)) for run in (ours, grid) for which in ("C", "gamma")]
        seconds = [number(run.get("fit"), 2) for run in (ours, grid)]
        lines.append([name, *cells, difference, *seconds])
    head = ["data set", "C", "gamma", "C, grid", "gamma, grid", "points above the grid",
            "seconds", "seconds, grid"]  # fmt: skip
    return table(head, lines)


def advice(results):
    """The warnings of the runs after the change."""
    lines = []
    for key, found in results.runs.items():
        name, _, method = key.partition(": ")
        texts = [t.partition(": ")[2] for t in found.get("warnings", []) if t.startswith("Data")]
        lines += [[name, method.removesuffix(", after"), text] for text in texts]
    return table(["data set", "estimator", "warning"], lines, left=3)


def versions(results):
    """Commits that were measured."""
    found = {
        label: sorted({run["commit"] for key, run in results.runs.items() if key.endswith(label)})
        for label in LABELS
    }
    return "; ".join(f"{label}: commit {', '.join(c) or ABSENT}" for label, c in found.items())


TABLES = {
    "setup": setup,
    "versions": versions,
    "classification": scores("classification", CLASSIFICATION),
    "regression": scores("regression", REGRESSION),
    "choices": choices,
    "advice": advice,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=CLASSIFICATION + REGRESSION)
    parser.add_argument("--methods", nargs="+", help="only these")
    parser.add_argument("--label", choices=LABELS, default="after")
    parser.add_argument("--limit", type=float, default=300, help="seconds of one run")
    parser.add_argument("--output", type=Path, default=DOCS / "defaults")
    parser.add_argument("--page", type=Path, default=DOCS / "defaults.md")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--render", action="store_true")
    arguments = parser.parse_args()
    file = arguments.output / "results.json"
    known = arguments.render or arguments.resume or arguments.label == "before"
    results = Results.read(file) if known and file.exists() else Results(file)
    if not arguments.render:
        run_all(results, arguments.names, arguments.methods, arguments.label, arguments.limit)
    rendering.fill(arguments.page, TABLES, results)


if __name__ == "__main__":
    main()
