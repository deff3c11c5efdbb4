"""The tools: each gets the frame as it is, and encodes the columns in its own way."""

import shutil
import subprocess
import sys
import tempfile
import weakref
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline

from benchmarks.tables.data import CLASSIFICATION
from benchmarks.tables.tools import RIVALS, Tool, pair, threads
from hssvm.tables import TableEncoder

OURS, COMMANDS, OTHER_ENCODER = "hssvm", "hssvm, command line", "hssvm, tabular_pipeline"
GRADIENT_BOOSTING, CATBOOST = "skrub, HistGradientBoosting", "CatBoost"
search = pair("hssvm.SVCCV", "hssvm.SVRCV")


def ours(task, split):
    return make_pipeline(TableEncoder(), search(task, split))


def with_tabular_pipeline(task, split):
    return import_module("skrub").tabular_pipeline(search(task, split))


def gradient_boosting(task, split):
    """The default of skrub."""
    boosting = RIVALS["HistGradientBoosting"].make(task, split)
    return import_module("skrub").tabular_pipeline(boosting)


@dataclass
class WithCategories:
    """CatBoost, which is told the columns of text: it has its own encoding of them."""

    task: str
    split: int

    def fit(self, X, y):
        """Fit, with missing text as a level."""
        kind = "CatBoostClassifier" if self.task == CLASSIFICATION else "CatBoostRegressor"
        self.text = [name for name in X if not pd.api.types.is_numeric_dtype(X[name])]
        self.model = getattr(import_module("catboost"), kind)(
            random_state=self.split, thread_count=threads(), verbose=False,
            allow_writing_files=False, cat_features=self.text,
        )  # fmt: skip
        self.model.fit(self._prepared(X), y)
        return self

    def predict(self, X):
        """Return classes or values."""
        return np.ravel(self.model.predict(self._prepared(X)))

    def _prepared(self, X):
        return X.assign(**{name: X[name].fillna("missing").astype(str) for name in self.text})


@dataclass
class CommandLine:
    """``hssvm cv`` and ``hssvm predict``, on CSV files."""

    task: str
    split: int

    def fit(self, X, y):
        """Write the rows to a file, and run the command."""
        self.folder = Path(tempfile.mkdtemp())
        weakref.finalize(self, shutil.rmtree, self.folder)
        rows = self.folder / "rows.csv"
        X.assign(**{y.name: y}).to_csv(rows, index=False)
        kind = "svc" if self.task == CLASSIFICATION else "svr"
        hssvm("cv", rows, "--task", kind, "--target", y.name, "--seed", self.split, "-q",
              "-o", self._model)  # fmt: skip
        return self

    def predict(self, X):
        """Write the rows to a file, run the command, and read what it wrote."""
        rows, labels = (self.folder / name for name in ("new.csv", "labels.txt"))
        X.to_csv(rows, index=False)
        hssvm("predict", self._model, rows, "-o", labels, "-q")
        lines = labels.read_text().splitlines()
        return np.array(lines if self.task == CLASSIFICATION else list(map(float, lines)))

    @property
    def _model(self):
        return self.folder / "model.hssvm"


def hssvm(*arguments):
    """Run a command; an error says what it printed."""
    command = [sys.executable, "-m", "hssvm", *map(str, arguments)]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError(run.stderr)


TOOLS = {
    OURS: Tool("hssvm", ours),
    COMMANDS: Tool("hssvm", CommandLine),
    OTHER_ENCODER: Tool("skrub", with_tabular_pipeline),
    GRADIENT_BOOSTING: Tool("skrub", gradient_boosting),
    CATBOOST: Tool("catboost", WithCategories),
}
