"""Learned scales beside standardized features.

python -m benchmarks.kernels.learned_scales [NAME ...] [--rows 4000] [--kernels NAME ...] [--render]

Trains on 4,000 rows of every data set with at most 300 features, once with scaling="standard" and
once with scaling="learned", with the same C and the default width, and scores on up to 20,000 other
rows: accuracy in percent, and RMSE relative to the standard deviation of y. The results go to
docs/results/learned_scales.json. Threads: set OMP_NUM_THREADS.
"""

import numpy as np

from benchmarks.command import parser_of
from benchmarks.command import run as run_command
from benchmarks.datasets import load, narrow
from benchmarks.markdown import number, percent, prefixes, seconds, setup, table
from benchmarks.timing import timed
from hssvm import SVC, SVR

MAX_FEATURES, TEST_ROWS, C = 300, 20_000, 10.0
CLASSIFICATION = (
    "a8a", "a9a", "w7a", "w8a", "ijcnn1", "cod-rna", "skin_nonskin", "kddcup99", "covtype",
    "covtype.binary", "phishing", "mushrooms", "heart_scale", "australian", "diabetes",
    "higgs_sample", "susy_sample", "usps", "letter", "pendigits", "satimage", "shuttle",
)  # fmt: skip
REGRESSION = ("cadata", "casp", "cpusmall", "abalone_scale", "kin40k", "power")
KERNELS = ("rbf", "exponential", "laplacian")


def rows_of(name, n_rows):
    """Training and test rows, drawn at random, and whether the task is a regression."""
    rng, regression = np.random.default_rng(0), name in REGRESSION
    X, y, test_X, test_y = load(name)
    train = rng.permutation(X.shape[0])[:n_rows]
    test = rng.permutation(test_X.shape[0])[:TEST_ROWS]
    y, test_y = np.asarray(y), np.asarray(test_y)
    if regression:
        mean, deviation = y[train].mean(), y[train].std()
        y, test_y = (y - mean) / deviation, (test_y - mean) / deviation
    return narrow(X[train]), y[train], narrow(test_X[test]), test_y[test], regression


def compare(name, kernel, n_rows):
    """Both scores, and what learning the scales took."""
    X, y, test_X, test_y, regression = rows_of(name, n_rows)
    figures = {"rows": X.shape[0], "features": X.shape[1], "regression": regression}
    for scaling in ("standard", "learned"):
        options = {"kernel": kernel, "scaling": scaling, "refine": True, "random_state": 0}
        model = SVR(C, **options) if regression else SVC(C, **options)
        _, figures[f"{scaling} fit"] = timed(lambda model=model: model.fit(X, y))
        error = model.predict(test_X) - test_y if regression else model.predict(test_X) != test_y
        figures[scaling] = float(np.sqrt(np.mean(error**2)) if regression else 100 * error.mean())
    report = model.fit_report_
    return figures | {
        "steps": report.n_scale_steps,
        "scales": report.seconds["scales"],
        "test rows": test_X.shape[0],
        "held out": report.scale_errors,
    }


def run_all(results, arguments):
    for name in arguments.names:
        for kernel in arguments.kernels:
            results.measure(f"{name}: {kernel}", compare, name, kernel, arguments.rows)


def scores_table(results):
    """Errors without and with learned scales, for each kernel."""
    kernels = list(dict.fromkeys(key.partition(": ")[2] for key in results.runs))
    lines = []
    for name in prefixes(results):
        runs = [results.runs.get(f"{name}: {kernel}", {}) for kernel in kernels]
        form = (lambda v: number(v, 3)) if name in REGRESSION else percent
        cells = [f"{form(r['standard'])} / {form(r['learned'])}" if r else "-" for r in runs]
        lines.append([name, number(runs[0]["features"]), *cells])
    return table(["error, standard / learned", "features", *kernels], lines)


def summary(results):
    """The largest loss, in units of what chance explains as well."""
    losses = {key: loss_of(run) for key, run in results.runs.items()}
    worst = max(losses, key=losses.get)
    kept = sum(run["steps"] > 0 for run in results.runs.values())
    slowest = max(run["scales"] for run in results.runs.values())
    return (
        f"Scales were kept in {kept} of {len(losses)} fits; the largest loss is "
        f"{number(losses[worst], 2)} ({worst}), in points of accuracy, or percent of the RMSE; "
        f"learning took at most {seconds(slowest)}."
    )


def loss_of(run):
    """What learned scales cost: points of accuracy, or percent of the RMSE."""
    if run["regression"]:
        return 100 * (run["learned"] / run["standard"] - 1)
    return run["learned"] - run["standard"]


TABLES = {"setup": setup, "scores": scores_table, "summary": summary}


def main():
    parser = parser_of(__doc__)
    parser.add_argument("names", nargs="*", default=(*CLASSIFICATION, *REGRESSION))
    parser.add_argument("--rows", type=int, default=4000)
    parser.add_argument("--kernels", nargs="*", default=KERNELS)
    run_command("learned_scales", parser, run_all, TABLES)


if __name__ == "__main__":
    main()
