"""Model files of LIBSVM."""

import tempfile
from pathlib import Path

import numpy as np
from helpers.outcomes import model_outcome
from helpers.text_mutants import lines_changed, overwrite, text_changed, words_changed

import hssvm

CHANGES = text_changed, words_changed, lines_changed


def seeds():
    """Files of tiny models with all kernels and kinds of targets that they may have."""
    X = np.random.default_rng(0).standard_normal((12, 2))
    y = (X[:, 0] > 0).astype(int)
    models = [
        hssvm.SVC(probability="sigmoid").fit(X, y),
        hssvm.SVC(kernel="poly", multi_class="ovo").fit(X, np.arange(12) % 3),
        hssvm.SVR(kernel="linear").fit(X, X[:, 1]),
        hssvm.OneClassSVM(nu=0.5).fit(X),
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        return [_saved(model, path) for model in models]


def _saved(model, path):
    model.save_libsvm(path)
    return path.read_bytes()


def changed(content, rng, mutate):
    """One of the changes that the tests make."""
    return CHANGES[rng.integers(len(CHANGES))](content, rng)


def read(content, folder):
    """Load a model, and predict with it."""
    path = folder / "model"
    path.touch()
    overwrite(path, content)
    return model_outcome(path, hssvm.load_libsvm)
