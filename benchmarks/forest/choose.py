"""The choice of the defaults of forests: leaf size, rank, tolerance and number of trees.

python -m benchmarks.forest.choose [NAME ...] [--trees 6] [--settings 512:16:5e-2 ...]
                                   [--resume] [--render]

A setting is leaf size, maximum rank and tolerance. Single trees are trained with different seeds; a
line has the seconds per tree, and the score of forests of 1, 2, 3, ... of them, in percent (mean
over the disjoint forests). The results go to docs/results/forest_choice.json. Threads: set
OMP_NUM_THREADS.
"""

import numpy as np
from sklearn.metrics import r2_score

from benchmarks.command import parser_of
from benchmarks.command import run as run_command
from benchmarks.forest.problems import NAMES, load_forest, quietly
from benchmarks.markdown import percent, seconds, setup, table
from benchmarks.timing import Fastest
from hssvm import HSS, SVR
from hssvm.estimators.inputs.labels import classify

SETTINGS = [
    "256:72:1e-3", "512:16:1e-2", "512:32:1e-2", "512:64:1e-2", "512:32:5e-2", "1024:16:5e-2",
    "1024:32:5e-2",
]  # fmt: skip


@quietly
def run(name, setting, n_trees):
    """Seconds of the fastest tree, and the scores by number of trees."""
    make, parameters, (X, y, X_test, y_test) = load_forest(name)
    leaf_size, max_rank, tol = setting.split(":")
    tree = HSS(n_trees=1, leaf_size=int(leaf_size), max_rank=int(max_rank))
    values, fastest = [], Fastest()
    for seed in range(n_trees):
        model = make(**parameters, approximation=tree, tol=float(tol), random_state=seed)
        fastest.time("tree", lambda: model.fit(X, y))
        values.append((model.predict if make is SVR else model.decision_function)(X_test))

    def score(trees):
        mean = np.mean([values[t] for t in trees], axis=0)
        if make is SVR:
            return r2_score(y_test, mean)
        return np.mean(classify(mean, model.classes_) == y_test)

    scores = [
        100 * float(np.mean([score(range(T * i, T * i + T)) for i in range(n_trees // T)]))
        for T in range(1, n_trees + 1)
    ]
    return {"tree": fastest["tree"], "scores": scores}


def run_all(results, arguments):
    for name in arguments.names:
        for setting in arguments.settings:
            results.measure(f"{name}: {setting}", run, name, setting, arguments.trees)


def settings_table(results):
    lines, most = [], max(len(found["scores"]) for found in results.runs.values())
    for key, found in results.runs.items():
        name, _, setting = key.partition(": ")
        scores = [percent(score) for score in found["scores"]]
        lines.append([name, *setting.split(":"), seconds(found["tree"]), *scores])
    trees = ["1 tree", *(f"{T} trees" for T in range(2, most + 1))]
    return table(["data set", "leaf size", "rank", "tol", "per tree", *trees], lines)


TABLES = {"setup": setup, "settings": settings_table}


def main():
    parser = parser_of(__doc__)
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--trees", type=int, default=6)
    parser.add_argument("--settings", nargs="+", default=SETTINGS)
    run_command("forest_choice", parser, run_all, TABLES)


if __name__ == "__main__":
    main()
