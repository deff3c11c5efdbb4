"""Probabilities: SVC(probability=...) beside CalibratedClassifierCV(SVC(), ensemble=False).

python -m benchmarks.peers.probability [NAME ...] [--method sigmoid] [--refine auto] [--repeats 2]

The same estimator and parameters in both, on the published split; the wrapper's folds are shuffled.
*Cost* is the time of a fit with probabilities relative to one without, best of the repeats. The
fits alternate; the wrapper runs once. *Calibration error* is the mean difference between the
largest probability and the accuracy, over 15 bins (expected calibration error). Threads: set
OMP_NUM_THREADS.
"""

import argparse

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

from benchmarks.peers.settings import load_setting
from benchmarks.timing import timed
from hssvm import SVC

NAMES = ["ijcnn1", "a9a", "cod-rna", "w8a", "letter", "covtype.50k"]
BINS = 15


def calibration_error(probability, codes):
    """Expected calibration error of the most likely class."""
    likely, confidence = probability.argmax(axis=1), probability.max(axis=1)
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    differences = np.bincount(bins, (likely == codes) - confidence, BINS)
    return np.abs(differences).sum() / codes.size


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--method", default="sigmoid")
    parser.add_argument("--refine", choices=["auto", "yes", "no"], default="auto")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--no-wrapper", action="store_true")
    arguments = parser.parse_args()
    refine = {"auto": "auto", "yes": True, "no": False}[arguments.refine]
    print(f"{'':14s}{'fit':>9s}{'cost':>8s}{'wrapper':>9s}", end="")
    print(
        f"{'log loss':>12s}{'wrapper':>10s}{'ratio':>8s}{'calibration error':>20s}{'wrapper':>9s}"
    )
    for name in arguments.names:
        (X, y, X_test, y_test), parameters = load_setting(name)
        make = {
            key: SVC(**parameters, refine=refine, probability=key, random_state=0)
            for key in (None, arguments.method)
        }
        seconds = {key: [] for key in make}
        for _ in range(arguments.repeats):
            for key, model in make.items():
                seconds[key].append(timed(lambda model=model: model.fit(X, y))[1])
        fit, whole = (min(times) for times in seconds.values())
        codes = np.searchsorted(make[None].classes_, y_test)
        found = [make[arguments.method].predict_proba(X_test)]
        wrapper = np.nan
        if not arguments.no_wrapper:
            folds = StratifiedKFold(5, shuffle=True, random_state=0)
            theirs = CalibratedClassifierCV(
                make[None], method=arguments.method, ensemble=False, cv=folds
            )
            wrapper = timed(lambda model=theirs: model.fit(X, y))[1]
            found.append(theirs.predict_proba(X_test))
        loss = [log_loss(codes, p, labels=np.arange(p.shape[1])) for p in found]
        error = [calibration_error(p, codes) for p in found]
        print(
            f"{name:14s}{fit:7.2f} s{whole / fit:7.2f}x{wrapper / fit:8.2f}x{loss[0]:12.4f}"
            f"{loss[-1]:10.4f}{loss[0] / loss[-1]:8.3f}{error[0]:20.4f}{error[-1]:9.4f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
