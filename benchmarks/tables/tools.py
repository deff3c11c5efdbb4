"""The tools, each behind `fit`, `predict` and, for classes, `predict_proba` where it has it.

All of them get the same numbers: no tool is told which columns are categories. They use as many
threads as OMP_NUM_THREADS says. A tool is imported when a model of it is made, so that it need not
be installed.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from benchmarks.tables.data import CLASSIFICATION, REGRESSION
from benchmarks.tables.searched import SearchedLightGBM

OURS = "hssvm"
WITH_PROBABILITIES = "hssvm, probabilities"
SEARCHED = "LightGBM, searched"


@dataclass(frozen=True)
class Tool:
    """A tool: its package, and a function of the task and the split that makes a model of it.

    `ranked` is false for runs beside the comparison of untuned tools. `notes` returns further
    figures of a fitted model.
    """

    package: str
    make: Callable
    ranked: bool = True
    tasks: tuple = (CLASSIFICATION, REGRESSION)
    notes: Callable = lambda model: {}

    @property
    def version(self):
        """Version of the installed package, or None."""
        try:
            return version(self.package)
        except PackageNotFoundError:
            return None


def threads():
    return int(os.environ.get("OMP_NUM_THREADS", os.cpu_count()))


def pair(classifier, regressor, seed="random_state", n_threads=None, **options):
    """Return a function that makes one of two estimators, with other options at their defaults."""

    def make(task, split):
        module, _, name = (classifier if task == CLASSIFICATION else regressor).rpartition(".")
        given = options | {seed: split}
        if n_threads:
            given[n_threads] = threads()
        return getattr(import_module(module), name)(**given)

    return make


class XRFM:
    """xRFM as its README uses it: standardized features, and a fifth of the rows held out."""

    def __init__(self, task, split):
        self.task, self.split = task, split
        make = import_module("xrfm").xRFM
        self.model = make(device="cpu", random_state=split, verbose=False)

    def fit(self, X, y):
        """Standardize the features and, for regression, y."""
        self.features = StandardScaler().fit(X)
        self.middle, self.size = 0.0, 1.0
        if self.task != CLASSIFICATION:
            self.middle, self.size = y.mean(), y.std()
            y = ((y - self.middle) / self.size).astype(np.float32)
        held_out = train_test_split(self._scaled(X), y, test_size=0.2, random_state=self.split)
        X, X_held_out, y, y_held_out = held_out
        self.model.fit(X, y, X_held_out, y_held_out)
        return self

    def _scaled(self, X):
        return self.features.transform(X).astype(np.float32)

    def predict(self, X):
        """Return classes or values."""
        found = self.model.predict(self._scaled(X)).ravel()
        return found if self.task == CLASSIFICATION else self.middle + self.size * found

    def predict_proba(self, X):
        """Return (n, n_classes)."""
        return self.model.predict_proba(self._scaled(X))


def searched(task, split, seconds):
    return SearchedLightGBM(task, split, threads(), seconds)


def chosen(model):
    return {"chosen": {name: str(value) for name, value in model.best_params_.items()}}


def trials(model):
    return {"trials": model.n_trials_}


PYTABKIT = {"device": "cpu", "n_threads": "n_threads", "verbosity": 0}

RIVALS = {
    "HistGradientBoosting": Tool(
        "scikit-learn",
        pair(
            "sklearn.ensemble.HistGradientBoostingClassifier",
            "sklearn.ensemble.HistGradientBoostingRegressor",
        ),
    ),
    "LightGBM": Tool(
        "lightgbm",
        pair("lightgbm.LGBMClassifier", "lightgbm.LGBMRegressor", n_threads="n_jobs", verbose=-1),
    ),
    "XGBoost": Tool(
        "xgboost", pair("xgboost.XGBClassifier", "xgboost.XGBRegressor", n_threads="n_jobs")
    ),
    "CatBoost": Tool(
        "catboost",
        pair(
            "catboost.CatBoostClassifier",
            "catboost.CatBoostRegressor",
            n_threads="thread_count",
            verbose=False,
            allow_writing_files=False,
        ),
    ),
    "random forest": Tool(
        "scikit-learn",
        pair(
            "sklearn.ensemble.RandomForestClassifier",
            "sklearn.ensemble.RandomForestRegressor",
            n_threads="n_jobs",
        ),
    ),
    "xRFM": Tool("xrfm", XRFM),
    "RealMLP": Tool(
        "pytabkit",
        pair("pytabkit.RealMLP_TD_Classifier", "pytabkit.RealMLP_TD_Regressor", **PYTABKIT),
    ),
    "TabM": Tool(
        "pytabkit", pair("pytabkit.TabM_D_Classifier", "pytabkit.TabM_D_Regressor", **PYTABKIT)
    ),
}

OURS_AND_SEARCHED = {
    OURS: Tool("hssvm", pair("hssvm.SVCCV", "hssvm.SVRCV"), notes=chosen),
    WITH_PROBABILITIES: Tool(
        "hssvm",
        pair("hssvm.SVCCV", "hssvm.SVRCV", probability="sigmoid"),
        ranked=False,
        tasks=(CLASSIFICATION,),
    ),
    SEARCHED: Tool("optuna", searched, ranked=False, notes=trials),
}
ALL_TOOLS = OURS_AND_SEARCHED | RIVALS
