"""Writing of LIBSVM model files."""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np
import scipy.sparse

from hssvm.kernels import Gaussian, Linear, Polynomial
from hssvm.kernels.base import as_rows
from hssvm.persistence.libsvm.contents import LibsvmModel
from hssvm.persistence.replace import replacing


def write_libsvm(model: LibsvmModel, path: str | os.PathLike[str]) -> None:
    """Write a file atomically, with 17 digits, which are enough to read the same numbers."""
    with replacing(path) as file:
        file.writelines(f"{line}\n".encode() for line in _lines(model))


def _lines(model: LibsvmModel) -> Iterator[str]:
    yield f"svm_type {model.svm_type}"
    yield from _kernel_lines(model.kernel)
    yield f"nr_class {model.n_classes}"
    yield f"total_sv {model.coef.shape[0]}"
    yield f"rho {_numbers(model.rho)}"
    if model.labels.size:
        yield f"label {_numbers(model.labels)}"
        if model.sigmoids is not None:
            for name, values in zip(("probA", "probB"), model.sigmoids, strict=True):
                yield f"{name} {_numbers(values)}"
        yield f"nr_sv {_numbers(model.counts)}"
    yield "SV"
    X = as_rows(scipy.sparse.csr_array(model.X))  # without the zeros of dense rows, and sorted
    for begin, end, coef in zip(X.indptr[:-1], X.indptr[1:], model.coef, strict=True):
        features = np.column_stack([X.indices[begin:end] + 1, X.data[begin:end]])
        form = " %d:%.17g" * len(features)
        yield _numbers(coef) + form % tuple(features.ravel().tolist())


def _kernel_lines(kernel: Gaussian | Linear | Polynomial) -> Iterator[str]:
    if isinstance(kernel, Linear):
        yield "kernel_type linear"
    elif isinstance(kernel, Gaussian):
        yield "kernel_type rbf"
        yield f"gamma {kernel.gamma:.17g}"
    else:
        yield "kernel_type polynomial"
        yield f"degree {int(kernel.degree)}"
        yield f"gamma {kernel.gamma:.17g}"
        yield f"coef0 {kernel.coef0:.17g}"


def _numbers(values: np.ndarray) -> str:
    return " ".join(f"{value:.17g}" for value in values.tolist())
