"""Probabilities: SVC(probability=...) beside CalibratedClassifierCV(SVC(), ensemble=False).

python -m benchmarks.peers.probability [NAME ...] [--repeats 2] [--resume] [--render]

The same estimator and parameters in both, on the published split; the wrapper's folds are shuffled.
*Cost* is the time of a fit with probabilities relative to one without, best of the repeats. The
fits alternate; the wrapper runs once. *Calibration error* is the mean difference between the
largest probability and the accuracy, over 15 bins (expected calibration error). The results go to
docs/results/probability.json. Threads: set OMP_NUM_THREADS.
"""

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

from benchmarks.command import parser_of
from benchmarks.command import run as run_command
from benchmarks.datasets import size_of
from benchmarks.markdown import number, prefixes, seconds, setup, table
from benchmarks.peers.settings import load_setting
from benchmarks.timing import Fastest, timed
from hssvm import SVC

NAMES = ["ijcnn1", "a9a", "cod-rna", "w8a", "covtype.50k", "mnist", "letter"]
METHODS = ["sigmoid", "isotonic"]
BINS = 15


def calibration_error(probability, codes):
    """Expected calibration error of the most likely class."""
    likely, confidence = probability.argmax(axis=1), probability.max(axis=1)
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    differences = np.bincount(bins, (likely == codes) - confidence, BINS)
    return float(np.abs(differences).sum() / codes.size)


def run(name, method, repeats):
    """Figures of a method; of hssvm, and of the wrapper."""
    (X, y, X_test, y_test), parameters = load_setting(name)
    models = {key: SVC(**parameters, probability=key, random_state=0) for key in (None, method)}
    fastest = Fastest()
    for _ in range(repeats):
        for key, model in models.items():
            fastest.time(key, lambda: model.fit(X, y))
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    wrapper = CalibratedClassifierCV(models[None], method=method, ensemble=False, cv=folds)
    _, in_wrapper = timed(lambda: wrapper.fit(X, y))
    codes = np.searchsorted(models[None].classes_, y_test)
    found = [model.predict_proba(X_test) for model in (models[method], wrapper)]
    return {
        **size_of(X, y),
        "fit": fastest[None],
        "costs": [fastest[method] / fastest[None], in_wrapper / fastest[None]],
        "log loss": [float(log_loss(codes, p, labels=np.arange(p.shape[1]))) for p in found],
        "calibration error": [calibration_error(p, codes) for p in found],
    }


def key_of(name, method):
    return f"{name}: {method}"


def run_all(results, arguments):
    for name in arguments.names:
        for method in METHODS:
            results.measure(key_of(name, method), run, name, method, arguments.repeats)


def method_table(method):
    def render(results):
        lines = []
        for name in prefixes(results):
            if (run := results.runs.get(key_of(name, method))) is None:
                continue
            classes = f", {run['classes']} classes" if run["classes"] > 2 else ""
            costs = [number(cost, 2) for cost in run["costs"]]
            errors = [f"{x:.4f}" for x in (*run["log loss"], *run["calibration error"])]
            lines.append([name + classes, seconds(run["fit"]), *costs, *errors])
        head = ["data set", "fit"]
        for what in ("cost", "log loss", "calibration error"):
            head += [what, f"{what}, wrapper"]
        return table(head, lines)

    return render


TABLES = {"setup": setup, **{method: method_table(method) for method in METHODS}}


def main():
    parser = parser_of(__doc__)
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--repeats", type=int, default=2)
    run_command("probability", parser, run_all, TABLES)


if __name__ == "__main__":
    main()
