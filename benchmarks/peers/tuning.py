"""Cost of a path of C, in units of one fit on the compressed kernel.

python -m benchmarks.peers.tuning [NAME ...] [--repeats 2]
"""

import argparse

import numpy as np

from benchmarks.peers.settings import load_setting
from benchmarks.timing import timed
from hssvm import SVC, svc_path

PATHS = {"0.01 to 10": np.logspace(-2, 1, 10), "0.01 to 100": np.logspace(-2, 2, 10)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=["ijcnn1", "cod-rna", "a9a", "w8a"])
    parser.add_argument("--repeats", type=int, default=2)
    arguments = parser.parse_args()
    for name in arguments.names:
        (X, y, _, _), parameters = load_setting(name)
        C, gamma = parameters["C"], parameters["gamma"]
        common = {"gamma": gamma, "refine": False, "n_trees": 1, "random_state": 0}
        runs = {f"fit, C = {C:g}": lambda: SVC(C=C, **common).fit(X, y)}
        for label, Cs in PATHS.items():
            runs[f"path, 10 C from {label}"] = lambda Cs=Cs: svc_path(X, y, Cs, **common)
        best, results = {}, {}
        for _ in range(arguments.repeats):
            for label, run in runs.items():
                results[label], elapsed = timed(run)
                best[label] = min(best.get(label, np.inf), elapsed)
        one = next(iter(best.values()))
        print(name)
        for label, value in best.items():
            gap = results[label].fit_report_.gap.max()
            print(
                f"  {label:32s}{value:7.2f} s   {value / one:5.2f} fits   largest gap {gap:.1e}",
                flush=True,
            )


if __name__ == "__main__":
    main()
