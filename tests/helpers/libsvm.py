"""LIBSVM itself: its shared library and its commands."""

import ctypes
import ctypes.util
import shutil
import subprocess

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file


class Node(ctypes.Structure):
    _fields_ = (("index", ctypes.c_int), ("value", ctypes.c_double))


def library():
    """LIBSVM's shared library; skips where there is none."""
    name = ctypes.util.find_library("svm")
    if name is None:
        pytest.skip("LIBSVM's shared library is not installed")
    lib = ctypes.CDLL(name)
    lib.svm_load_model.restype = ctypes.c_void_p
    lib.svm_predict_values.restype = lib.svm_predict_probability.restype = ctypes.c_double
    return lib


class Model:
    """A model file as LIBSVM loads it."""

    def __init__(self, path):
        self._lib = library()
        self._model = ctypes.c_void_p(self._lib.svm_load_model(str(path).encode()))
        assert self._model.value, f"LIBSVM cannot load {path}"
        self.n_classes = self._lib.svm_get_nr_class(self._model)

    def values(self, X, n_values):
        """Labels (or values of a regression), and decision values of all pairs."""
        return self._each(self._lib.svm_predict_values, X, n_values)

    def probabilities(self, X):
        """Labels, and probabilities by class in the order of the file."""
        assert self._lib.svm_check_probability_model(self._model)
        return self._each(self._lib.svm_predict_probability, X, self.n_classes)

    def _each(self, function, X, n_values):
        labels, out = np.empty(len(X)), np.empty((len(X), n_values))
        for i, row in enumerate(X):
            stored = [Node(int(j) + 1, row[j]) for j in np.flatnonzero(row)]
            nodes = (Node * (len(stored) + 1))(*stored, Node(-1, 0.0))
            values = (ctypes.c_double * n_values)()
            labels[i] = function(self._model, nodes, values)
            out[i] = values
        return labels, out


def command(name):
    """The path of a LIBSVM command; skips where it is not installed."""
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"{name} of LIBSVM is not installed")
    return path


def run(name, *arguments):
    """Run a LIBSVM command; what it writes to stdout."""
    line = [command(name), *map(str, arguments)]
    return subprocess.run(line, check=True, capture_output=True, text=True).stdout


def train(folder, X, y, *options):
    """The model file of ``svm-train``, with features in full precision."""
    data, model = folder / "train.libsvm", folder / "svm-train.model"
    dump_svmlight_file(X, y, str(data), zero_based=False)
    run("svm-train", "-q", *options, data, model)
    return model


def predict(folder, model, X, *options):
    """The lines that ``svm-predict`` writes."""
    data, output = folder / "test.libsvm", folder / "svm-predict.txt"
    dump_svmlight_file(X, np.zeros(len(X)), str(data), zero_based=False)
    run("svm-predict", *options, data, model, output)
    return output.read_text().splitlines()
