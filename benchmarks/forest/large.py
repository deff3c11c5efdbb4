"""Forests on millions of synthetic rows: accuracy, time per row, and memory.

python -m benchmarks.forest.large [--rows 500000 3500000] [--trees 4 8 16]

The forest grows from the first number of trees to the last (`warm_start`). Times are in all, and
per row and tree; memory is the peak of the process, rows included, in GB. The best possible
accuracy is 88.37 %. Threads: set OMP_NUM_THREADS.
"""

import argparse
import resource

import numpy as np

from benchmarks.forest.problems import synthetic
from benchmarks.timing import timed
from hssvm import SVC


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[500_000, 3_500_000])
    parser.add_argument("--trees", type=int, nargs="+", default=[4])
    arguments = parser.parse_args()
    X_test, y_test = synthetic(200_000, seed=1)
    for n_rows in arguments.rows:
        X, y = synthetic(n_rows)
        model = SVC(C=1.0, gamma=1 / 36, refine=False, random_state=0, warm_start=True)
        total = 0.0
        for n_trees in arguments.trees:
            _, seconds = timed(lambda: model.set_params(n_trees=n_trees).fit(X, y))
            total += seconds
            accuracy = 100 * np.mean(model.predict(X_test) == y_test)
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
            print(
                f"{n_rows:,} rows, {n_trees} trees: {accuracy:.2f} % in {total:.0f} s, "
                f"{1e6 * total / n_rows / n_trees:.1f} us per row and tree, {peak:.1f} GB; "
                f"seconds { ({k: round(v, 1) for k, v in model.fit_report_.seconds.items()}) }",
                flush=True,
            )


if __name__ == "__main__":
    main()
