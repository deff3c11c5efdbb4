"""Hundreds of classes, exact and one-vs-one: time and memory of hssvm, beside scikit-learn.

python -m benchmarks.peers.many_classes [N_CLASSES ...] [--resume] [--render]

Synthetic clusters in 128 dimensions, 20 training rows of each class, in float32; 500 other rows are
predicted. Every run is a process of its own; its peak includes data and imports. scikit-learn gets
up to 200 classes. The results go to docs/results/many_classes.json. Threads: set OMP_NUM_THREADS.
"""

import numpy as np
from sklearn.svm import SVC as LibSVM

from benchmarks.command import parser_of
from benchmarks.command import run as run_command
from benchmarks.limit import limited
from benchmarks.markdown import gigabytes, percent, power, runs_table, seconds, setup
from benchmarks.memory import peak_bytes
from benchmarks.timing import timed
from hssvm import SVC

ROWS, FEATURES, NOISE, TESTED = 20, 128, 1.2, 500
CLASSES, RIVAL_CLASSES = [150, 1000], 200
LIMIT = 3600


def clusters(n_classes):
    """Return training rows, their classes, and as many test rows of the same classes."""
    rng = np.random.default_rng(0)
    centers = rng.standard_normal((n_classes, FEATURES))
    y = np.arange(ROWS * n_classes) % n_classes
    X, X_test = (centers[y] + NOISE * rng.standard_normal((2, y.size, FEATURES))).astype(np.float32)
    return X, y, X_test


def run(n_classes):
    """Figures of hssvm and, after its peak, of scikit-learn."""
    X, y, X_test = clusters(n_classes)
    X_test, y_test = X_test[:TESTED], y[:TESTED]
    model, fit = timed(lambda: SVC(C=10, random_state=0).fit(X, y))
    labels, predict = timed(lambda: model.predict(X_test))
    report = model.fit_report_
    found = {
        "pairs": report.n_columns,
        "fit": fit,
        "predict": predict,
        "accuracy": 100 * float(np.mean(labels == y_test)),
        "gap": float(report.gap.max()),
        "peak": peak_bytes(),
    }
    if n_classes <= RIVAL_CLASSES:
        rival, found["rival fit"] = timed(lambda: LibSVM(C=10).fit(X, y))
        others, found["rival predict"] = timed(lambda: rival.predict(X_test))
        found["same"] = 100 * float(np.mean(others == labels))
    return found


def key_of(n_classes):
    return f"{n_classes} classes"


def run_all(results, arguments):
    for n_classes in arguments.n_classes:
        results.measure(key_of(n_classes), limited, LIMIT, run, n_classes)


COLUMNS = {
    "pairs": ("pairs", "{:,}".format),
    "fit": ("fit", seconds),
    f"predict {TESTED} rows": ("predict", seconds),
    "accuracy, %": ("accuracy", percent),
    "largest gap": ("gap", power),
    "peak memory": ("peak", gigabytes),
    "fit, scikit-learn": ("rival fit", seconds),
    "predict, scikit-learn": ("rival predict", seconds),
    "same labels, %": ("same", percent),
}
TABLES = {"setup": setup, "classes": lambda results: runs_table("", COLUMNS, results.runs)}


def main():
    parser = parser_of(__doc__)
    parser.add_argument("n_classes", nargs="*", type=int, default=CLASSES)
    run_command("many_classes", parser, run_all, TABLES)


if __name__ == "__main__":
    main()
