"""Tables by name, each divided at random into training and test rows.

They are those in the folder pmlb of the data folder, and the `SETS` of its ``load.py`` that have at
most 100 features. Four data sets that are also in PMLB are left out, and one that is a part of
another.
"""

import csv
import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse
from sklearn.model_selection import train_test_split

from benchmarks.datasets import dense, load

CLASSIFICATION, REGRESSION = "classification", "regression"
TEST_ROWS = 20_000
SETS = {
    CLASSIFICATION: [
        "australian", "cod-rna", "covtype", "covtype.binary", "diabetes", "heart_scale",
        "higgs_sample", "ijcnn1", "phishing", "shuttle", "skin_nonskin", "susy_sample",
    ],
    REGRESSION: ["abalone_scale", "casp", "kin40k", "power"],
}  # fmt: skip


def names():
    """The task of every table, by name."""
    with (folder() / "tasks.tsv").open() as file:
        found = {row["name"]: row["task"] for row in csv.DictReader(file, delimiter="\t")}
    return found | {name: task for task, sets in SETS.items() for name in sets}


def folder():
    if "HSSVM_DATA" not in os.environ:
        sys.exit("Set HSSVM_DATA to the folder with the data sets, their load.py and pmlb.")
    return Path(os.environ["HSSVM_DATA"]) / "pmlb"


def read(name):
    """All rows of a table, in float32, and their labels or values."""
    file = folder() / f"{name}.tsv.gz"
    if file.exists():
        table = pd.read_csv(file, sep="\t")
        y = table.pop("target").to_numpy()
        return table.to_numpy(np.float32), y
    X, y, X_test, y_test = load(name)
    stack = scipy.sparse.vstack if scipy.sparse.issparse(X) else np.vstack
    return dense(stack([X, X_test])), np.concatenate([y, y_test])


def divided(X, y, task, split, max_rows, test_rows=TEST_ROWS):
    """Return (X_train, y_train, X_test, y_test): a fifth of the rows are for the test.

    At most `max_rows` and `test_rows` are kept. Classes are numbered; a class without training rows
    is -1.
    """
    n_test = round(0.2 * len(y))
    n_train = min(max_rows, len(y) - n_test)
    of_classes = task == CLASSIFICATION and np.unique(y, return_counts=True)[1].min() > 1
    train, test = train_test_split(
        np.arange(len(y)),
        train_size=n_train,
        test_size=min(test_rows, n_test),
        stratify=y if of_classes else None,
        random_state=split,
    )
    y_train, y_test = y[train], y[test]
    if task == CLASSIFICATION:
        classes, y_train = np.unique(y_train, return_inverse=True)
        found = np.searchsorted(classes, y_test).clip(max=len(classes) - 1)
        y_test = np.where(classes[found] == y_test, found, -1)
    return X[train], y_train, X[test], y_test


def load_table(name, split, max_rows, test_rows=TEST_ROWS):
    """Return the task, and what `divided` returns."""
    task = names()[name]
    return task, divided(*read(name), task, split, max_rows, test_rows)
