"""The choice of the defaults of forests: leaf size, rank, tolerance and number of trees.

python -m benchmarks.forest.choose [NAME ...] [--trees 6] [--settings 512:16:5e-2 ...]

A setting is leaf size, maximum rank and tolerance. Single trees are trained with different seeds; a
line has the seconds per tree, and the score of forests of 1, 2, 3, ... of them, in percent (mean
over the disjoint forests). Threads: set OMP_NUM_THREADS.
"""

import argparse
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import r2_score

from benchmarks.forest.problems import NAMES, load_problem
from benchmarks.timing import timed
from hssvm import SVR
from hssvm.estimators.labels import classify
from hssvm.exceptions import DataWarning

SETTINGS = [
    "256:72:1e-3", "512:16:1e-2", "512:32:1e-2", "512:64:1e-2", "512:32:5e-2", "1024:16:5e-2",
    "1024:32:5e-2",
]  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--trees", type=int, default=6)
    parser.add_argument("--settings", nargs="+", default=SETTINGS)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", DataWarning)
    warnings.simplefilter("ignore", ConvergenceWarning)
    for name in arguments.names:
        make, parameters, (X, y, X_test, y_test) = load_problem(name)
        print(f"{name}: {X.shape[0]:,} x {X.shape[1]}, {parameters}", flush=True)
        for setting in arguments.settings:
            leaf_size, max_rank, tol = setting.split(":")
            options = {"leaf_size": int(leaf_size), "max_rank": int(max_rank), "tol": float(tol)}
            values, seconds = [], []
            for seed in range(arguments.trees):
                model = make(**parameters, **options, refine=False, n_trees=1, random_state=seed)
                seconds.append(timed(lambda: model.fit(X, y))[1])
                evaluate = model.predict if make is SVR else model.decision_function
                values.append(evaluate(X_test))

            def score(trees):
                mean = np.mean([values[t] for t in trees], axis=0)
                if make is SVR:
                    return r2_score(y_test, mean)
                return np.mean(classify(mean, model.classes_) == y_test)

            scores = [
                100 * np.mean([score(range(T * i, T * i + T)) for i in range(len(values) // T)])
                for T in range(1, len(values) + 1)
            ]
            line = " ".join(f"{value:.2f}" for value in scores)
            print(f"  {setting:14s} {min(seconds):7.2f} s per tree  {line}", flush=True)


if __name__ == "__main__":
    main()
