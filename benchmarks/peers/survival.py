"""Lifetimes of which most are censored, beside scikit-survival.

python -m benchmarks.peers.survival [NAME ...] [--splits S [S ...]] [--resume] [--render]

The data sets of scikit-survival, of which 30 % of the rows are for tests. `CensoredSVR` is trained
on the logarithms of the times, with an exponential kernel and learned scales. Its width and C, and
gamma of `FastKernelSurvivalSVM`, are chosen for the highest mean concordance index in three folds
of the training rows. `FastKernelSurvivalSVM` needs the square of the rows in memory, and is trained
on at most 2,000. The other methods have their defaults. The results go to
docs/results/survival.json. Threads: set OMP_NUM_THREADS.
"""

from itertools import product

import numpy as np

from benchmarks.command import parser_of
from benchmarks.command import run as run_command
from benchmarks.markdown import number, prefixes, seconds, setup, table
from benchmarks.timing import timed
from hssvm import CensoredSVR

NAMES = ["flchain", "gbsg2", "whas500"]
SPLITS = [0, 1, 2]
LEFT_OUT = {"flchain": ["chapter"]}
"""Columns that are known only after the event: the cause of death."""

KERNELS, WIDTHS, CS = ["exponential"], [3, 10, 30], [0.003, 0.03, 0.3]
GAMMAS = [0.01, 0.1, 1]
SAMPLE, FOLDS = 2000, 3


def load_rows(name, split):
    """Training and test rows, standardized, with their times and events."""
    import pandas
    from sksurv import datasets

    frame, y = getattr(datasets, f"load_{name}")()
    frame = pandas.get_dummies(frame.drop(columns=LEFT_OUT.get(name, [])), dtype=float)
    frame = frame.fillna(frame.mean())
    event, time = (y[field] for field in y.dtype.names)
    order = np.random.default_rng(split).permutation(len(y))
    n_fit = round(0.7 * len(y))
    X = frame.to_numpy()[order]
    X = (X - X[:n_fit].mean(axis=0)) / np.maximum(X[:n_fit].std(axis=0), 1e-12)
    time = np.maximum(time.astype(float), 0.5)[order]  # some died on the first day
    data = X, event[order], time
    return tuple(part[:n_fit] for part in data), tuple(part[n_fit:] for part in data)


def concordance(event, time, risk):
    from sksurv.metrics import concordance_index_censored

    return float(concordance_index_censored(event, time, risk)[0])


def structured(event, time):
    from sksurv.util import Surv

    return Surv.from_arrays(event, time)


def fit_ours(X, event, time, kernel, width, C):
    """Return the risk, minus the predicted logarithm of the time, as a function of rows.

    The width is relative to that of gamma="scale".
    """
    y = structured(event, np.log(time))
    model = CensoredSVR(C=C, kernel=kernel, scaling="learned", random_state=0).fit(X, y)
    if width > 1:
        power = 2 if kernel == "rbf" else 1
        model.set_params(gamma=model.kernel_.gamma / width**power).fit(X, y)
    return lambda rows: -model.predict(rows)


def fit_kernel_svm(X, event, time, gamma):
    """Train FastKernelSurvivalSVM on a sample; gamma is relative to 1 / features."""
    from sksurv.svm import FastKernelSurvivalSVM

    gamma = gamma / X.shape[1]
    model = FastKernelSurvivalSVM(gamma=gamma, kernel="rbf", random_state=0)
    return model.fit(X[:SAMPLE], structured(event[:SAMPLE], time[:SAMPLE])).predict


def fit_cox(X, event, time):
    from sksurv.linear_model import CoxPHSurvivalAnalysis

    model = CoxPHSurvivalAnalysis(alpha=1e-3)  # without it, columns that add up to 1 are refused
    return model.fit(X, structured(event, time)).predict


def fit_forest(X, event, time):
    from sksurv.ensemble import RandomSurvivalForest

    return RandomSurvivalForest(random_state=0).fit(X, structured(event, time)).predict


METHODS = {
    "`CensoredSVR`": (fit_ours, {"kernel": KERNELS, "width": WIDTHS, "C": CS}),
    "`FastKernelSurvivalSVM`": (fit_kernel_svm, {"gamma": GAMMAS}),
    "`CoxPHSurvivalAnalysis`": (fit_cox, {}),
    "`RandomSurvivalForest`": (fit_forest, {}),
}


def choose(fit, grid, X, event, time):
    """The parameters with the highest mean index on the rows left out."""
    candidates = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
    if len(candidates) == 1:
        return candidates[0]
    scores, fold = np.zeros(len(candidates)), np.arange(len(X)) % FOLDS
    for i, left_out in product(range(len(candidates)), range(FOLDS)):
        train, rows = fold != left_out, fold == left_out
        risk = fit(X[train], event[train], time[train], **candidates[i])(X[rows])
        scores[i] += concordance(event[rows], time[rows], risk)
    return candidates[int(np.argmax(scores))]


def run_method(name, split, method):
    train, (X_test, *test) = load_rows(name, split)
    fit, grid = METHODS[method]
    chosen, choice = timed(lambda: choose(fit, grid, *train))
    risk, seconds_of_fit = timed(lambda: fit(*train, **chosen))
    n_rows = len(train[0])
    return {
        "rows": min(n_rows, SAMPLE) if fit is fit_kernel_svm else n_rows,
        "test rows": len(X_test), "features": X_test.shape[1], "known": float(np.mean(train[1])),
        **chosen, "choose": choice, "fit": seconds_of_fit,
        "concordance": concordance(*test, risk(X_test)),
    }  # fmt: skip


def run_all(results, arguments):
    for name, split, method in product(arguments.names, arguments.splits, METHODS):
        results.measure(f"{name}: {method}, {split}", run_method, name, split, method)


def means(results, name, method, field):
    keys = [key for key in results.runs if key.startswith(f"{name}: {method}, ")]
    return float(np.mean([results.runs[key][field] for key in keys]))


def concordance_table(results):
    lines = []
    for name in prefixes(results):
        ours = f"{name}: `CensoredSVR`, 0"
        lines.append([
            name, number(results.runs[ours]["rows"]), number(results.runs[ours]["known"], 2),
            *(f"{means(results, name, method, 'concordance'):.4f}" for method in METHODS),
        ])  # fmt: skip
    return table(["data", "rows", "share of known times", *METHODS], lines)


def times_table(results):
    lines = []
    for name in prefixes(results):
        own = [name]
        for method in METHODS:
            parts = ("choose", "fit") if METHODS[method][1] else ("fit",)
            times = (means(results, name, method, part) for part in parts)
            own.append(" + ".join(map(seconds, times)))
        lines.append(own)
    return table(["data", *METHODS], lines)


TABLES = {"setup": setup, "concordance": concordance_table, "times": times_table}


def main():
    parser = parser_of(__doc__)
    parser.add_argument("names", nargs="*", default=NAMES, metavar="NAME")
    parser.add_argument("--splits", nargs="+", type=int, default=SPLITS, metavar="SPLIT")
    run_command("survival", parser, run_all, TABLES)


if __name__ == "__main__":
    main()
