"""Hashing of the columns of wide sparse data for the cuts of a tree.

A cut stores one number per column, and a tree has a cut for every one or two hundred rows: on
sparse rows with a million columns, the cuts would need far more memory than the rows. So the
columns of wide sparse data are hashed to a few thousand, each with a random sign (the count sketch
of Charikar, Chen and Farach-Colton, 2002). This preserves inner products up to a relative noise of
one over the square root of the number of hashed columns, and nothing has to be stored, since the
hash is computed from the column index. Only the tree uses the hashed columns; kernels use the
original rows.

The hash is part of the model file format and must not change.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from hssvm.kernels.base import Rows

HASHED_WIDTH = 8192
"""Number of columns after hashing. A direction then needs as much memory as a leaf of rows with 30
nonzeros each, and the error of the compressed kernel grows by a few percent."""

BLOCK_ENTRIES = 2**18
"""Number of entries that are hashed at a time."""


def cut_width(X: Rows) -> int:
    """Width of the cuts of X: its number of columns, at most `HASHED_WIDTH` if it is sparse."""
    p = int(X.shape[1])
    return min(p, HASHED_WIDTH) if scipy.sparse.issparse(X) else p


def cut_rows(X: Rows, width: int) -> Rows:
    """Return X itself if it has `width` columns, else X with its columns hashed to `width`.

    A column may occur several times in a row of the result; its value is their sum.

    Examples
    --------
    >>> import scipy.sparse
    >>> from hssvm.hss.hashing import cut_rows, cut_width
    >>> X = scipy.sparse.random_array((100, 10**6), density=1e-5, format="csr", random_state=0)
    >>> cut_width(X), cut_rows(X, cut_width(X)).shape
    (8192, (100, 8192))
    """
    if X.shape[1] == width:
        return X
    X = scipy.sparse.csr_array(X) if not scipy.sparse.issparse(X) else X
    indices, data = np.empty(X.nnz, np.int32), np.empty(X.nnz, X.dtype)
    for begin in range(0, X.nnz, BLOCK_ENTRIES):
        chunk = slice(begin, min(begin + BLOCK_ENTRIES, X.nnz))  # the arrays may be longer than nnz
        bits = _hash(X.indices[chunk])
        indices[chunk] = bits % np.uint64(width)
        data[chunk] = np.where(bits >> np.uint64(63), X.data[chunk], -X.data[chunk])
    return type(X)((data, indices, X.indptr), shape=(X.shape[0], width))


def _hash(columns: NDArray[np.integer]) -> NDArray[np.uint64]:
    """64 pseudorandom bits per column index: the last steps of splitmix64."""
    bits = columns.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
