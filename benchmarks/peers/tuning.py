"""Cost of a path of C and of cross-validation, in units of one fit on the compressed kernel.

python -m benchmarks.peers.tuning [NAME ...] [--repeats 2] [--rivals]

The rivals need a fit per C and fold. Two of their fits on four fifths of the rows, at the smallest
and the largest C, are timed, and their mean multiplied by 50: an estimate, and marked as one.
"""

import argparse

import numpy as np

from benchmarks.peers.settings import load_setting
from benchmarks.timing import timed
from hssvm import SVC, SVCCV, svc_path

PATHS = {"0.01 to 10": np.logspace(-2, 1, 10), "0.01 to 100": np.logspace(-2, 2, 10)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=["ijcnn1", "cod-rna", "a9a", "w8a"])
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--rivals", action="store_true")
    arguments = parser.parse_args()
    for name in arguments.names:
        (X, y, Xt, yt), parameters = load_setting(name)
        C, gamma = parameters["C"], parameters["gamma"]
        common = {"gamma": gamma, "refine": False, "n_trees": 1, "random_state": 0}
        runs = {f"fit, C = {C:g}": lambda: SVC(C=C, **common).fit(X, y)}
        for label, Cs in PATHS.items():
            runs[f"path, 10 C from {label}"] = lambda Cs=Cs: svc_path(
                X, y, Cs, **common
            )  # fmt: skip
            runs[f"5 folds x 10 C from {label}"] = lambda Cs=Cs: SVCCV(
                Cs, gammas=[gamma], refine=False, n_trees=1, random_state=0
            ).fit(X, y)  # fmt: skip
        best, results = {}, {}
        for _ in range(arguments.repeats):
            for label, run in runs.items():
                results[label], elapsed = timed(run)
                best[label] = min(best.get(label, np.inf), elapsed)
        one = next(iter(best.values()))
        print(name)
        for label, value in best.items():
            result, notes = results[label], ""
            if isinstance(result, SVCCV):
                notes = f"C {result.C_:.3g}, test accuracy {100 * result.score(Xt, yt):.2f} %"
            elif not isinstance(result, SVC):
                notes = f"largest gap {result.fit_report_.gap.max():.1e}"
            print(f"  {label:32s}{value:7.2f} s   {value / one:5.2f} fits   {notes}", flush=True)
        if arguments.rivals:
            from sklearnex.svm import SVC as IntelSVC

            rows = np.random.default_rng(0).permutation(len(y))[: len(y) * 4 // 5]
            fits = [
                timed(
                    lambda C=C: IntelSVC(C=C, gamma=gamma, cache_size=2000).fit(X[rows], y[rows])
                )[1]
                for C in (0.01, 10.0)
            ]
            print(f"  sklearnex, 50 fits (estimate)   {50 * np.mean(fits):7.0f} s", flush=True)


if __name__ == "__main__":
    main()
