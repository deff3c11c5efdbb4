"""Data sets with the kernel width h and the C they are compared at."""

import numpy as np

from benchmarks.datasets import load

SETTINGS = {
    "ijcnn1": {"h": 0.5, "C": 10.0, "scale": None},
    "cod-rna": {"h": 1.0, "C": 1.0, "scale": "standard"},
    "a9a": {"h": 3.0, "C": 1.0, "scale": None},
    "w8a": {"h": 3.0, "C": 10.0, "scale": None},
    "letter": {"h": 0.5, "C": 10.0, "scale": None},
    "mnist": {"h": 5.0, "C": 10.0, "scale": None},
    "fashion-mnist": {"h": 5.0, "C": 10.0, "scale": None},
    "covtype.binary": {"h": 0.25, "C": 32.0, "scale": "minmax"},
    "covtype.50k": {
        "name": "covtype.binary",
        "h": 0.25,
        "C": 32.0,
        "scale": "minmax",
        "rows": 50_000,
    },
    "covtype": {"h": 0.25, "C": 32.0, "scale": "minmax"},
}

HARDER = {"cod-rna": {"C": 10.0}, "letter": {"h": 0.4}}
"""Changes of the settings, for exact fits and for forests."""

REGRESSION = {
    "casp": {"C": 3.0, "gamma": 1.0, "epsilon": 0.1},
    "cadata": {"C": 3.0, "gamma": 0.5, "epsilon": 0.1},
}


def load_regression(name):
    """Return the four arrays of a data set, features and y standardized, and the parameters."""
    X, y, X_test, y_test = load(name, scale="standard")
    middle, size = np.mean(y), np.std(y)
    return (X, (y - middle) / size, X_test, (y_test - middle) / size), REGRESSION[name]


def load_setting(name, **changed):
    """Return the four arrays of the data set, and {"C": ..., "gamma": ...}."""
    setting = SETTINGS[name] | changed
    data = load(setting.get("name", name), scale=setting["scale"])
    if "rows" in setting:
        some = np.random.default_rng(0).permutation(len(data[1]))[: setting["rows"]]
        data = data[0][some], data[1][some], *data[2:]
    return data, {"C": setting["C"], "gamma": 1 / (2 * setting["h"] ** 2)}


def load_problem(name, changed=None):
    """`load_regression` or `load_setting`, with changes of the settings by name."""
    if name in REGRESSION:
        return load_regression(name)
    return load_setting(name, **(changed or {}).get(name, {}))
