"""Tables by name, each divided at random into training and test rows.

The tables of PMLB, and those of the other sets (`SETS`) that have at most 100 features. Four data
sets that are also in PMLB are left out, and one that is a part of another.
"""

import numpy as np
import scipy.sparse
from sklearn.model_selection import train_test_split

from benchmarks.data import cache
from benchmarks.data.pmlb import TABLES
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


PMLB = {name: about.task for name, about in TABLES.items()}


def names():
    """The task of every table, by name."""
    return PMLB | {name: task for task, sets in SETS.items() for name in sets}


def read(name):
    """All rows of a table, in float32, and their labels or values."""
    if name in PMLB:
        return cache.read(f"pmlb/{name}", None)
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
