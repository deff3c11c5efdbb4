"""The drop-ins for sklearn.svm beside scikit-learn's classes: the same labels, and in what time.

python -m benchmarks.peers.dropin [NAME ...] [--rows 10000] [--repeats 2] [--resume] [--render]

Every model is trained on some rows of the training part, and predicts up to 10,000 test rows. Both
libraries run in one process, taking turns; the best of the repeats counts. "same" is the share of
test rows with the same label; for regressions, of those whose predictions differ by less than a
hundredth of the standard deviation of y. The results go to docs/results/dropin.json. Threads: set
OMP_NUM_THREADS.
"""

import numpy as np
import sklearn.svm

from benchmarks.command import run_sets
from benchmarks.datasets import load, narrow, size_of
from benchmarks.markdown import percent, seconds, setup, table, times
from benchmarks.peers.settings import REGRESSION, SETTINGS, load_problem
from benchmarks.timing import fit_and_predict
from hssvm import dropin

LIBRARIES = {"hssvm": dropin, "scikit-learn": sklearn.svm}
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
    if name in REGRESSION or name in SETTINGS:
        data, setting = load_problem(name)
    else:
        data, setting = load(name, scale=scale), {}
    accepted = getattr(sklearn.svm, kind)().get_params()
    parameters |= {key: value for key, value in setting.items() if key in accepted}
    some = np.random.default_rng(0).permutation(len(data[1]))[:n_rows]
    X, X_test = data[0][some].astype(np.float64), data[2][:TEST_ROWS].astype(np.float64)
    return narrow(X), data[1][some], narrow(X_test), kind, parameters


def run(name, n_rows, repeats):
    """Figures of both libraries, and how many of their predictions are the same."""
    X, y, X_test, kind, parameters = load_rows(name, n_rows)
    makers = {
        key: lambda library=library: getattr(library, kind)(**parameters)
        for key, library in LIBRARIES.items()
    }
    found, predicted = fit_and_predict(repeats, makers, X, y, X_test)
    ours, theirs = predicted.values()
    same = ours == theirs if "SVR" not in kind else np.abs(ours - theirs) < 0.01 * np.std(y)
    return {**size_of(X, y), "class": kind, **found, "same": 100 * float(np.mean(same))}


def problems_table(results):
    lines = []
    for name, found in results.runs.items():
        cells = [f"{name}, {found['rows']:,} x {found['features']}", f"`{found['class']}`"]
        for which in ("fit", "predict"):
            ours, theirs = (found[library][which] for library in LIBRARIES)
            cells += [seconds(ours), seconds(theirs), times(theirs / ours)]
        lines.append([*cells, percent(found["same"])])
    head = ["data set", "class"]
    for what in ("fit", "predict"):
        head += [what, f"{what}, scikit-learn", f"{what}, ratio"]
    return table([*head, "same, %"], lines, left=2)


TABLES = {"setup": setup, "problems": problems_table}


def main():
    run_sets("dropin", __doc__, list(MODELS), run, TABLES, rows=10_000, repeats=2)


if __name__ == "__main__":
    main()
