"""Saved models: archives of a document and arrays."""

import tempfile
from pathlib import Path
from unittest.mock import patch

import numpy as np
import scipy.sparse
from helpers.mutants import CHANGES, unzipped, zipped
from helpers.outcomes import model_outcome
from helpers.text_mutants import overwrite

from hssvm import HSS, SVC, SVCCV, SVR, Cells, OneClassSVM, QuantileSVR
from hssvm.training import config


def seeds():
    """Files of tiny models: exact and approximated, dense and sparse, of all kinds of targets."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 2)).astype(np.float32)
    y = (X[:, 0] > 0).astype(int)
    three = np.digitize(X[:, 0], [-0.5, 0.5])
    leaves = HSS(leaf_size=10, max_rank=4)
    models = [
        SVC(probability="sigmoid", scaling="standard").fit(X, y),
        SVC(multi_class="ovo", kernel="poly").fit(scipy.sparse.csr_array(X), three),
        SVR(out_of_fold=True).fit(X, X[:, 1]),
        QuantileSVR(quantile=[0.2, 0.9]).fit(X, X[:, 1]),
        OneClassSVM(nu=0.2).fit(X.astype(np.float64)),
    ]
    with patch.object(config, "EXACT_ROWS", 0):
        models += [
            SVC(approximation=leaves, tol=0.1, random_state=0).fit(X, three),
            SVC(approximation=Cells(size=20, n_trees=2), random_state=0).fit(X, y),
            SVCCV(Cs=[1.0, 2.0], cv=2, approximation=leaves, tol=0.1, random_state=0).fit(X, y),
        ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        return [_saved(model, path) for model in models]


def _saved(model, path):
    model.save(path)
    return path.read_bytes()


def changed(content, rng, mutate):
    """Change a member and renew its checksum, or one of the changes that the tests make."""
    if rng.random() < 0.5:
        return CHANGES[rng.integers(len(CHANGES))](content, rng)
    members = unzipped(content)
    i = rng.integers(len(members))
    members[i] = members[i][0], mutate(members[i][1])
    return zipped(members)


def read(content, folder):
    """Load a model, and predict with it."""
    path = folder / "model"
    path.touch()
    overwrite(path, content)
    return model_outcome(path)
