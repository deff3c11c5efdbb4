"""The tools that `compare` runs, each behind `fit` and `predict`.

Kernel SVMs and Nystroem features get the parameters of `settings`, other tools their own defaults.
A tool is imported when a model of it is made, so that it need not be installed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version

import numpy as np
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from benchmarks.limit import limited

SEED = 0
NOT_INSTALLED = "not installed"
LANDMARKS = 2000


@dataclass(frozen=True)
class Rival:
    """A tool, and what it is given.

    `classify` and `regress` make a model from C, gamma and, for regression, epsilon. `parameters`
    says which of them it uses. `growth` is a power of the number of rows with which the time of a
    fit grows, a cautious one. `dual` is for solvers of the dual problem of the SVM, with
    `dual_coef_` and `support_`; `sparse` for tools that get sparse rows as they are.
    """

    package: str
    classify: Callable
    regress: Callable | None
    parameters: str = "C, gamma, epsilon"
    growth: float = 0
    dual: bool = False
    sparse: bool = True

    @property
    def version(self):
        """Version of the installed package, or None."""
        try:
            return version(self.package)
        except PackageNotFoundError:
            return None


def estimator(path, **options):
    """Return a function that makes an estimator with the parameters it is called with."""
    module, _, name = path.rpartition(".")
    return lambda **parameters: getattr(import_module(module), name)(**parameters, **options)


def untuned(path, **options):
    """Return a function that makes an estimator which does not use the parameters."""
    make = estimator(path, **options)
    return lambda **parameters: make()


def torchkm(C, gamma):
    """Its low rank estimates gamma from the data, and refuses another."""
    make = estimator("torchkm.TorchKMSVC", low_rank=True, num_landmarks=LANDMARKS)
    return make(Cs=[C], device="cpu", random_state=SEED)


def nystroem(ridge, C, gamma, epsilon=None):
    """Ridge regression on the features of landmarks: the model that Falkon fits."""
    # In float32 the small values of a narrow kernel are denormal numbers, and slow.
    double = FunctionTransformer(lambda X: X.astype(np.float64))
    features = Nystroem(gamma=gamma, n_components=LANDMARKS, random_state=SEED)
    return make_pipeline(double, features, ridge(alpha=1 / (2 * C)))


class XRFM:
    """xRFM needs a validation set: a fifth of the rows, as in its README."""

    def __init__(self, classify, **parameters):
        self.classify = classify
        self.model = estimator("xrfm.xRFM")(device="cpu", random_state=SEED, verbose=False)

    def fit(self, X, y):
        """Number the classes, and hold out rows."""
        if self.classify:
            self.classes_, y = np.unique(y, return_inverse=True)
        X, X_held_out, y, y_held_out = train_test_split(X, y, test_size=0.2, random_state=SEED)
        self.model.fit(X, y, X_held_out, y_held_out)
        return self

    def predict(self, X):
        """Return labels or values."""
        found = self.model.predict(X)
        return self.classes_[found] if self.classify else found.ravel()


RIVALS = {
    "hssvm": Rival(
        "hssvm",
        estimator("hssvm.SVC", random_state=SEED),
        estimator("hssvm.SVR", random_state=SEED),
        dual=True,
    ),
    "scikit-learn SVM": Rival(
        "scikit-learn",
        estimator("sklearn.svm.SVC", cache_size=2000),
        estimator("sklearn.svm.SVR", cache_size=2000),
        growth=1.5,
        dual=True,
    ),
    "scikit-learn-intelex": Rival(
        "scikit-learn-intelex",
        estimator("sklearnex.svm.SVC", cache_size=2000),
        estimator("sklearnex.svm.SVR", cache_size=2000),
        growth=1.5,
        dual=True,
    ),
    # It misreads the labels of sparse rows, and takes every row for a class.
    "ThunderSVM, CPU": Rival(
        "thundersvm-cpu",
        estimator("thundersvm.SVC"),
        estimator("thundersvm.SVR"),
        growth=1.5,
        dual=True,
        sparse=False,
    ),
    "TorchKM, low rank": Rival("torchkm", torchkm, None, "C", growth=1, sparse=False),
    "Nystroem + ridge": Rival(
        "scikit-learn", partial(nystroem, RidgeClassifier), partial(nystroem, Ridge), "C, gamma"
    ),
    # A leaf has up to 60,000 rows, and a dense kernel matrix.
    "xRFM": Rival(
        "xrfm", partial(XRFM, True), partial(XRFM, False), "none", growth=3, sparse=False
    ),
    "HistGradientBoosting": Rival(
        "scikit-learn",
        untuned("sklearn.ensemble.HistGradientBoostingClassifier", random_state=SEED),
        untuned("sklearn.ensemble.HistGradientBoostingRegressor", random_state=SEED),
        "none",
        sparse=False,
    ),
    "LightGBM": Rival(
        "lightgbm",
        untuned("lightgbm.LGBMClassifier", n_jobs=0, random_state=SEED, verbose=-1),
        untuned("lightgbm.LGBMRegressor", n_jobs=0, random_state=SEED, verbose=-1),
        "none",
    ),
}


def attempt(limit, tool, run, *arguments):
    """``run(*arguments)`` in a process of its own, if the tool is installed."""
    if RIVALS[tool].version is None:
        return {"error": NOT_INSTALLED}
    return limited(limit, run, *arguments)
