"""Time of predictions at 1, 10, 100 and 1,000 rows, with models of ijcnn1.

python -m benchmarks.micro.single_rows

Medians, in microseconds, for a forest, a single tree, and the exact kernel. Threads: set
OMP_NUM_THREADS.
"""

import argparse

import numpy as np

from benchmarks.datasets import load
from benchmarks.timing import timed
from hssvm import SVC

MODELS = {
    "forest": {"refine": False},
    "one tree": {"refine": False, "n_trees": 1},
    "exact": {"refine": True},
}


def main():
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    X, y, X_test, _ = load("ijcnn1")
    X, X_test = np.asarray(X, np.float32), np.asarray(X_test, np.float32)
    for name, options in MODELS.items():
        model = SVC(C=1.0, gamma=2.0, random_state=0, **options).fit(X, y)
        times = []
        for n_rows in (1, 10, 100, 1000):
            blocks = [X_test[i : i + n_rows] for i in range(0, 50 * n_rows, n_rows)]
            seconds = [timed(lambda: model.predict(rows))[1] for rows in 4 * blocks]
            times.append(f"{n_rows:,} rows {1e6 * np.median(seconds):,.0f}")
        print(f"{name}: {', '.join(times)}", flush=True)


if __name__ == "__main__":
    main()
