"""Time of predictions at 1, 10, 100 and 1,000 rows, with models of ijcnn1 and their exports.

python -m benchmarks.micro.single_rows

Medians, in microseconds, for a forest, a single tree, and the exact kernel: with hssvm, with the
Python file of `save_numpy`, and with the ONNX file in onnxruntime (pip install 'hssvm[onnx]'
onnxruntime). Threads: set OMP_NUM_THREADS, which also holds for onnxruntime.
"""

import argparse
import os
import runpy
import tempfile
from pathlib import Path

import numpy as np
import onnxruntime
from skl2onnx import to_onnx

from benchmarks.datasets import load
from benchmarks.timing import timed
from hssvm import SVC

MODELS = {
    "forest": {"refine": False},
    "one tree": {"refine": False, "n_trees": 1},
    "exact": {"refine": True},
}


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
    return {
        "hssvm": model.predict,
        "NumPy": exported,
        "ONNX": lambda rows: session.run([label], {name: rows})[0],
    }


def main():
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    X, y, X_test, _ = load("ijcnn1")
    X, X_test = np.asarray(X, np.float32), np.asarray(X_test, np.float32)
    for kind, options in MODELS.items():
        model = SVC(C=1.0, gamma=2.0, random_state=0, **options).fit(X, y)
        for name, predict in predictions_of(model, X[:1]).items():
            times = []
            for n_rows in (1, 10, 100, 1000):
                blocks = [X_test[i : i + n_rows] for i in range(0, 20 * n_rows, n_rows)]
                seconds = [timed(lambda rows=rows: predict(rows))[1] for rows in 4 * blocks]
                times.append(f"{n_rows:,} rows {1e6 * np.median(seconds):,.0f}")
            print(f"{kind}, {name}: {', '.join(times)}", flush=True)


if __name__ == "__main__":
    main()
