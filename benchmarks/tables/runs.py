"""The runs: tools on splits of tables, their errors and times."""

import warnings

import numpy as np
from sklearn.metrics import r2_score

from benchmarks.limit import limited
from benchmarks.tables.data import CLASSIFICATION, load_table, names
from benchmarks.tables.tools import ALL_TOOLS, OURS, SEARCHED
from benchmarks.timing import timed

LEAST_PROBABILITY = 1e-6
NOT_INSTALLED = "not installed"


def attempt(limit, table, tool, split, max_rows, *budget):
    """`run` in a process of its own, if the tool is installed."""
    if ALL_TOOLS[tool].version is None:
        return {"error": NOT_INSTALLED}
    return limited(limit, run, table, tool, split, max_rows, *budget)


def key_of(table, tool, split):
    return f"{table}: {tool}, {split}"


def run_all(results, arguments):
    """All tools on all tables of a split, then of the next one."""
    tasks = names()
    for split in arguments.splits:
        for table in arguments.tables or tasks:
            for tool in arguments.tools:
                if tasks[table] not in ALL_TOOLS[tool].tasks:
                    continue
                given = [table, tool, split, arguments.max_rows]
                if tool == SEARCHED:
                    ours = results.runs.get(key_of(table, OURS, split), {})
                    if "fit" not in ours:
                        continue  # no time that it could have
                    given.append(ours["fit"])
                results.measure(key_of(table, tool, split), attempt, arguments.limit, *given)


def add_options(parser, tools):
    """The options that choose a part of the runs."""
    add = parser.add_argument
    add("--tables", nargs="+", metavar="TABLE", help="only these")
    add("--tools", nargs="+", default=list(tools), choices=tools, metavar="TOOL",
        help=", ".join(tools))  # fmt: skip
    add("--splits", type=int, nargs="+", default=[0, 1, 2], metavar="SPLIT")
    add("--max-rows", type=int, default=10_000, help="training rows")
    add("--limit", type=float, default=1800, help="seconds of one run")


def run(table, tool, split, max_rows, *budget):
    """Fit a tool, and score it on the test rows; `budget` are the seconds of a search."""
    task, data = load_table(table, split, max_rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tool = ALL_TOOLS[tool]
        model = tool.make(task, split, *budget)
        found = scored(model, task, *data)
        return {"task": task, "version": tool.version, **found, **tool.notes(model)}


def scored(model, task, X, y, X_test, y_test):
    """Sizes, times and errors of a model; the log loss if it has probabilities."""
    model, fit = timed(lambda: model.fit(X, y))
    predicted, predict = timed(lambda: model.predict(X_test))
    found = {
        "rows": len(y),
        "test rows": len(y_test),
        "features": X.shape[1],
        "classes": int(y.max()) + 1 if task == CLASSIFICATION else 0,
        "fit": fit,
        "predict": predict,
        "test error": error_of(task, y_test, np.ravel(predicted)),
    }
    if task == CLASSIFICATION and hasattr(model, "predict_proba"):
        found["log loss"] = log_loss(y_test, model.predict_proba(X_test))
    return found


def error_of(task, y, predicted):
    """Share of wrong labels, or 1 - R^2."""
    if task == CLASSIFICATION:
        return float(np.mean(predicted != y))
    return float(1 - r2_score(y, predicted))


def log_loss(y, probabilities):
    """Mean of ``-log p`` of the true classes; no p counts as less than `LEAST_PROBABILITY`."""
    known = probabilities[np.arange(len(y)), np.maximum(y, 0)]
    p = np.where(y < 0, 0.0, known)
    return float(-np.log(np.maximum(p, LEAST_PROBABILITY)).mean())
