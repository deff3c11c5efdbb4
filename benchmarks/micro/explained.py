"""Exact Shapley values: their time and accuracy, beside KernelExplainer of shap, and of a file.

python -m benchmarks.micro.explained [--rows 200] [--repeats 5] [--resume] [--render]

Models of ijcnn1 explain rows of its test set on one thread: exact, as forests, and with
`shap.KernelExplainer` at its default number of samples, which calls the predictions of hssvm or of
scikit-learn. An exact model of cod-rna explains all test rows by ``hssvm explain``, on the threads
of OMP_NUM_THREADS. The results go to docs/results/explained.json.
"""

import tempfile
import warnings
from pathlib import Path

import numpy as np
import sklearn.svm

from benchmarks.command import parser_of
from benchmarks.command import run as run_command
from benchmarks.limit import limited
from benchmarks.markdown import gigabytes, milliseconds, number, power, runs_table, seconds, setup
from benchmarks.memory import peak_bytes
from benchmarks.peers.settings import load_setting
from benchmarks.timing import Fastest, timed
from hssvm import HSS, SVC, Cells
from hssvm._threads import openmp_threads
from hssvm.cli.app import app

LIMIT = 3600
PARAMETERS = {"C": 1.0, "gamma": 2.0}
N_BACKGROUND = 20
MODELS = {
    "exact": {"refine": True},
    "exact, exponential kernel": {"refine": True, "kernel": "exponential"},
    "compressed kernels": {"refine": False, "approximation": HSS()},
    "cells": {"refine": False, "approximation": Cells()},
}


def load_rows():
    (X, y, X_test, _), _ = load_setting("ijcnn1")
    rng = np.random.default_rng(0)
    background = X[rng.choice(len(y), N_BACKGROUND, replace=False)]
    return X, y, X_test, background


def run_model(name, n_rows, repeats):
    """A model of ijcnn1 and its time per row, for many rows and for one."""
    X, y, X_test, background = load_rows()
    model = SVC(**PARAMETERS, **MODELS[name], random_state=0).fit(X.astype(np.float64), y)
    rows, fastest = X_test[:n_rows].astype(np.float64), Fastest()
    with openmp_threads(1):
        for i in range(repeats):
            explanation = fastest.time("many", lambda: model.explain(rows, background))
            fastest.time("one", lambda i=i: model.explain(rows[i : i + 1], background))
    total = explanation.values.sum(axis=1) + explanation.base_values
    return {
        "support": points_per_row(model),
        "features": X.shape[1],
        "many": fastest["many"] / n_rows,
        "one": fastest["one"],
        "sum_error": float(np.abs(total - model.decision_function(rows)).max()),
    }


def points_per_row(model):
    """Mean number of points in the expansions that predict a row: of one leaf per tree."""
    predictor = model._predictor()
    if predictor.compressed is None:
        return len(predictor.X)
    return sum(len(tree.rows) / tree.tree.n_leaves for tree in predictor.trees)


def run_kernel_explainer(which):
    """Time per row and error of `shap.KernelExplainer`, with the predictions of one package."""
    import shap

    X, y, X_test, background = load_rows()
    X = X.astype(np.float64)
    rows, background = X_test[:2].astype(np.float64), background.astype(np.float64)
    model = SVC(**PARAMETERS, refine=True, random_state=0).fit(X, y)
    exact = model.explain(rows, background).values
    function = model.decision_function
    if which == "scikit-learn":
        function = sklearn.svm.SVC(**PARAMETERS).fit(X, y).decision_function
        rows, exact = rows[:1], exact[:1]
    with warnings.catch_warnings(), openmp_threads(1):
        warnings.simplefilter("ignore")
        explainer = shap.KernelExplainer(function, background)
        values, spent = timed(lambda: explainer.shap_values(rows, silent=True))
    return {
        "row": spent / len(rows),
        "samples": 2 * X.shape[1] + 2**11,
        "error": float(np.abs(values - exact).max()),
        "largest": float(np.abs(exact).max()),
    }


def run_file():
    """``hssvm explain`` of all test rows of cod-rna, in a process of its own."""
    import pyarrow
    from pyarrow import parquet

    (X, y, X_test, _), parameters = load_setting("cod-rna")
    model = SVC(**parameters, refine=True, random_state=0).fit(X, y)
    with tempfile.TemporaryDirectory() as folder:
        data, saved = Path(folder) / "rows.parquet", Path(folder) / "model.hssvm"
        table = pyarrow.table({f"x{j}": column for j, column in enumerate(X_test.T)})
        parquet.write_table(table, data)
        model.save(saved)
        found, spent = timed(lambda: limited(LIMIT, explain_file, saved, data))
        values = parquet.read_table(Path(folder) / "values.parquet").to_pandas()
    few = slice(0, len(X_test), max(1, len(X_test) // 1000))
    rows = X_test[few]
    error = np.abs(values.to_numpy()[few].sum(axis=1) - model.decision_function(rows)).max()
    return {
        "rows": len(X_test),
        "features": X.shape[1],
        "support": len(model.support_vectors_),
        "spent": spent,
        "sum_error": float(error),
        **found,
    }


def explain_file(model, data):
    """What the command does, and the peak of its memory."""
    output = Path(data).with_name("values.parquet")
    arguments = ["explain", model, data, "--quiet", "-o", output]
    app(list(map(str, arguments)), standalone_mode=False)
    return {"peak": peak_bytes()}


KERNEL_EXPLAINER, FILE = "KernelExplainer: ", "cod-rna"


def run_all(results, arguments):
    for name in MODELS:
        results.measure(f"model: {name}", run_model, name, arguments.rows, arguments.repeats)
    for which in ("hssvm", "scikit-learn"):
        results.measure(f"{KERNEL_EXPLAINER}{which}", run_kernel_explainer, which)
    results.measure(FILE, run_file)


def of_kind(results, prefix):
    runs = results.runs.items()
    return {key.removeprefix(prefix): run for key, run in runs if key.startswith(prefix)}


def models_table(results):
    columns = {
        "points per row": ("support", lambda value: f"{value:,.0f}"),
        "per row, of many": ("many", milliseconds),
        "a single row": ("one", milliseconds),
        "error of the sum": ("sum_error", power),
    }
    return runs_table("model", columns, of_kind(results, "model: "))


def explainer_table(results):
    exact = results.runs["model: exact"]["many"]
    runs = {
        f"predictions of {which}": {**run, "times": run["row"] / exact}
        for which, run in of_kind(results, KERNEL_EXPLAINER).items()
    }
    columns = {
        "per row": ("row", seconds),
        "times as long as `explain`": ("times", lambda value: number(value, 2)),
        "samples": ("samples", "{:,}".format),
        "largest error": ("error", lambda value: number(value, 2)),
        "largest value": ("largest", lambda value: number(value, 2)),
    }
    return runs_table("`shap.KernelExplainer`", columns, runs)


def file_table(results):
    columns = {
        "rows": ("rows", "{:,}".format),
        "features": ("features", str),
        "support vectors": ("support", "{:,}".format),
        "time": ("spent", seconds),
        "peak memory": ("peak", gigabytes),
        "error of the sum": ("sum_error", power),
    }
    return runs_table("", columns, of_kind(results, FILE))


TABLES = {
    "setup": setup,
    "models": models_table,
    "kernel_explainer": explainer_table,
    "file": file_table,
}


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=5)
    run_command("explained", parser, run_all, TABLES)


if __name__ == "__main__":
    main()
