"""Estimates of the compression error, from random rows of the exact kernel matrix.

If the matrix is a part of a larger one, every rank draws a few of its own rows, and computes its
columns of the rows that all ranks have drawn.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from hssvm.comm import SERIAL, Communicator
from hssvm.hss.matrix import HSSMatrix, as_block
from hssvm.kernels.base import Floats, Kernel, Rows

BLOCK_BYTES = 16e6
"""Size of the blocks in which kernel values are computed."""

PROBES, FEW_PROBES, MANY_ERROR_ROWS = 16, 4, 2**20
"""Number of random vectors that K - K~ is multiplied by; with many rows, a few are as accurate and
need less memory."""


def n_probes(n: int) -> int:
    """Number of random vectors for a matrix with n rows."""
    return PROBES if n <= MANY_ERROR_ROWS else FEW_PROBES


def estimate_error(
    matrix: HSSMatrix,
    *,
    n_rows: int = 256,
    matmul: Callable[[Floats], Floats] | None = None,
    random_state: int | np.random.Generator | None = 0,
    communicator: Communicator = SERIAL,
) -> float:
    """Estimate ``|K - K~|_F / |K|_F`` from random rows of the exact kernel matrix.

    Parameters
    ----------
    matrix : HSSMatrix
    n_rows : int
        The cost is ``n_rows * n`` kernel values and a product with 4 or 16 columns.
    matmul : callable, optional
        Returns ``K~ B``; by default the product with `matrix`.
    random_state : int, numpy Generator or None
    communicator : Communicator
        Connects the parts if the matrix is one of them.

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
    # |K|_F^2, as K often has one dominant eigenvalue; the sampled rows give |K|_F^2 directly.
    rng = np.random.default_rng(random_state)
    n = matrix.tree.n
    k = n_probes(int(communicator.allreduce(np.array([n]), "max")[0]))
    B = rng.standard_normal((n, k)).astype(matrix.dtype)
    approximate = matrix @ B if matmul is None else matmul(B)
    rows = _draw(n, n_rows, rng, communicator)
    exact, squares = _products(matrix.kernel, matrix.X, B, matrix.X[rows], communicator)
    difference = ((exact - approximate[rows]) ** 2).sum() / k
    sums = np.array([difference, squares.sum()]) * n / rows.size
    difference, total = communicator.allreduce(sums)
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
    B = as_block(B, matrix.tree.n, matrix.dtype)
    approximate = matrix @ B
    rows = _draw(matrix.tree.n, n_rows, np.random.default_rng(random_state), SERIAL)
    exact, _ = _products(matrix.kernel, matrix.X, B, matrix.X[rows], SERIAL)
    difference = ((exact - approximate[rows]) ** 2).sum(axis=0)
    total = (exact**2).sum(axis=0)
    return np.sqrt(difference / np.where(total == 0, 1, total))


def estimate_quadratic_form_error(
    matrix: HSSMatrix,
    Z: Floats,
    F: Floats,
    *,
    n_rows: int = 256,
    random_state: int | np.random.Generator | None = 0,
    communicator: Communicator = SERIAL,
) -> NDArray[np.float64]:
    """Estimate ``z'(K - K~)z`` for each column z of `Z`.

    Rows are drawn with probability proportional to abs(z) and weighted accordingly, so the estimate
    is unbiased; its error decreases with the square root of `n_rows`.

    Parameters
    ----------
    matrix : HSSMatrix
    Z : (n, k)
    F : (n, k)
        ``K~ Z``.
    n_rows : int
    random_state : int, numpy Generator or None
    communicator : Communicator
        Connects the parts if the matrix is one of them.

    Returns
    -------
    (k,) array
    """
    rng = np.random.default_rng(random_state)
    size = np.abs(Z).max(axis=1).astype(np.float64)
    support = np.flatnonzero(size)
    n_own = math.ceil(n_rows / communicator.size) if support.size else 0
    probability = size[support] / max(size.sum(), np.finfo(np.float64).tiny)
    drawn = rng.choice(support.size, n_own, p=probability) if n_own else np.arange(0)
    rows = support[drawn]
    X = matrix.X
    exact, _ = _products(matrix.kernel, X[support], Z[support], X[rows], communicator)
    terms = (exact - F[rows]) * Z[rows] / probability[drawn, None]
    return communicator.allreduce(terms.sum(axis=0) / max(n_own, 1))


def _draw(
    n: int, n_rows: int, rng: np.random.Generator, communicator: Communicator
) -> NDArray[np.int64]:
    """Draw random rows of this rank, ascending; about `n_rows` over all ranks."""
    n_own = min(n, math.ceil(n_rows / communicator.size))
    return np.sort(rng.choice(n, size=n_own, replace=False))


def _products(
    kernel: Kernel, X: Rows, B: Floats, own: Rows, communicator: Communicator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """``K B`` at the rows `own` of this rank, (m, k), and the squared norms of these rows, (m,).

    X and B belong to this rank; K and the product extend over all ranks.
    """
    counts = communicator.allgather([np.array([own.shape[0]])])[0]
    drawn = _gather_rows(own, communicator)
    sums = np.zeros((drawn.shape[0], B.shape[1] + 1))
    step = max(1, int(BLOCK_BYTES / (max(drawn.shape[0], 1) * X.dtype.itemsize)))
    for begin in range(0, X.shape[0] if drawn.shape[0] else 0, step):
        chunk = slice(begin, begin + step)
        block = kernel.block(drawn, X[chunk])
        sums[:, :-1] += block @ B[chunk]
        sums[:, -1] += np.einsum("ij,ij->i", block, block, dtype=np.float64)
    sums = communicator.allreduce(sums)
    begin = int(counts[: communicator.rank].sum())
    here = sums[begin : begin + own.shape[0]]
    return here[:, :-1], here[:, -1]


def _gather_rows(X: Rows, communicator: Communicator) -> Rows:
    """Gather the rows of all ranks, in rank order."""
    if communicator.size == 1:
        return X
    if not scipy.sparse.issparse(X):
        return communicator.allgather([X])[0]
    counts, indices, data = communicator.allgather([np.diff(X.indptr), X.indices, X.data])
    indptr = np.concatenate([[0], np.cumsum(counts)])
    return scipy.sparse.csr_array((data, indices, indptr), (counts.size, X.shape[1]))
