"""Data sets by name, from the folder that the environment variable HSSVM_DATA names."""

import importlib.util
import os
import sys
from pathlib import Path

import numpy as np
import scipy.sparse


def load(name, **options):
    """Return (X_train, y_train, X_test, y_test); see ``load.py`` in the data folder."""
    folder = os.environ.get("HSSVM_DATA")
    if not folder:
        sys.exit("Set HSSVM_DATA to the folder with the data sets and their load.py.")
    spec = importlib.util.spec_from_file_location("hssvm_data", Path(folder) / "load.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.load(name, **options)


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
