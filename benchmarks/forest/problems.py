"""The data sets, with the parameters at which forests are compared."""

import warnings
from functools import wraps

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from benchmarks.datasets import load
from benchmarks.peers.settings import HARDER, REGRESSION, SETTINGS, load_problem
from hssvm import SVC, SVR
from hssvm.exceptions import DataWarning

NAMES = [
    "ijcnn1", "cod-rna", "w8a", "a9a", "casp", "letter", "mnist", "fashion-mnist", "covtype.binary",
]  # fmt: skip


TARGETS = {
    "cpusmall": {"C": 10.0, "gamma": 0.1, "epsilon": 0.1},
    "kin40k": {"C": 10.0, "gamma": 0.1, "epsilon": 0.05},
    "power": {"C": 10.0, "gamma": 0.5, "epsilon": 0.1},
}
"""Parameters of regressions that other benchmarks do not have; features and y are standardized."""


def load_forest(name):
    """Return the estimator class, its parameters, and the four arrays.

    Data sets without settings are standardized, with C = 10 and gamma = 1 / number of features.
    """
    if name in TARGETS:
        X, y, X_test, y_test = load(name, scale="standard")
        middle, size = np.mean(y), np.std(y)
        return SVR, TARGETS[name], (X, (y - middle) / size, X_test, (y_test - middle) / size)
    if name not in REGRESSION and name not in SETTINGS:
        data = load(name, scale="standard")
        return SVC, {"C": 10.0, "gamma": 1 / data[0].shape[1]}, data
    data, parameters = load_problem(name, HARDER)
    return SVR if name in REGRESSION else SVC, parameters, data


def quietly(measure):
    """The same function without warnings about the data and the convergence."""

    @wraps(measure)
    def run(*arguments):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            warnings.simplefilter("ignore", ConvergenceWarning)
            return measure(*arguments)

    return run


def synthetic(n_rows, seed=0, n_features=18):
    """Normal rows whose label is the sign of a function of six features, plus noise, in float32.

    The best possible accuracy is 88.37 %.
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, n_features), dtype=np.float32)
    f = (
        X[:, 0] * X[:, 1]
        + np.sin(1.5 * X[:, 2])
        + 0.5 * X[:, 3] ** 2
        - 0.5
        + 0.3 * X[:, 4] * X[:, 5]
    )
    return X, np.where(f + 0.5 * rng.standard_normal(n_rows) > 0, 1, -1)
