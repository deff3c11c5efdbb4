"""LIBSVM text: ``label index:value index:value ...`` in each line, indices from 1."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from hssvm import _core
from hssvm.io.files import opened
from hssvm.kernels.base import Rows

MAX_FEATURES = 2**31 - 1
_PIECE = 1 << 24  # bytes of text in memory


def read_libsvm(
    path: Path, n_features: int | None, dtype: np.dtype[Any]
) -> tuple[Rows, NDArray[np.float64] | None]:
    """X, in CSR or dense if more than half full, and y, None if no line has a label."""
    parser = _core.LibsvmText_f32 if dtype == np.float32 else _core.LibsvmText_f64
    text = parser(MAX_FEATURES if n_features is None else n_features)
    with opened(path) as file:
        while lines := file.read(_PIECE) + file.readline():
            try:
                text.feed(lines)
            except ValueError as error:
                raise ValueError(f"{path}, {error}") from None
    y, counts, columns, values, width = text.take()
    if counts.size == 0:
        raise ValueError(f"{path} has no rows")
    indptr = np.concatenate([[0], np.cumsum(counts)])
    shape = counts.size, n_features or width
    X = scipy.sparse.csr_array((values, columns, indptr), shape=shape)
    return (X.toarray() if 2 * X.nnz > shape[0] * shape[1] else X), y
