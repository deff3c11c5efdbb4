"""Out-of-fold scores beside test scores, and what they cost.

python -m benchmarks.forest.out_of_fold [NAME ...] [--seeds 3]

Scores are means over the seeds, in percent; "cost" is the best time with out-of-fold decision
values relative to the best without, in the same run. Threads: set OMP_NUM_THREADS.
"""

import argparse
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from benchmarks.forest.problems import load_problem
from benchmarks.timing import timed
from hssvm.exceptions import DataWarning

NAMES = ["ijcnn1", "a9a", "shuttle", "skin_nonskin", "susy_sample", "higgs_sample"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", DataWarning)
    warnings.simplefilter("ignore", ConvergenceWarning)
    for name in arguments.names:
        make, parameters, (X, y, X_test, y_test) = load_problem(name)
        times, scores = {False: [], True: []}, {"test": [], "out of fold": []}
        for seed in range(arguments.seeds):
            for out_of_fold in times:
                model = make(**parameters, refine=False, random_state=seed, out_of_fold=out_of_fold)
                model, seconds = timed(lambda: model.fit(X, y))
                times[out_of_fold].append(seconds)
            scores["test"].append(model.score(X_test, y_test))
            scores["out of fold"].append(model.fit_report_.out_of_fold_score)
        test, found = (100 * np.mean(values) for values in scores.values())
        plain, whole = (min(seconds) for seconds in times.values())
        print(
            f"{name}: {X.shape[0]:,} x {X.shape[1]}, test {test:.2f} %, out of fold {found:.2f} %, "
            f"{plain:.1f} s and {whole:.1f} s, cost {whole / plain:.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
