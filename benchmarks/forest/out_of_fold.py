"""Out-of-fold scores beside test scores, and what they cost.

python -m benchmarks.forest.out_of_fold [NAME ...] [--seeds 3] [--resume] [--render]

Scores are means over the seeds, in percent; "cost" is the best time with out-of-fold decision
values relative to the best without, which take turns. The results go to
docs/results/forest_scores.json. Threads: set OMP_NUM_THREADS.
"""

import numpy as np

from benchmarks.command import run_sets
from benchmarks.datasets import size_of
from benchmarks.forest.problems import load_forest, quietly
from benchmarks.markdown import data_set, number, percent, seconds, setup, table
from benchmarks.timing import Fastest
from hssvm import HSS

NAMES = ["ijcnn1", "a9a", "shuttle", "skin_nonskin", "susy_sample", "higgs_sample"]


@quietly
def run(name, seeds):
    make, parameters, (X, y, X_test, y_test) = load_forest(name)
    fastest, test, estimated = Fastest(), [], []
    for seed in range(seeds):
        for out_of_fold in (False, True):
            options = {"approximation": HSS(), "random_state": seed, "out_of_fold": out_of_fold}
            model = make(**parameters, **options)
            fastest.time(out_of_fold, lambda: model.fit(X, y))
        test.append(model.score(X_test, y_test))
        estimated.append(model.fit_report_.out_of_fold_score)
    return {
        **size_of(X, y),
        "test": 100 * float(np.mean(test)),
        "out of fold": 100 * float(np.mean(estimated)),
        "fit": fastest[False],
        "cost": fastest[True] / fastest[False],
    }


def scores_table(results):
    lines = [
        [
            data_set(name, found),
            percent(found["test"]),
            percent(found["out of fold"]),
            seconds(found["fit"]),
            number(found["cost"], 2),
        ]
        for name, found in results.runs.items()
    ]
    return table(["data set", "test, %", "out of fold, %", "fit without", "cost"], lines)


TABLES = {"setup": setup, "scores": scores_table}


def main():
    run_sets("forest_scores", __doc__, NAMES, run, TABLES, seeds=3)


if __name__ == "__main__":
    main()
