"""How far the compressed matrix is from the true one, from random rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm.hss.matrix import HSSMatrix, as_block
from hssvm.kernels.base import Floats

BLOCK_BYTES = 16e6
"""Rows of the exact kernel matrix are computed in blocks of this size (or one by one)."""


def estimate_error(
    matrix: HSSMatrix,
    *,
    n_rows: int = 256,
    matmul: Callable[[Floats], Floats] | None = None,
    random_state: int | np.random.Generator | None = 0,
) -> float:
    """Estimate ``|K - K~|_F / |K|_F`` from random rows of the true kernel matrix.

    Parameters
    ----------
    matrix : HSSMatrix
    n_rows : int
        The cost is ``n_rows * n`` kernel values and a product with 16 columns.
    matmul : callable, optional
        A cheaper product ``K~ B`` than that of `matrix`, such as a system's.
    random_state : int, numpy Generator or None

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.hss import compress, estimate_error
    >>> from hssvm.kernels import Gaussian
    >>> X = np.random.default_rng(0).standard_normal((2000, 3))
    >>> H = compress(Gaussian(gamma=0.1), X, rtol=1e-6)
    >>> estimate_error(H) < 1e-5
    True
    """
    # |(K - K~) b|^2 has the mean |K - K~|_F^2 for random b. |K b|^2 would be a poor estimate of
    # |K|_F^2, for K often has one very large eigenvalue; the rows at hand give that directly.
    rng = np.random.default_rng(random_state)
    B = rng.standard_normal((matrix.tree.n, 16)).astype(matrix.dtype)
    approximate = matrix @ B if matmul is None else matmul(B)
    difference, total = 0.0, 0.0
    for rows, block in _random_rows(matrix, n_rows, rng):
        residual = (block @ B - approximate[rows]).astype(np.float64, copy=False)
        difference += float((residual**2).sum()) / B.shape[1]
        total += float(np.einsum("ij,ij->", block, block, dtype=np.float64))  # without a copy
    return 0.0 if total == 0 else float(np.sqrt(difference / total))


def estimate_product_error(
    matrix: HSSMatrix,
    B: Any,
    *,
    n_rows: int = 256,
    random_state: int | np.random.Generator | None = 0,
) -> NDArray[np.float64]:
    """Estimate ``|K b - K~ b| / |K b|`` for each column b of `B` from random rows.

    Parameters
    ----------
    matrix : HSSMatrix
    B : (n,) or (n, k)
    n_rows : int
    random_state : int, numpy Generator or None

    Returns
    -------
    (k,) array
    """
    rng = np.random.default_rng(random_state)
    B = as_block(B, matrix.tree.n, matrix.dtype)
    approximate = matrix @ B
    difference, total = np.zeros(B.shape[1]), np.zeros(B.shape[1])
    for rows, block in _random_rows(matrix, n_rows, rng):
        exact = (block @ B).astype(np.float64, copy=False)
        difference += ((exact - approximate[rows]) ** 2).sum(axis=0)
        total += (exact**2).sum(axis=0)
    return np.sqrt(difference / np.where(total == 0, 1, total))


def estimate_form_error(
    matrix: HSSMatrix,
    Z: Floats,
    F: Floats,
    *,
    n_rows: int = 256,
    random_state: int | np.random.Generator | None = 0,
) -> NDArray[np.float64]:
    """Estimate ``z'(K - K~)z`` for each column z of `Z`.

    Rows with a large abs(z) are drawn more often, and count accordingly less: the estimate is
    unbiased, and its error falls like the root of `n_rows`.

    Parameters
    ----------
    matrix : HSSMatrix
    Z : (n, k)
    F : (n, k)
        ``K~ Z``.
    n_rows : int
    random_state : int, numpy Generator or None

    Returns
    -------
    (k,) array
    """
    rng = np.random.default_rng(random_state)
    size = np.abs(Z).max(axis=1).astype(np.float64)
    taken = np.flatnonzero(size)
    if taken.size == 0:
        return np.zeros(Z.shape[1])
    probability = size[taken] / size[taken].sum()
    drawn = rng.choice(taken.size, size=n_rows, p=probability)
    form = np.zeros(Z.shape[1])
    for begin in range(0, n_rows, _rows_at_once(matrix)):
        some = drawn[begin : begin + _rows_at_once(matrix)]
        rows = taken[some]
        exact = matrix.kernel.block(matrix.X[rows], matrix.X[taken]) @ Z[taken]
        difference = (exact - F[rows]).astype(np.float64) * Z[rows]
        form += (difference / probability[some, None]).sum(axis=0)
    return form / n_rows


def _rows_at_once(matrix: HSSMatrix) -> int:
    """Rows of the exact kernel matrix in `BLOCK_BYTES`."""
    return max(1, int(BLOCK_BYTES / (matrix.tree.n * matrix.dtype.itemsize)))


def _random_rows(
    matrix: HSSMatrix, n_rows: int, rng: np.random.Generator
) -> Iterator[tuple[NDArray[np.int64], Floats]]:
    """Random rows of the exact kernel matrix, a block at a time."""
    n = matrix.tree.n
    rows = np.sort(rng.choice(n, size=min(n_rows, n), replace=False))
    chunk = _rows_at_once(matrix)
    for begin in range(0, rows.size, chunk):
        some = rows[begin : begin + chunk]
        yield some, matrix.kernel.block(matrix.X[some], matrix.X)
