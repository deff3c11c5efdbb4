"""Training on a precomputed kernel matrix that is larger than memory, beside the same rows.

python -m benchmarks.kernels.precomputed [--rows 50000] [--folder FOLDER]

Writes the Gaussian kernel matrix of rows of ijcnn1 to a file in float32 (10 GB for 50,000 rows),
and trains on the memory map in another process, which counts the bytes that it reads and its peak
memory. Then trains on the rows themselves. Threads: set OMP_NUM_THREADS.
"""

import argparse
import multiprocessing
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import scipy.sparse

from benchmarks.datasets import load
from benchmarks.timing import timed
from hssvm import SVC
from hssvm.kernels import Gaussian, Precomputed

C, GAMMA = 10.0, 2.0


def write(path, X):
    """Write the kernel matrix of the rows, block by block."""
    K = np.lib.format.open_memmap(path, "w+", np.float32, (len(X), len(X)))
    for begin in range(0, len(X), 1000):
        K[begin : begin + 1000] = Gaussian(GAMMA).block(X[begin : begin + 1000], X)
    K.flush()


def train_on_matrix(path, y, connection):
    """Train on the file; send the dual coefficients, and what it cost."""
    n_bytes, read = 0, Precomputed._read

    def counted(self, rows):
        nonlocal n_bytes
        for begin, block in read(self, rows):
            n_bytes += block.nbytes
            yield begin, block

    Precomputed._read = counted
    K = np.load(path, mmap_mode="r")
    model = SVC(C, kernel="precomputed", memory_limit="3GB", random_state=0)
    _, seconds = timed(lambda: model.fit(K, y))
    status = Path("/proc/self/status").read_text()  # ru_maxrss would be that of the parent
    peak = int(status.split("VmHWM:")[1].split()[0]) / 2**20
    predicted, predict_seconds = timed(lambda: model.predict(K[:2000]))
    connection.send((model, seconds, n_bytes / K.nbytes, peak, predicted, predict_seconds))


def dual_objective(model, X):
    """Dual objective on the exact kernel, in float64."""
    support, z = X[model.support_].astype(np.float64), model.dual_coef_.T.astype(np.float64)
    quadratic = np.vdot(z, Gaussian(GAMMA).product(support, support, z))
    return float(np.abs(z).sum() - 0.5 * quadratic)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--folder", type=Path)
    arguments = parser.parse_args()
    X, y, test_X, test_y = load("ijcnn1")
    X = (
        scipy.sparse.vstack([X, test_X], format="csr")[: arguments.rows]
        .toarray()
        .astype(np.float32)
    )
    y = np.concatenate([y, test_y])[: arguments.rows]
    with TemporaryDirectory(dir=arguments.folder) as folder:
        path = Path(folder) / "K.npy"
        _, seconds = timed(lambda: write(path, X))
        print(f"{len(y):,} rows, {path.stat().st_size / 1e9:.1f} GB written in {seconds:.0f} s")
        ours, theirs = multiprocessing.Pipe()
        process = multiprocessing.get_context("spawn").Process(
            target=train_on_matrix, args=(path, y, theirs)
        )
        process.start()
        mapped, seconds, passes, peak, predicted, predict_seconds = ours.recv()
        process.join()
    print(mapped.summary())
    print(f"matrix: {seconds:.1f} s, {passes:.2f} passes over the file, peak memory {peak:.2f} GB, "
          f"2,000 predictions in {predict_seconds:.1f} s")  # fmt: skip
    model = SVC(C, gamma=GAMMA, random_state=0)
    _, seconds = timed(lambda: model.fit(X, y))
    same = np.mean(model.predict(X[:2000]) == predicted)
    print(f"rows:   {seconds:.1f} s; labels equal on {same:.2%}; dual objectives differ by "
          f"{abs(dual_objective(mapped, X) / dual_objective(model, X) - 1):.1e}")  # fmt: skip


if __name__ == "__main__":
    main()
