"""The default forest beside a single tree of rank 72, and the exact SVM.

python -m benchmarks.forest.sets [NAME ...] [--seeds 3] [--refined]

Scores are means over the seeds, in percent (accuracy, or R^2 for casp); times are the best of the
seeds, all in one process and one run. "ratio" is the time of the forest relative to the single
tree. --refined adds the fit on the exact kernel. Threads: set OMP_NUM_THREADS.
"""

import argparse
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from benchmarks.forest.problems import NAMES, load_problem
from benchmarks.timing import timed
from hssvm.exceptions import DataWarning


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--refined", action="store_true")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", DataWarning)
    warnings.simplefilter("ignore", ConvergenceWarning)
    kinds = {
        "one tree": {"refine": False, "n_trees": 1, "max_rank": 72},
        "forest": {"refine": False},
    }
    for name in arguments.names:
        make, parameters, (X, y, X_test, y_test) = load_problem(name)
        print(f"{name}: {X.shape[0]:,} x {X.shape[1]}, {parameters}", flush=True)
        best, scores, models = {}, {}, {}
        for seed in range(arguments.seeds):
            for kind, options in kinds.items():
                model = make(**parameters, **options, random_state=seed)
                model, seconds = timed(lambda: model.fit(X, y))
                best[kind] = min(seconds, best.get(kind, np.inf))
                scores.setdefault(kind, []).append(100 * model.score(X_test, y_test))
                models.setdefault(kind, []).append(model)
        if arguments.refined:
            model = make(**parameters, refine=True, random_state=0)
            model, best["exact"] = timed(lambda: model.fit(X, y))
            scores["exact"] = [100 * model.score(X_test, y_test)]
        for kind, values in scores.items():
            line = f"  {kind:12s} {np.mean(values):7.2f} % in {best[kind]:7.2f} s"
            if kind != "one tree":
                line += f", ratio {best[kind] / best['one tree']:.2f}"
            if kind == "forest":
                report = models[kind][-1].fit_report_
                line += f"; {report.n_trees} trees, spread {report.spread.max():.2g}, "
                line += f"disagreement {100 * report.disagreement.mean():.1f} %"
            print(line, flush=True)


if __name__ == "__main__":
    main()
