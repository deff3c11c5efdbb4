"""Data sets with the kernel width h and the C they are compared at."""

from benchmarks.datasets import load

SETTINGS = {
    "ijcnn1": {"h": 0.5, "C": 10.0, "scale": None},
    "cod-rna": {"h": 1.0, "C": 1.0, "scale": "standard"},
    "a9a": {"h": 3.0, "C": 1.0, "scale": None},
    "w8a": {"h": 3.0, "C": 10.0, "scale": None},
    "letter": {"h": 0.5, "C": 10.0, "scale": None},
    "mnist": {"h": 5.0, "C": 10.0, "scale": None},
    "covtype.binary": {"h": 0.25, "C": 32.0, "scale": "minmax"},
    "covtype": {"h": 0.25, "C": 32.0, "scale": "minmax"},
}


def load_setting(name, **options):
    """Return the four arrays of the data set, and {"C": ..., "gamma": ...}."""
    setting = SETTINGS[name]
    data = load(name, scale=setting["scale"], **options)
    return data, {"C": setting["C"], "gamma": 1 / (2 * setting["h"] ** 2)}
