"""How far the compressed matrix is from the true one, from random rows of all parts."""

from __future__ import annotations

import math

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from hssvm.dask.meeting import Seat
from hssvm.kernels.base import Floats, Rows
from hssvm.solvers import Solution
from hssvm.systems import HSSSystem

COLUMNS = 16
"""Random vectors that K - K~ is multiplied by."""

AT_ONCE = 2**23
"""Kernel values that are computed at once."""


def estimate_errors(
    system: HSSSystem, solution: Solution, seat: Seat, n_rows: int, seed: int
) -> tuple[float, NDArray[np.float64]]:
    """Estimate ``|K - K~|_F / |K|_F``, and ``z'(K - K~)z`` for each column z of the solution.

    As `hssvm.hss.estimate_error` and `estimate_form_error` do, but every part draws rows of its
    own. All parts compute their share of the kernel values in all these rows.

    Parameters
    ----------
    system : HSSSystem
        Of this part.
    solution : Solution
    seat : Seat
    n_rows : int
        Rows of all parts together, about.
    seed : int

    Returns
    -------
    kernel_error : float
    form_error : (k,) array
    """
    n, X, Z = system.n, system.matrix.X, solution.Z
    rng = np.random.default_rng([seed, seat.part])
    n_parts = int(seat.sum(np.ones(1))[0])
    n_own = min(n, math.ceil(n_rows / n_parts))
    even = rng.choice(n, size=n_own, replace=False)
    size = np.abs(Z).max(axis=1).astype(np.float64) + np.finfo(np.float64).tiny
    heavy = rng.choice(n, size=n_own, p=size / size.sum())
    rows = np.concatenate([even, heavy])

    B = rng.standard_normal((n, COLUMNS)).astype(system.dtype)
    approximate = np.hstack([system.matmul(B), solution.F])[rows]
    counts, drawn = seat.gather([np.array([rows.size])])[0], _gather_rows(X[rows], seat)
    exact, squares = _products(system, drawn, np.hstack([B, Z]))
    exact, squares = seat.sum(exact), seat.sum(squares)
    begin = int(counts[: seat.part].sum())
    own = slice(begin, begin + rows.size)
    residual = exact[own] - approximate

    on_even = (residual[:n_own, :COLUMNS] ** 2).sum() / COLUMNS, squares[own][:n_own].sum()
    difference, total = seat.sum(np.array(on_even) * n / n_own)
    weighted = residual[n_own:, COLUMNS:] * Z[heavy] * (size.sum() / size[heavy])[:, None]
    form = seat.sum(weighted.sum(axis=0) / n_own)
    return (math.sqrt(difference / total) if total > 0 else 0.0), form


def _gather_rows(X: Rows, seat: Seat) -> Rows:
    """Rows of all parts, one part after the other."""
    if not scipy.sparse.issparse(X):
        return seat.gather([X])[0]
    counts, indices, data = seat.gather([np.diff(X.indptr), X.indices, X.data])
    indptr = np.concatenate([[0], np.cumsum(counts)])
    return scipy.sparse.csr_array((data, indices, indptr), (counts.size, X.shape[1]))


def _products(
    system: HSSSystem, rows: Rows, B: Floats
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """``k(rows, X) B`` and the sums of squares of the rows of ``k(rows, X)``, X of the part."""
    matrix = system.matrix
    product, squares = np.zeros((rows.shape[0], B.shape[1])), np.zeros(rows.shape[0])
    step = max(1, AT_ONCE // rows.shape[0])
    for begin in range(0, system.n, step):
        some = slice(begin, begin + step)
        block = matrix.kernel.block(rows, matrix.X[some])
        product += block @ B[some]
        squares += np.einsum("ij,ij->i", block, block, dtype=np.float64)
    return product, squares
