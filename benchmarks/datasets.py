"""Data sets by name, divided into training and test rows and scaled."""

import numpy as np
import scipy.sparse

from benchmarks.data import cache
from benchmarks.data.sets import BINARY, MULTICLASS, SETS

TEST_SHARE = 0.2
"""Of the rows of a set that is published without test rows."""


def load(name, scale=None, max_train=None):
    """Return (X_train, y_train, X_test, y_test).

    Parameters
    ----------
    name : str
    scale : {None, "minmax", "standard"}
        To [-1, 1], or to mean 0 and variance 1, both by the training rows; not for sparse rows.
    max_train : int, optional
        At most this many training rows, drawn at random.

    Returns
    -------
    X_train, X_test : ndarray or CSR matrix, float32
    y_train, y_test : ndarray
        -1 and 1 in float32, integers for several classes, or the targets of a regression.
    """
    about, rng = SETS[name], np.random.RandomState(0)
    parts = [_rows(file, about) for file in about.files(name)]
    if len(parts) == 1:
        X, y = parts[0]
        order, n_train = rng.permutation(len(y)), len(y) - round(TEST_SHARE * len(y))
        parts = [(X[some], y[some]) for some in (order[:n_train], order[n_train:])]
    (X, y), (X_test, y_test) = parts
    if max_train is not None and max_train < len(y):
        some = np.sort(rng.permutation(len(y))[:max_train])
        X, y = X[some], y[some]
    if scale is not None:
        X, X_test = scaled(X, X_test, scale)
    return X, labels(y, about), X_test, labels(y_test, about)


def _rows(file, about):
    X, y = cache.read(file, about.features)
    return (X if about.sparse else dense(X)), y


def labels(y, about):
    """The labels or targets in the form that `load` returns."""
    if about.task == BINARY:
        return np.where(y == about.positive, 1, -1).astype(np.float32)
    return y.astype(np.int64) if about.task == MULTICLASS else y


def scaled(X, X_test, scale):
    """Training and test rows, shifted and divided by what the training rows say."""
    if scipy.sparse.issparse(X):
        raise ValueError("Sparse rows are used as they are; leave out scale.")
    if scale == "minmax":
        low, high = X.min(axis=0), X.max(axis=0)
        middle, size = (high + low) / 2, (high - low) / 2
    elif scale == "standard":
        middle = X.mean(axis=0, dtype=np.float64).astype(np.float32)
        size = X.std(axis=0, dtype=np.float64).astype(np.float32)
    else:
        raise ValueError("scale is None, 'minmax' or 'standard'.")
    size = np.where(size > 0, size, 1).astype(np.float32)
    return (X - middle) / size, (X_test - middle) / size


def narrow(X):
    """LIBSVM takes sparse rows with 32-bit indices only."""
    if scipy.sparse.issparse(X):
        indices, indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
        return scipy.sparse.csr_matrix((X.data, indices, indptr), X.shape)
    return X


def dense(X):
    """Some tools accept no sparse rows."""
    return X.toarray() if scipy.sparse.issparse(X) else X


def size_of(X, y):
    """Figures of the rows of a data set; a regression has no classes."""
    labels = np.unique(y)
    return {
        "rows": X.shape[0],
        "features": X.shape[1],
        "sparse": bool(scipy.sparse.issparse(X)),
        "classes": 0 if np.any(labels % 1) else len(labels),
    }
