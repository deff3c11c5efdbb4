"""Validation of the index arrays of sparse matrices.

SciPy checks them only when a matrix is constructed. If they are modified afterwards, its routines
may read and write out of bounds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray


def require_valid_sparse(X: Any) -> None:
    """Raise ValueError if `X` is a sparse matrix with out-of-range indices.

    Examples
    --------
    >>> import scipy.sparse
    >>> from hssvm.kernels.sparse_format import require_valid_sparse
    >>> X = scipy.sparse.csr_array([[1.0, 2.0]])
    >>> require_valid_sparse(X)
    >>> X.indices[1] = 7
    >>> require_valid_sparse(X)
    Traceback (most recent call last):
        ...
    ValueError: X is not a valid CSR matrix: its indices must be between 0 and 1; rebuild it
    """
    if not scipy.sparse.issparse(X) or X.ndim != 2:
        return
    if X.format in ("csr", "csc", "bsr"):
        problem = _compressed_problem(X)
    elif X.format == "coo":
        problem = _coordinate_problem(X)
    else:  # compiled code checks the other formats
        return
    if problem:
        name = X.format.upper()
        raise ValueError(f"X is not a valid {name} matrix: {problem}; rebuild it")


def _compressed_problem(X: Any) -> str | None:
    blocks = X.blocksize if X.format == "bsr" else (1, 1)
    n, p = (size // block for size, block in zip(X.shape, blocks, strict=True))
    major, minor = (p, n) if X.format == "csc" else (n, p)
    if X.indptr.shape != (major + 1,) or X.indices.ndim != 1:
        return f"its indptr must have {major + 1} entries and its indices must be one-dimensional"
    stored = min(len(X.indices), len(X.data))
    if X.indptr[0] != 0 or X.indptr[-1] > stored or (X.indptr[1:] < X.indptr[:-1]).any():
        return f"its indptr must start at 0, never decrease, and end at {stored} or less"
    return _range_problem("indices", X.indices[: X.indptr[-1]], minor)


def _coordinate_problem(X: Any) -> str | None:
    if not X.row.shape == X.col.shape == X.data.shape:
        return "its row, col and data must have the same shape"
    return _range_problem("row", X.row, X.shape[0]) or _range_problem("col", X.col, X.shape[1])


def _range_problem(name: str, indices: NDArray[np.integer[Any]], size: int) -> str | None:
    if indices.size == 0 or (indices.min() >= 0 and indices.max() < size):
        return None
    return f"its {name} must be between 0 and {size - 1}"
