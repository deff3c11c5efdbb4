"""Hundreds of classes, exact and one-vs-one: time and memory of hssvm, beside scikit-learn.

python -m benchmarks.peers.many_classes [N_CLASSES ...] [--rival]

Synthetic clusters in 128 dimensions, 20 training rows of each class, in float32; 500 other rows are
predicted. The peak is that of the process, with data and imports. Threads: set OMP_NUM_THREADS.
"""

import argparse
import resource

import numpy as np
from sklearn.svm import SVC as LibSVM

from benchmarks.rendering import number, table
from benchmarks.timing import timed
from hssvm import SVC

ROWS, FEATURES, NOISE, TESTED = 20, 128, 1.2, 500


def clusters(n_classes):
    """Return training rows, their classes, and as many test rows of the same classes."""
    rng = np.random.default_rng(0)
    centers = rng.standard_normal((n_classes, FEATURES))
    y = np.arange(ROWS * n_classes) % n_classes
    X, X_test = (centers[y] + NOISE * rng.standard_normal((2, y.size, FEATURES))).astype(np.float32)
    return X, y, X_test


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("n_classes", nargs="*", type=int, default=[150, 1000])
    parser.add_argument("--rival", action="store_true")
    arguments = parser.parse_args()
    head = ["classes", "pairs", "fit", "predict 500 rows", "accuracy", "largest gap", "peak",
            "scikit-learn", "same labels"]  # fmt: skip
    print(table(head, []))
    for n_classes in arguments.n_classes:
        X, y, X_test = clusters(n_classes)
        X_test, y_test = X_test[:TESTED], y[:TESTED]
        model, fit = timed(lambda X=X, y=y: SVC(C=10, random_state=0).fit(X, y))
        labels, predict = timed(lambda model=model, T=X_test: model.predict(T))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        report = model.fit_report_
        cells = [f"{n_classes}", f"{report.n_columns:,}", f"{number(fit, 2)} s",
                 f"{number(predict, 2)} s", f"{100 * np.mean(labels == y_test):.1f} %",
                 f"{report.gap.max():.1e}", f"{number(peak, 2)} GB", "-", "-"]  # fmt: skip
        if arguments.rival:
            rival, seconds = timed(lambda X=X, y=y: LibSVM(C=10).fit(X, y))
            others, later = timed(lambda rival=rival, T=X_test: rival.predict(T))
            cells[-2] = f"{number(seconds, 2)} + {number(later, 2)} s"
            cells[-1] = f"{100 * np.mean(others == labels):.1f} %"
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
