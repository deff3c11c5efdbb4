"""Training on a precomputed kernel matrix that is larger than memory, beside the same rows.

python -m benchmarks.kernels.precomputed [--rows 50000] [--folder FOLDER] [--resume] [--render]

Writes the Gaussian kernel matrix of rows of ijcnn1 to a file in float32 (10 GB for 50,000 rows),
and trains on the memory map in another process, which counts the bytes that it reads and its peak
memory. Then trains on the rows themselves. The results go to docs/results/precomputed.json.
Threads: set OMP_NUM_THREADS.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.command import parser_of
from benchmarks.command import run as run_command
from benchmarks.datasets import dense, load
from benchmarks.dual import below, dual_objective, dual_of
from benchmarks.limit import limited
from benchmarks.markdown import gigabytes, percent, power, runs_table, seconds, setup, share
from benchmarks.memory import peak_bytes
from benchmarks.timing import timed
from hssvm import SVC
from hssvm.kernels import Gaussian, Precomputed

C, GAMMA = 10.0, 2.0
PREDICTED = 2000
LIMIT = 3600
KEY = "matrix and rows"


def write(path, X):
    """Write the kernel matrix of the rows, block by block."""
    K = np.lib.format.open_memmap(path, "w+", np.float32, (len(X), len(X)))
    for begin in range(0, len(X), 1000):
        K[begin : begin + 1000] = Gaussian(GAMMA).block(X[begin : begin + 1000], X)
    K.flush()


def train_on_matrix(path, y):
    """Train on the file; return the coefficients, some predictions, and what it cost."""
    n_bytes, read = 0, Precomputed._read

    def counted(self, rows):
        nonlocal n_bytes
        for begin, block in read(self, rows):
            n_bytes += block.nbytes
            yield begin, block

    Precomputed._read = counted
    try:
        K = np.load(path, mmap_mode="r")
        model = SVC(C, kernel="precomputed", memory_limit="3GB", random_state=0)
        _, fit = timed(lambda: model.fit(K, y))
    finally:
        Precomputed._read = read
    found = {"fit": fit, "passes": n_bytes / K.nbytes, "peak": peak_bytes()}
    predicted, found["predict"] = timed(lambda: model.predict(K[:PREDICTED]))
    return {**found, "support": model.support_, "z": model.dual_coef_, "predicted": predicted}


def run(n_rows, folder):
    """Figures of the matrix, and of the rows themselves."""
    X, y, test_X, test_y = load("ijcnn1")
    X = np.vstack([dense(X), dense(test_X)])[:n_rows].astype(np.float32)
    y = np.concatenate([y, test_y])[:n_rows]
    with TemporaryDirectory(dir=folder) as place:
        path = Path(place) / "K.npy"
        write(path, X)
        n_bytes = path.stat().st_size
        found = limited(LIMIT, train_on_matrix, path, y)
    if "fit" not in found:
        return found
    kernel, model = Gaussian(GAMMA), SVC(C, gamma=GAMMA, random_state=0)
    _, fit = timed(lambda: model.fit(X, y))
    support, z, predicted = (found.pop(key) for key in ("support", "z", "predicted"))
    dual = dual_objective(kernel, X[support], z)
    return {
        **found,
        "rows": len(y),
        "file": n_bytes,
        "fit on rows": fit,
        "same": 100 * float(np.mean(model.predict(X[:PREDICTED]) == predicted)),
        "dual": abs(below(dual, dual_of(model, kernel, X, y))),
    }


def run_all(results, arguments):
    results.measure(KEY, run, arguments.rows, arguments.folder)


COLUMNS = {
    "rows": ("rows", "{:,}".format),
    "file": ("file", gigabytes),
    "share read": ("passes", share),
    "peak": ("peak", gigabytes),
    "fit": ("fit", seconds),
    "fit on rows": ("fit on rows", seconds),
    "same labels, %": ("same", percent),
    "duals differ by": ("dual", power),
}
TABLES = {"setup": setup, "fits": lambda results: runs_table("", COLUMNS, results.runs)}


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--folder", type=Path)
    run_command("precomputed", parser, run_all, TABLES)


if __name__ == "__main__":
    main()
