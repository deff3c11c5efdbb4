"""Nine quantiles at once, beside LightGBM, and intervals that follow the noise.

python -m benchmarks.peers.quantiles [NAME ...] [--rows N] [--resume] [--render]

Targets are standardized. The kernel and C of `QuantileSVR` have the smallest pinball loss on a
fifth of at most 10,000 training rows; scales are learned. LightGBM trains a model for each
quantile, without arguments, and with 500 rounds. The pinball loss is the mean over the quantiles.
One `SVR` with the same parameters shows what the quantiles cost. The results go to
docs/results/quantiles.json. Threads: set OMP_NUM_THREADS.
"""

from itertools import product

import numpy as np

from benchmarks.command import parser_of
from benchmarks.command import run as run_command
from benchmarks.datasets import load, narrow
from benchmarks.markdown import number, percent, prefixes, seconds, setup, table
from benchmarks.timing import timed
from hssvm import SVR, QuantileSVR

NAMES = ["cadata", "kin40k", "casp", "power"]
QUANTILES = np.arange(1, 10) / 10
ENDS, COVERAGE = [0.05, 0.95], 0.9
KERNELS, CS = ["rbf", "exponential", "laplacian"], [0.3, 1, 3, 10]
CHOICE_ROWS = 10_000
ROUNDS = {"LightGBM": 100, "LightGBM, 500 rounds": 500}


def load_rows(name, n_rows):
    """Random training rows, and the test rows; y has a mean of 0 and a variance of 1."""
    X, y, X_test, y_test = load(name)
    rows = np.random.default_rng(0).permutation(len(y))[:n_rows]
    mean, deviation = y.mean(), y.std()
    y, y_test = (y[rows] - mean) / deviation, (y_test - mean) / deviation
    return narrow(X[rows]), y, narrow(X_test), y_test


def pinball_loss(y, predicted):
    error = y[:, None] - predicted
    return float(np.maximum(QUANTILES * error, (QUANTILES - 1) * error).mean())


def make(cls, chosen, **options):
    return cls(**chosen, scaling="learned", random_state=0, **options)


def choose(X, y):
    """The kernel and C with the smallest loss on a fifth of some rows."""
    X, y = X[:CHOICE_ROWS], y[:CHOICE_ROWS]
    n_fit, losses = round(0.8 * len(y)), {}
    for kernel, C in product(KERNELS, CS):
        model = make(QuantileSVR, {"kernel": kernel, "C": C}, quantile=QUANTILES)
        model.fit(X[:n_fit], y[:n_fit])
        losses[kernel, C] = pinball_loss(y[n_fit:], model.predict(X[n_fit:]))
    return dict(zip(("kernel", "C"), min(losses, key=losses.get), strict=True))


def run_hssvm(name, n_rows):
    X, y, X_test, y_test = load_rows(name, n_rows)
    chosen, choice = timed(lambda: choose(X, y))
    model = make(QuantileSVR, chosen, quantile=QUANTILES)
    _, fit = timed(lambda: model.fit(X, y))
    predicted, predict = timed(lambda: model.predict(X_test))
    report = model.fit_report_
    return {
        "rows": len(y), "test rows": len(y_test), "features": X.shape[1], **chosen,
        "loss": pinball_loss(y_test, predicted), "choose": choice, "fit": fit,
        "predict": predict, "scales": report.seconds["scales"], "exact": report.exact_kernel,
        "gap": float(report.gap.max()),
        "below": [float(np.mean(y_test <= own)) for own in predicted.T],
        "crossing": float(np.mean(np.diff(model._decision_values(X_test)) < 0)),
    }  # fmt: skip


def run_regression(name, n_rows, chosen):
    """One regression with the parameters of the quantiles."""
    X, y, _, _ = load_rows(name, n_rows)
    model = make(SVR, chosen)
    _, fit = timed(lambda: model.fit(X, y))
    return {"fit": fit, "scales": model.fit_report_.seconds["scales"]}


def run_intervals(name, n_rows, cls, chosen):
    """Coverage and mean width of intervals for 90 % of the test rows."""
    X, y, X_test, y_test = load_rows(name, n_rows)
    given = {"quantile": ENDS} if cls is QuantileSVR else {}
    model = make(cls, chosen, out_of_fold=True, **given)
    _, fit = timed(lambda: model.fit(X, y))
    low, high = model.predict_interval(X_test, COVERAGE).T
    inside = (low <= y_test) & (y_test <= high)
    order = np.argsort(high - low)  # of the narrowest and the widest fifth
    fifth = len(order) // 5
    return {
        "coverage": 100 * float(inside.mean()),
        "narrowest": 100 * float(inside[order[:fifth]].mean()),
        "widest": 100 * float(inside[order[-fifth:]].mean()),
        "width": float((high - low).mean()),
        "fit": fit,
    }


def run_lightgbm(name, n_rows, n_rounds):
    from lightgbm import LGBMRegressor

    X, y, X_test, y_test = load_rows(name, n_rows)
    given = {"objective": "quantile", "n_estimators": n_rounds, "n_jobs": 0, "verbose": -1}
    models = [LGBMRegressor(alpha=q, **given) for q in QUANTILES]
    _, fit = timed(lambda: [model.fit(X, y) for model in models])
    predicted = np.stack([model.predict(X_test) for model in models], axis=1)
    return {"loss": pinball_loss(y_test, np.sort(predicted, axis=1)), "fit": fit}


def run_all(results, arguments):
    for name in arguments.names:
        ours = results.measure(f"{name}: hssvm", run_hssvm, name, arguments.rows)
        for method, n_rounds in ROUNDS.items():
            results.measure(f"{name}: {method}", run_lightgbm, name, arguments.rows, n_rounds)
        chosen = {key: ours[key] for key in ("kernel", "C")}
        results.measure(f"{name}: one SVR", run_regression, name, arguments.rows, chosen)
        for cls in (QuantileSVR, SVR):
            key = f"{name}: intervals of {cls.__name__}"
            results.measure(key, run_intervals, name, arguments.rows, cls, chosen)


def losses_table(results):
    lines = []
    for name in prefixes(results):
        ours, one = results.runs[f"{name}: hssvm"], results.runs[f"{name}: one SVR"]
        rivals = [results.runs[f"{name}: {method}"] for method in ROUNDS]
        lines.append([
            name, number(ours["rows"]), f'`"{ours["kernel"]}"`, {ours["C"]:g}',
            *(number(run["loss"], 3) for run in (ours, *rivals)),
            *(seconds(run["fit"]) for run in (ours, *rivals)), number(ours["fit"] / one["fit"], 2),
        ])  # fmt: skip
    heads = ["data", "rows", "kernel, C", "`QuantileSVR`", *ROUNDS, "time of `QuantileSVR`",
             *(f"of {method}" for method in ROUNDS), "relative to one `SVR`"]  # fmt: skip
    return table(heads, lines)


def intervals_table(results):
    lines = []
    for name in prefixes(results):
        runs = [results.runs[f"{name}: intervals of {cls}"] for cls in ("QuantileSVR", "SVR")]
        lines.append([
            name, *(percent(run["coverage"]) for run in runs),
            *(number(run["width"], 3) for run in runs),
            *(percent(runs[0][part]) for part in ("narrowest", "widest")),
        ])  # fmt: skip
    heads = ["data", "covered by `QuantileSVR`, %", "by `SVR`, %", "mean width of `QuantileSVR`",
             "of `SVR`", "covered by the narrowest fifth, %", "by the widest, %"]  # fmt: skip
    return table(heads, lines)


TABLES = {"setup": setup, "losses": losses_table, "intervals": intervals_table}


def main():
    parser = parser_of(__doc__)
    parser.add_argument("names", nargs="*", default=NAMES, metavar="NAME")
    parser.add_argument("--rows", type=int, help="maximum number of training rows")
    run_command("quantiles", parser, run_all, TABLES)


if __name__ == "__main__":
    main()
