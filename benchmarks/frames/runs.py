"""The runs: tools on splits of frames, their errors and times."""

import warnings

from benchmarks.frames.data import FRAMES, load_frame
from benchmarks.frames.tools import TOOLS
from benchmarks.limit import limited
from benchmarks.tables.data import CLASSIFICATION
from benchmarks.tables.runs import error_of, key_of
from benchmarks.timing import timed


def run(name, tool, split, max_rows):
    """Fit a tool, and score it on the test rows."""
    X, y, X_test, y_test = load_frame(name, split, max_rows)
    task = FRAMES[name].task
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model, fit = timed(lambda: TOOLS[tool].make(task, split).fit(X, y))
        predicted, predict = timed(lambda: model.predict(X_test))
    y_test = y_test.astype(str) if task == CLASSIFICATION else y_test
    predicted = predicted.astype(str) if task == CLASSIFICATION else predicted
    return {
        "task": task,
        "version": TOOLS[tool].version,
        "rows": len(y),
        "test rows": len(y_test),
        "columns": X.shape[1],
        "text": X.select_dtypes(exclude="number").shape[1],
        "fit": fit,
        "predict": predict,
        "test error": error_of(task, y_test.to_numpy(), predicted),
    }


def run_all(results, arguments):
    """All tools on all frames of a split, then of the next one."""
    for split in arguments.splits:
        for name in arguments.frames:
            for tool in arguments.tools:
                given = name, tool, split, arguments.max_rows
                results.measure(key_of(name, tool, split), limited, arguments.limit, run, *given)
