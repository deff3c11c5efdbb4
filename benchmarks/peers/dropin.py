"""The drop-ins for sklearn.svm beside scikit-learn's classes: the same labels, and in what time.

python -m benchmarks.peers.dropin [NAME ...] [--rows 5000] [--repeats 1] [--verbose]

Every model is trained on some rows of the training part, and predicts up to 10,000 test rows. Both
libraries run in one process, taking turns; the best of the repeats counts. "same" is the share of
test rows with the same label; for regressions, of those whose predictions differ by less than a
hundredth of the standard deviation of y. Prints rows of a Markdown table. Threads: set
OMP_NUM_THREADS.
"""

import argparse
import logging

import numpy as np
import sklearn.svm

from benchmarks.datasets import load, narrow
from benchmarks.peers.settings import REGRESSION, SETTINGS, load_regression, load_setting
from benchmarks.rendering import number, table
from benchmarks.timing import timed
from hssvm import dropin

MODELS = {
    "ijcnn1": ("SVC", {}),
    "cod-rna": ("SVC", {}),
    "a9a": ("SVC", {}),
    "w8a": ("SVC", {}),
    "letter": ("SVC", {}),
    "mnist": ("SVC", {}),
    "pendigits": ("SVC", {"scale": "standard"}),
    "satimage": ("SVC", {"scale": "standard"}),
    "cadata": ("SVR", {}),
    "casp": ("SVR", {}),
    "ijcnn1, nu": ("NuSVC", {"nu": 0.05}),
    "phishing, nu": ("NuSVC", {"nu": 0.1}),
    "cadata, nu": ("NuSVR", {"nu": 0.5}),
    "cod-rna, one class": ("OneClassSVM", {"nu": 0.1}),
}
"""Names with the class, and parameters other than those of `benchmarks.peers.settings`; data sets
that are not in the settings have scikit-learn's defaults."""

TEST_ROWS = 10_000


def load_rows(name, n_rows):
    """Return X, y, X_test in float64, the class, and its parameters."""
    kind, extra = MODELS[name]
    name, parameters = name.split(",")[0], dict(extra)
    scale = parameters.pop("scale", None)
    if name in REGRESSION:
        data, setting = load_regression(name)
    elif name in SETTINGS:
        data, setting = load_setting(name)
    else:
        data, setting = load(name, scale=scale), {}
    accepted = getattr(sklearn.svm, kind)().get_params()
    parameters |= {key: value for key, value in setting.items() if key in accepted}
    some = np.random.default_rng(0).permutation(len(data[1]))[:n_rows]
    X, X_test = data[0][some].astype(np.float64), data[2][:TEST_ROWS].astype(np.float64)
    return narrow(X), data[1][some], narrow(X_test), kind, parameters


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(MODELS))
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--verbose", action="store_true", help="which library trained a model")
    arguments = parser.parse_args()
    if arguments.verbose:
        logging.basicConfig()
        logging.getLogger("hssvm.dropin").setLevel(logging.INFO)
    head = ["", "class", "fit", "scikit-learn", "", "predict", "scikit-learn", "", "same"]
    print(table(head, []))
    for name in arguments.names:
        X, y, X_test, kind, parameters = load_rows(name, arguments.rows)
        best = {}
        for _ in range(arguments.repeats):
            for library in (dropin, sklearn.svm):
                model, fit = timed(lambda: getattr(library, kind)(**parameters).fit(X, y))
                predicted, predict = timed(lambda: model.predict(X_test))
                before = best.get(library, (np.inf, np.inf))
                best[library] = min(fit, before[0]), min(predict, before[1]), predicted
        (fit, predict, ours), (fit_2, predict_2, theirs) = best[dropin], best[sklearn.svm]
        same = ours == theirs if "SVR" not in kind else np.abs(ours - theirs) < 0.01 * np.std(y)
        cells = [f"{name}, {X.shape[0]:,} x {X.shape[1]}", f"`{kind}`"]
        for mine, other in ((fit, fit_2), (predict, predict_2)):
            seconds = [f"{number(value, 2)} s" for value in (mine, other)]
            cells += [*seconds, f"{number(other / mine, 2)} x"]
        cells.append(f"{100 * np.mean(same):.2f} %")
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
