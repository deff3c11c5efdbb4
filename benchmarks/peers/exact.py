"""The same answer as LIBSVM, and in what time: hssvm.SVC beside sklearnex.svm.SVC and LIBSVM.

python -m benchmarks.peers.exact [NAME ...] [--repeats 3] [--libsvm] [--no-sklearnex]

More than two classes are one-vs-one in all of them. All in one process and one run, on the
published split; the best of the repeats counts, the models taking turns; LIBSVM (sklearn.svm.SVC,
tol=1e-4) runs once. "dual" is the difference of the dual objective on the exact kernel, in float64,
relative to the rival's: negative means that hssvm's is better. With several pairs of classes, it is
that of the sums over the pairs. Threads: set OMP_NUM_THREADS.
"""

import argparse
from itertools import combinations

import numpy as np
from sklearn.svm import SVC as LibSVM

from benchmarks.datasets import narrow
from benchmarks.peers.choose import intel
from benchmarks.peers.settings import load_setting
from benchmarks.timing import timed
from hssvm import SVC
from hssvm.kernels import Gaussian
from hssvm.kernels.lazy import LazyKernelMatrix

NAMES = ["ijcnn1", "a9a", "cod-rna", "w8a", "letter", "covtype.50k"]
CHANGED = {"cod-rna": {"C": 10.0}, "letter": {"h": 0.4}}


def dual_objective(X, gamma, z):
    """``|z|_1 - 1/2 z'Kz`` in float64."""
    K = LazyKernelMatrix(Gaussian(gamma), X.astype(np.float64))
    rows, Z = np.arange(z.size), z.astype(np.float64)[:, None]
    return np.abs(z).sum() - float((Z * K.product(rows, rows, Z)).sum()) / 2


def total_dual_objective(model, X, y, gamma):
    """Sum of the dual objectives of all pairs of classes of a fitted model, ours or a rival's."""
    coefficients = model.dual_coef_
    coefficients = coefficients.toarray() if hasattr(coefficients, "toarray") else coefficients
    classes, total = np.searchsorted(model.classes_, y[model.support_]), 0.0
    if model.classes_.size == 2:
        return dual_objective(X[model.support_], gamma, coefficients[0])
    for i, j in combinations(range(model.classes_.size), 2):
        z = np.where(classes == i, coefficients[j - 1], coefficients[i])
        own = np.flatnonzero(((classes == i) | (classes == j)) & (z != 0))
        total += dual_objective(X[model.support_[own]], gamma, z[own])
    return total


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--libsvm", action="store_true", help="minutes to hours; once")
    parser.add_argument("--no-sklearnex", action="store_true")
    parser.add_argument("--tol", type=float, default=None, help="of hssvm")
    arguments = parser.parse_args()
    for name in arguments.names:
        (X, y, Xt, yt), parameters = load_setting(name, **CHANGED.get(name, {}))
        models = {"hssvm": lambda seed: SVC(**parameters, tol=arguments.tol, random_state=seed)}
        if not arguments.no_sklearnex:
            models["sklearnex"] = lambda seed: intel(**parameters)
        best = {}
        for repeat in range(arguments.repeats):
            for key, make in models.items():
                model, fit = timed(lambda: make(repeat).fit(X, y))
                predicted, predict = timed(lambda: model.predict(Xt))
                before = best.get(key, (np.inf, np.inf))
                best[key] = (
                    min(fit, before[0]),
                    min(predict, before[1]),
                    model,
                    100 * np.mean(predicted == yt),
                )
        if arguments.libsvm:
            model = LibSVM(**parameters, cache_size=2000, tol=1e-4)
            model, fit = timed(lambda: model.fit(narrow(X), y))
            predicted, predict = timed(lambda: model.predict(narrow(Xt)))
            best["LIBSVM"] = (fit, predict, model, 100 * np.mean(predicted == yt))
        ours = best["hssvm"]
        dual = total_dual_objective(ours[2], X, y, parameters["gamma"])
        for key, (fit, predict, model, accuracy) in best.items():
            notes = f"gap {ours[2].fit_report_.gap.max():.1e}"
            if key != "hssvm":
                theirs = total_dual_objective(model, X, y, parameters["gamma"])
                difference = (theirs - dual) / theirs
                notes = (
                    f"fit {fit / ours[0]:.1f} x, predict {predict / ours[1]:.1f} x the time of "
                    f"hssvm; dual {difference:+.1e}"
                )
            print(f"{name:12s}{key:10s} fit {fit:8.2f} s  predict {predict:7.3f} s  "
                  f"accuracy {accuracy:.2f} %  {notes}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
