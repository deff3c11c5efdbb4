"""Time of predictions at 1, 10, 100 and 1,000 rows, with models of ijcnn1 and their exports.

python -m benchmarks.micro.single_rows [--resume] [--render]

Medians for a forest, a single tree, and the exact kernel: with hssvm, with the
Python file of `save_numpy`, and with the ONNX file in onnxruntime (pip install 'hssvm[onnx]'
onnxruntime). The results go to docs/results/single_rows.json. Threads: set OMP_NUM_THREADS, which
also holds for onnxruntime.
"""

import os
import runpy
import tempfile
from pathlib import Path

import numpy as np
import onnxruntime
from skl2onnx import to_onnx

from benchmarks.command import parser_of
from benchmarks.command import run as run_command
from benchmarks.datasets import load
from benchmarks.markdown import cell, number, setup, table
from benchmarks.timing import timed
from hssvm import HSS, SVC

MODELS = {
    "forest": {"approximation": HSS()},
    "one tree": {"approximation": HSS(n_trees=1)},
    "exact": {"refine": True},
}


TOOLS = ["hssvm", "NumPy", "ONNX"]
ROWS = [1, 10, 100, 1000]


def predictions_of(model, row):
    """Functions from rows to labels, by name."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.py"
        model.save_numpy(path)
        exported = runpy.run_path(str(path))["predict"]
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(os.environ.get("OMP_NUM_THREADS", "0"))
    graph = to_onnx(model, row).SerializeToString()
    session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    (name,) = (tensor.name for tensor in session.get_inputs())
    label = session.get_outputs()[0].name

    def in_graph(rows):
        return session.run([label], {name: rows})[0]

    return dict(zip(TOOLS, (model.predict, exported, in_graph), strict=True))


def run(kind):
    """Medians by tool and number of rows, in microseconds."""
    X, y, X_test, _ = load("ijcnn1")
    X, X_test = np.asarray(X, np.float32), np.asarray(X_test, np.float32)
    model = SVC(C=1.0, gamma=2.0, random_state=0, **MODELS[kind]).fit(X, y)
    found = {"support": len(model.support_)}
    for tool, predict in predictions_of(model, X[:1]).items():
        for n_rows in ROWS:
            starts = np.arange(0, min(20 * n_rows, len(X_test) - n_rows + 1), n_rows)
            blocks = [X_test[i : i + n_rows] for i in starts]
            times = [timed(lambda: predict(rows))[1] for rows in 4 * blocks]
            found[f"{tool}, {n_rows}"] = 1e6 * float(np.median(times))
    return found


def run_all(results, arguments):
    for kind in MODELS:
        results.measure(kind, run, kind)


def times_table(results):
    """Milliseconds."""
    lines = [
        [kind, tool, *(cell(found, f"{tool}, {n}", in_milliseconds) for n in ROWS)]
        for kind, found in results.runs.items()
        for tool in TOOLS
    ]
    heads = [f"{n:,} row{'s' if n > 1 else ''}, ms" for n in ROWS]
    return table(["model", "with", *heads], lines, left=2)


def in_milliseconds(microseconds):
    return number(microseconds / 1e3, 2)


TABLES = {"setup": setup, "times": times_table}


def main():
    run_command("single_rows", parser_of(__doc__), run_all, TABLES)


if __name__ == "__main__":
    main()
