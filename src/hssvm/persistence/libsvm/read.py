"""Reading of LIBSVM model files."""

from __future__ import annotations

import os
from itertools import islice
from typing import IO

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from hssvm import _core
from hssvm.kernels.base import Rows
from hssvm.messages import api, value_error
from hssvm.persistence.libsvm.contents import CLASSIFIERS, LibsvmModel
from hssvm.persistence.libsvm.header import Header, finite

MAX_LIBSVM_FEATURES = 2**31 - 1

LINES = 4096
"""Number of lines that are parsed at a time."""


def read_libsvm(path: str | os.PathLike[str], n_features: int | None = None) -> LibsvmModel:
    """Read a file; the message of a ValueError names the file and the line.

    `n_features` is by default the largest index of a feature.
    """
    with open(path, "rb") as file:
        try:
            header = Header(file)
            svm_type, kernel = header.svm_type(), header.kernel()
            labels, counts, n_pairs = _read_classes(header, svm_type)
            rho, sigmoids = header.numbers("rho", n_pairs), None
            if svm_type in CLASSIFIERS and "probA" in header:
                sigmoids = np.stack([header.numbers(key, n_pairs) for key in ("probA", "probB")])
            (total,) = header.integers("total_sv", 1)
            if labels.size and counts.sum() != total:
                raise header.error("nr_sv", f"has {counts.sum()} vectors, total_sv is {total}")
            coef, X = _read_vectors(file, header, max(labels.size - 1, 1), total)
        except ValueError as error:
            raise ValueError(f"{path}, {error}") from None
    X = _with_features(X, n_features, path)
    return LibsvmModel(svm_type, kernel, X, coef, rho, labels, counts, sigmoids)


def _read_classes(
    header: Header, svm_type: str
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Return the labels, the number of support vectors of each, and the number of pairs."""
    (n_classes,) = header.integers("nr_class", 1).tolist()
    if svm_type not in CLASSIFIERS:
        none = np.empty(0, np.int64)
        return none, none, 1
    labels = header.integers("label")
    if labels.size != n_classes:
        raise header.error("label", f"has {labels.size} labels, but nr_class is {n_classes}")
    if n_classes < 2:
        raise header.error("nr_class", "is below 2; train with at least two classes")
    if np.unique(labels).size != n_classes:
        raise header.error("label", "has the same label twice; all must differ")
    counts = header.integers("nr_sv", n_classes)
    if counts.min() < 0:
        raise header.error("nr_sv", "has negative numbers; they must be at least 0")
    return labels, counts, n_classes * (n_classes - 1) // 2


def _read_vectors(
    file: IO[bytes], header: Header, n_coef: int, total: int
) -> tuple[NDArray[np.float64], scipy.sparse.csr_array]:
    """Return the coefficients, (n, n_coef), and the support vectors up to their largest index."""
    text, coef, number = _core.LibsvmText_f64(MAX_LIBSVM_FEATURES), [], header.n_lines
    text.feed(b"\n" * number)  # so that its errors name the line of the file
    while lines := list(islice(file, LINES)):
        features = []
        for line in lines:
            number += 1
            words = line.split(maxsplit=n_coef)
            if words:
                coef.append(_coefficients(words[:n_coef], n_coef, number))
            # the parser wants a label for each row
            features.append(b"0 " + b"".join(words[n_coef:]).strip() if words else b"")
        text.feed(b"\n".join([*features, b""]))
    if len(coef) != total:
        raise ValueError(
            f"line {number}: the last support vector is number {len(coef)}, but total_sv is "
            f"{total}; the file is incomplete, copy it again"
        )
    _, counts, columns, values, width = text.take()
    indptr = np.concatenate([[0], np.cumsum(counts)])
    X = scipy.sparse.csr_array((values, columns, indptr), shape=(len(coef), width))
    return np.array(coef, np.float64).reshape(-1, n_coef), X


def _coefficients(words: list[bytes], n_coef: int, number: int) -> NDArray[np.float64]:
    try:
        if len(words) == n_coef:
            return np.array([finite(word) for word in words])
        problem = f"there are only {len(words)}"
    except ValueError as error:
        problem = f"{error} is not a finite number"
    noun = "coefficient" if n_coef == 1 else f"{n_coef} coefficients"
    raise ValueError(f"line {number}: a support vector begins with its {noun}, but {problem}")


def _with_features(
    X: scipy.sparse.csr_array, n_features: int | None, path: str | os.PathLike[str]
) -> Rows:
    """Return rows with `n_features` columns, dense if more than half full."""
    n, width = X.shape
    if n_features is None and width == 0:
        raise value_error(f"{path} does not say how many features there are; pass {api:n_features}")
    if n_features is not None and not max(width, 1) <= n_features <= MAX_LIBSVM_FEATURES:
        raise value_error(
            f"{api:n_features} must be at least {max(width, 1)}, the largest index in {path}, "
            f"and at most 2**31 - 1, got {n_features}"
        )
    shape = n, width if n_features is None else n_features
    X = scipy.sparse.csr_array((X.data, X.indices, X.indptr), shape=shape)
    return X.toarray() if 2 * X.nnz > shape[0] * shape[1] else X
