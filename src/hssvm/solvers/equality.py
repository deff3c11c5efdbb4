"""The constraint ``sum z = total`` in the two steps of ADMM.

x-step: with ``w = (K + diag(beta))^-1 1`` the constrained minimiser is
``x - w (sum x - total) / sum w``; and as x solves ``(K + diag(beta)) x = b``, its sum is ``w'b``.

z-step: the minimiser of ``h(z) + 1/2 |z - v|^2_beta`` with the constraint is
``prox(v - tau / beta)`` for the tau that makes the sum right. The sum falls as tau grows, and is
piecewise linear: Newton's method inside a bracket finds tau. The last tau is a good start for the
next.

The paper has the constraint in the x-step only. In both it takes a third fewer iterations, and
every z is feasible, so that its dual value is a bound.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from hssvm.kernels.base import Floats
from hssvm.problems.base import Problem

MAX_STEPS = 100


def row_chunks(n: int, k: int) -> Iterator[slice]:
    """Slices of the rows of (n, k) arrays that stay in the cache through several operations."""
    step = max(1, 2**15 // k)
    for begin in range(0, n, step):
        yield slice(begin, min(begin + step, n))


def constrain_x(
    X: Floats, sum_x: NDArray[np.float64], w: Floats, sum_w: float, total: NDArray[np.float64]
) -> Floats:
    """Put the columns of X, with sums (k,), on ``sum x = total``, in place; w is (n,)."""
    excess = ((sum_x - total) / sum_w).astype(X.dtype)
    for rows in row_chunks(*X.shape):
        X[rows] -= w[rows, None] * excess
    return X


def constrained_prox(
    problem: Problem, V: Floats, beta: Floats, tau: NDArray[np.float64], *, exactly: bool
) -> tuple[Floats, NDArray[np.float64]]:
    """Minimise ``h(z) + 1/2 |z - v|^2_beta`` subject to ``sum z = total``.

    Parameters
    ----------
    V : (n, k)
    beta : (n,)
    tau : (k,)
        Where to start.
    exactly : bool
        Whether the sum must be right to rounding, or to 1e-4 of sum |z|.

    Returns
    -------
    Z : (n, k)
    tau : (k,)
    """
    low, high = np.full(problem.k, -np.inf), np.full(problem.k, np.inf)
    step = np.ones(problem.k)
    enough = 8 * float(np.finfo(problem.dtype).eps) if exactly else 1e-4
    for _ in range(MAX_STEPS):
        Z, sums = problem.prox(V, beta, tau)
        excess = sums.total - problem.total
        done = np.abs(excess) <= enough * sums.size
        if done.all():
            break
        low, high = np.where(excess > 0, tau, low), np.where(excess > 0, high, tau)
        with np.errstate(divide="ignore", invalid="ignore"):
            newton = tau + excess / sums.slope
        both = np.isfinite(low) & np.isfinite(high)
        fallback = np.where(both, (low + high) / 2, tau + np.sign(excess) * step)
        step *= 4
        moved = np.where((newton > low) & (newton < high), newton, fallback)
        tau = np.where(done, tau, moved)
    return Z, tau
