"""Fewer columns for the cuts of a tree.

A cut needs a number per column, and a tree has a cut for every hundred rows or two: on sparse rows
with a million columns the cuts would take far more memory than the rows. So the columns of wide
sparse rows are hashed to some thousands, each with a random sign (the count sketch of Charikar,
Chen and Farach-Colton, 2002). Inner products stay what they were, but for noise of one over the
root of the number of columns, and nothing has to be stored, as the hash of a column is computed
from its number. Only the tree sees the hashed columns; kernels use the rows as they are.

The hash is part of the format of model files: it must not change.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from hssvm.kernels.base import Rows

WIDTH = 8192
"""Columns after hashing. A direction then takes as much memory as a leaf of rows with 30 entries
each, and the error of the compressed kernel grows by a few per cent."""

AT_ONCE = 2**18
"""Entries that are hashed at once."""


def cut_width(X: Rows) -> int:
    """Columns that the cuts of rows have: those of X, or `WIDTH` if it is sparse and wider."""
    p = int(X.shape[1])
    return min(p, WIDTH) if scipy.sparse.issparse(X) else p


def cut_rows(X: Rows, width: int) -> Rows:
    """Rows as cuts of a width see them: X itself, or with its columns hashed.

    Columns of the result may repeat within a row; they count as their sum.

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
    for begin in range(0, X.nnz, AT_ONCE):
        some = slice(begin, min(begin + AT_ONCE, X.nnz))  # the arrays may have spare room
        bits = _hash(X.indices[some])
        indices[some] = bits % np.uint64(width)
        data[some] = np.where(bits >> np.uint64(63), X.data[some], -X.data[some])
    return type(X)((data, indices, X.indptr), shape=(X.shape[0], width))


def _hash(columns: NDArray[np.integer]) -> NDArray[np.uint64]:
    """64 bits that look random, of every column number: the last steps of splitmix64."""
    bits = columns.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
