"""More than two classes with default parameters: hssvm beside scikit-learn and sklearnex.

python -m benchmarks.peers.multi_class [NAME ...] [--repeats 3] [--resume] [--render]

All in one process, on the published split, in float32 for hssvm and sklearnex; the best of the
repeats counts, the models taking turns; scikit-learn runs once. "same labels" are those of the test
rows on which hssvm and scikit-learn agree. The results go to docs/results/multi_class.json.
Threads: set OMP_NUM_THREADS.
"""

import numpy as np

from benchmarks.command import run_sets
from benchmarks.datasets import load, size_of
from benchmarks.markdown import ABSENT, data_set, number, percent, seconds, setup, table, times
from benchmarks.peers.rivals import RIVALS
from benchmarks.timing import fit_and_predict
from hssvm import SVC

NAMES = ["letter", "pendigits", "satimage", "usps", "shuttle"]
INTEL, LIBSVM = "scikit-learn-intelex", "scikit-learn SVM"
OURS = {
    "ovo": lambda: SVC(random_state=0),
    "ovr": lambda: SVC(multi_class="ovr", random_state=0),
}


def run(name, repeats):
    """Figures of all models."""
    X, y, X_test, y_test = load(name, scale="standard" if name == "shuttle" else None)
    rivals = {INTEL: RIVALS[INTEL].classify} if RIVALS[INTEL].version else {}
    found, labels = fit_and_predict(repeats, OURS | rivals, X, y, X_test)
    once, others = fit_and_predict(1, {LIBSVM: RIVALS[LIBSVM].classify}, X, y, X_test)
    return {
        **size_of(X, y),
        **found,
        **once,
        "accuracy": {key: 100 * float(np.mean(labels[key] == y_test)) for key in OURS},
        "same": 100 * float(np.mean(labels["ovo"] == others[LIBSVM])),
    }


def sets_table(results):
    """Seconds of hssvm, and the times of the others as multiples of them."""
    lines = []
    for name, found in results.runs.items():
        ours = found["ovo"]
        lines.append(
            [
                data_set(name, found),
                f"{number(ours['fit'], 2)} + {seconds(ours['predict'])}",
                *(multiples(ours, found.get(rival)) for rival in (INTEL, LIBSVM)),
                percent(found["same"]),
                percent(found["accuracy"]["ovo"]),
                seconds(found["ovr"]["fit"]),
                percent(found["accuracy"]["ovr"]),
            ]
        )
    head = ["data set", "one-vs-one, fit + predict", "fit + predict, intelex",
            "fit + predict, scikit-learn", "same labels, %", "one-vs-one, accuracy, %",
            "one-vs-rest, fit", "one-vs-rest, accuracy, %"]  # fmt: skip
    return table(head, lines)


def multiples(ours, theirs):
    if theirs is None:
        return ABSENT
    return " + ".join(times(theirs[which] / ours[which]) for which in ("fit", "predict"))


TABLES = {"setup": setup, "sets": sets_table}


def main():
    run_sets("multi_class", __doc__, NAMES, run, TABLES, repeats=3)


if __name__ == "__main__":
    main()
