"""Size, accuracy and speed of an exact model of covtype.binary, and of reduced ones.

python -m benchmarks.micro.reduced --rows 50000 --max-loss 0.001 0.01

Half of the test rows choose the number of support vectors, the other half score it. Threads: set
OMP_NUM_THREADS.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.datasets import load
from benchmarks.timing import timed
from hssvm import SVC


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--test-rows", type=int, default=40_000)
    parser.add_argument("--max-loss", type=float, nargs="*", default=[0.0005, 0.001, 0.01])
    options = parser.parse_args()
    X, y, X_test, y_test = load("covtype.binary", scale="minmax")
    X, X_test = np.asarray(X, np.float32), np.asarray(X_test, np.float32)
    rng = np.random.default_rng(0)
    rows = rng.permutation(len(X))[: options.rows]
    choose, score = np.array_split(rng.permutation(len(X_test))[: options.test_rows], 2)
    fit = SVC(C=32, gamma=8.0, refine=True, random_state=0).fit
    model, seconds = timed(lambda: fit(X[rows], y[rows]))
    print(
        f"exact, fit in {seconds:.0f} s: {described(model, X_test[score], y_test[score])}",
        flush=True,
    )
    for loss in options.max_loss:
        small, seconds = timed(
            lambda loss=loss: model.reduce(X_test[choose], y_test[choose], max_loss=loss)
        )
        result = described(small, X_test[score], y_test[score])
        print(f"max_loss={loss:g}, reduced in {seconds:.0f} s: {result}", flush=True)


def described(model, X, y):
    accuracy, seconds = timed(lambda: model.score(X, y))
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model.hssvm")
        size = (Path(folder) / "model.hssvm").stat().st_size
    return (
        f"{len(model.support_vectors_):,} support vectors, {size / 1e6:.1f} MB, "
        f"{100 * accuracy:.2f} %, {len(X) / seconds:,.0f} rows per second"
    )


if __name__ == "__main__":
    main()
