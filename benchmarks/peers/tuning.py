"""Cost of a path of C, in units of one fit on the compressed kernel.

python -m benchmarks.peers.tuning [NAME ...] [--repeats 2] [--resume] [--render]

The best of the repeats counts; fit and paths take turns. The results go to
docs/results/tuning.json. Threads: set OMP_NUM_THREADS.
"""

import numpy as np

from benchmarks.command import run_sets
from benchmarks.markdown import number, power, seconds, setup, table
from benchmarks.peers.settings import load_setting
from benchmarks.timing import Fastest
from hssvm import HSS, SVC, svc_path

NAMES = ["ijcnn1", "cod-rna", "a9a", "w8a"]
PATHS = {"C 0.01 to 10": np.logspace(-2, 1, 10), "C 0.01 to 100": np.logspace(-2, 2, 10)}


def run(name, repeats):
    """Seconds of a fit and of the paths, and the largest gap of each."""
    (X, y, _, _), parameters = load_setting(name)
    C, gamma = parameters["C"], parameters["gamma"]
    common = {"gamma": gamma, "approximation": HSS(n_trees=1), "random_state": 0}
    runs = {"fit": lambda: SVC(C=C, **common).fit(X, y)}
    for label, Cs in PATHS.items():
        runs[label] = lambda Cs=Cs: svc_path(X, y, Cs, **common)
    fastest, gaps = Fastest(), {}
    for _ in range(repeats):
        for label, fit in runs.items():
            model = fastest.time(label, fit)
            gaps[label] = float(model.fit_report_.gap.max())
    return {"C": C, "seconds": dict(fastest), "gaps": gaps}


def paths_table(results):
    lines = []
    for name, run in results.runs.items():
        one = run["seconds"]["fit"]
        paths = [number(run["seconds"][label] / one, 2) for label in PATHS]
        gap = power(max(run["gaps"].values()))
        lines.append([f"{name}, C = {run['C']:g}", seconds(one), *paths, gap])
    return table(["data set", "one fit", *(f"path, {p}" for p in PATHS), "largest gap"], lines)


TABLES = {"setup": setup, "paths": paths_table}


def main():
    run_sets("tuning", __doc__, NAMES, run, TABLES, repeats=2)


if __name__ == "__main__":
    main()
