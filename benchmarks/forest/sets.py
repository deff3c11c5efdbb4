"""Cells and forests of compressed kernels beside the exact SVM.

python -m benchmarks.forest.sets [NAME ...] [--seeds 3] [--resume] [--render]

Scores are means over the seeds, in percent (accuracy, or R² for regression); times are the best of
the seeds, which take turns. "ratio" is the time of cells relative to the exact kernel, whose fit is
a run of its own. The defaults choose the exact kernel if that is affordable, else cells; "defaults
lose" is the difference between the best score and theirs. MNIST and Fashion-MNIST have one seed.
The results go to docs/results/forests.json. Threads: set OMP_NUM_THREADS.
"""

import numpy as np

from benchmarks.command import parser_of
from benchmarks.command import run as run_command
from benchmarks.forest.problems import load_forest, quietly
from benchmarks.markdown import cell, number, percent, prefixes, seconds, setup, table
from benchmarks.timing import Fastest, timed
from hssvm import HSS, Cells
from hssvm.kernels.base import as_rows
from hssvm.training import TrainingConfig

SETS = [
    "cod-rna", "ijcnn1", "a9a", "w8a", "letter", "covtype.50k", "casp", "cadata", "cpusmall",
    "kin40k", "usps", "pendigits", "satimage", "shuttle", "skin_nonskin", "susy_sample",
    "higgs_sample", "mnist", "fashion-mnist", "power",
]  # fmt: skip
ONE_SEED = {"mnist", "fashion-mnist"}
KINDS = {
    "cells of 2,000": {"approximation": Cells(2000)},
    "cells": {"approximation": Cells()},
    "HSS": {"approximation": HSS()},
}


@quietly
def run(name, seeds):
    """Figures of the approximations."""
    make, parameters, (X, y, X_test, y_test) = load_forest(name)
    fastest, scores = Fastest(), {kind: [] for kind in KINDS}
    for seed in range(seeds):
        for kind, options in KINDS.items():
            model = make(**parameters, **options, random_state=seed)
            fastest.time(kind, lambda: model.fit(X, y))
            scores[kind].append(100 * model.score(X_test, y_test))
    return {
        **{f"{kind}, fit": fastest[kind] for kind in KINDS},
        **{f"{kind}, score": float(np.mean(scores[kind])) for kind in KINDS},
    }


@quietly
def run_exact(name):
    make, parameters, (X, y, X_test, y_test) = load_forest(name)
    model = make(**parameters, refine=True, random_state=0)
    _, fit = timed(lambda: model.fit(X, y))
    affordable = TrainingConfig().is_exact(model.kernel_, as_rows(X))
    score = 100 * float(model.score(X_test, y_test))
    return {"exact, fit": fit, "exact, score": score, "affordable": affordable}


def run_all(results, arguments):
    for name in arguments.names:
        seeds = 1 if name in ONE_SEED else arguments.seeds
        results.measure(f"{name}: approximated", run, name, seeds)
        results.measure(f"{name}: exact", run_exact, name)


def sets_table(results):
    """Scores and times."""
    lines = []
    for name in prefixes(results):
        found = {}
        for kind in ("approximated", "exact"):
            found |= results.runs.get(f"{name}: {kind}", {})
        ratio = found["cells, fit"] / found["exact, fit"]
        best = max(found[f"{kind}, score"] for kind in (*KINDS, "exact"))
        chosen = found["exact, score" if found.get("affordable", True) else "cells, score"]
        lines.append(
            [
                name,
                *(score_and_time(found, kind) for kind in (*KINDS, "exact")),
                number(ratio, 2),
                f"{best - chosen:.2f}",
            ]
        )
    return table(["data set", *KINDS, "exact", "ratio", "defaults lose"], lines)


def score_and_time(found, kind):
    score, time = cell(found, f"{kind}, score", percent), cell(found, f"{kind}, fit", seconds)
    return f"{score} % in {time}"


TABLES = {"setup": setup, "sets": sets_table}


def main():
    parser = parser_of(__doc__)
    parser.add_argument("names", nargs="*", default=SETS)
    parser.add_argument("--seeds", type=int, default=3)
    run_command("forests", parser, run_all, TABLES)


if __name__ == "__main__":
    main()
