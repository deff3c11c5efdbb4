"""More than two classes with default parameters: hssvm beside scikit-learn and sklearnex.

python -m benchmarks.peers.multi_class [NAME ...] [--repeats 3] [--no-rivals]

All in one process and one run, on the published split, in float32 for hssvm and sklearnex; the best
of the repeats counts, the models taking turns; scikit-learn runs once. "same labels" are those of
the test rows on which hssvm and scikit-learn agree. Prints rows of a Markdown table: seconds of
hssvm, and the times of the others as multiples of it. Threads: set OMP_NUM_THREADS.
"""

import argparse

import numpy as np
from sklearn.svm import SVC as LibSVM
from sklearnex.svm import SVC as IntelSVC

from benchmarks.datasets import load
from benchmarks.rendering import number, table
from benchmarks.timing import timed
from hssvm import SVC

NAMES = ["letter", "pendigits", "satimage", "usps", "shuttle", "mnist"]


def best_of(repeats, models, X, y, X_test):
    """Return {key: (seconds of fit, seconds of predict, predicted labels)}."""
    best = {}
    for _ in range(repeats):
        for key, make in models.items():
            model, fit = timed(lambda make=make: make().fit(X, y))
            predicted, predict = timed(lambda model=model: model.predict(X_test))
            before = best.get(key, (np.inf, np.inf))
            best[key] = min(fit, before[0]), min(predict, before[1]), predicted
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--no-rivals", action="store_true")
    arguments = parser.parse_args()
    head = ["", "one-vs-one", "sklearnex", "scikit-learn", "same labels", "accuracy",
            "one-vs-rest", "accuracy"]  # fmt: skip
    print(table(head, []))
    for name in arguments.names:
        X, y, X_test, y_test = load(name, scale="standard" if name == "shuttle" else None)
        models = {
            "ovo": lambda: SVC(random_state=0),
            "ovr": lambda: SVC(multi_class="ovr", random_state=0),
        }
        rivals = {} if arguments.no_rivals else {"sklearnex": IntelSVC}
        best = best_of(arguments.repeats, models | rivals, X, y, X_test)
        if not arguments.no_rivals:
            best |= best_of(1, {"scikit-learn": LibSVM}, X, y, X_test)
        fit, predict, labels = best["ovo"]
        n_classes = np.unique(y).size
        cells = [f"{name}, {X.shape[0]:,} x {X.shape[1]}, {n_classes} classes"]
        cells.append(f"{number(fit, 2)} + {number(predict, 2)} s")
        for key in ("sklearnex", "scikit-learn"):
            if key in best:
                times = best[key][0] / fit, best[key][1] / predict
                cells.append(" + ".join(f"{number(time, 2)} x" for time in times))
            else:
                cells.append("-")
        same = best["scikit-learn"][2] == labels if "scikit-learn" in best else None
        cells.append("-" if same is None else f"{100 * np.mean(same):.2f} %")
        cells.append(f"{100 * np.mean(labels == y_test):.2f} %")
        cells.append(f"{number(best['ovr'][0], 2)} s")
        cells.append(f"{100 * np.mean(best['ovr'][2] == y_test):.2f} %")
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
