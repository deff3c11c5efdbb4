"""Sparse rows with far more columns than nonzeros, such as hashed features.

For every sparse row of a block, the core looks up the columns in a table with an entry for every
column. For wide rows, this table would need more memory than the rows, up to 8 GB for each thread.
Kernels of sparse rows are sums over the nonzeros, so the columns that do not occur can be left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

MAX_TABLE = 2**22
"""Number of columns up to which the core gets the rows as they are."""


def table_width(X: Any) -> int:
    """Return the largest number of columns of a table for sparse rows.

    Examples
    --------
    >>> import scipy.sparse
    >>> from hssvm.kernels.wide import table_width
    >>> table_width(scipy.sparse.csr_array((3, 10**6)))
    1000000
    >>> table_width(scipy.sparse.csr_array((3, 10**9)))
    4194304
    """
    return int(min(X.shape[1], max(MAX_TABLE, X.nnz)))


def occurring_columns(*rows: Any) -> tuple[Any, ...]:
    """Return rows without the columns that occur in none of them, if they are sparse and wide.

    Parameters
    ----------
    *rows : (n, p) array or CSR matrix
        All with the same p.

    Examples
    --------
    >>> import scipy.sparse
    >>> from hssvm.kernels.wide import occurring_columns
    >>> X = scipy.sparse.csr_array(([1.0, 2.0], [5, 10**9], [0, 1, 2]), shape=(2, 2**31 - 1))
    >>> occurring_columns(X)[0].toarray()
    array([[1., 0.],
           [0., 2.]])
    """
    p = rows[0].shape[1]
    if p <= MAX_TABLE or not scipy.sparse.issparse(rows[0]):
        return rows
    columns = np.unique(np.concatenate([X.indices[: X.nnz] for X in rows]))
    return tuple(renumbered(X, columns) for X in rows)


def renumbered(X: Any, columns: Any) -> Any:
    """Return sparse rows with these columns only, which are sorted and contain all nonzeros."""
    indices = np.searchsorted(columns, X.indices[: X.nnz]).astype(np.int32)
    # at least one column, as the core cannot have none
    shape = X.shape[0], max(columns.size, 1)
    return type(X)((X.data[: X.nnz], indices, X.indptr), shape=shape)
