"""The constraint ``sum z = r`` in the two steps of ADMM; r is the `equality_rhs`.

x-step: with ``w = (K + diag(beta))^-1 1`` the constrained minimizer is
``x - w (sum x - r) / sum w``; and as x solves ``(K + diag(beta)) x = b``, its sum is ``w'b``.

z-step: the constrained minimizer of ``h(z) + 1/2 |z - v|^2_beta`` is ``prox(v - tau / beta)`` for
the tau that gives the required sum. The sum is piecewise linear and nonincreasing in tau, so a
safeguarded Newton method finds tau, starting from its previous value.

The paper enforces the constraint in the x-step only. Enforcing it in both steps saves a third of
the iterations, and makes every z feasible, so that its dual value is a bound.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from hssvm.kernels.base import Floats
from hssvm.problems.base import Problem

MAX_NEWTON_STEPS = 100


def row_chunks(n: int, k: int) -> Iterator[slice]:
    """Slices of the rows of (n, k) arrays that stay in the cache through several operations."""
    step = max(1, 2**15 // k)
    for begin in range(0, n, step):
        yield slice(begin, min(begin + step, n))


def constrain_x(
    X: Floats, sum_x: NDArray[np.float64], w: Floats, sum_w: float, rhs: NDArray[np.float64]
) -> Floats:
    """Project the columns of X, whose sums are `sum_x`, onto ``sum x = rhs``, in place."""
    excess = ((sum_x - rhs) / sum_w).astype(X.dtype)
    for rows in row_chunks(*X.shape):
        X[rows] -= w[rows, None] * excess
    return X


def constrained_prox(
    problem: Problem, V: Floats, beta: Floats, tau: NDArray[np.float64], *, exactly: bool
) -> tuple[Floats, NDArray[np.float64]]:
    """Minimize ``h(z) + 1/2 |z - v|^2_beta`` subject to ``sum z = equality_rhs``.

    Parameters
    ----------
    V : (n, k)
    beta : (n,)
    tau : (k,)
        Initial value.
    exactly : bool
        Whether the sum must be accurate to rounding error, or only to 1e-4 of sum |z|.

    Returns
    -------
    Z : (n, k)
    tau : (k,)
    """
    low, high = np.full(problem.k, -np.inf), np.full(problem.k, np.inf)
    step = np.ones(problem.k)
    enough = 8 * float(np.finfo(problem.dtype).eps) if exactly else 1e-4
    for _ in range(MAX_NEWTON_STEPS):
        Z, sums = problem.prox(V, beta, tau)
        excess = sums.z - problem.equality_rhs
        done = np.abs(excess) <= enough * sums.abs_z
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


def nearest_feasible(problem: Problem, Z: Floats, beta: Floats) -> Floats:
    """Return the feasible point nearest to Z, (n, k), in the norm of the weights beta, (n,)."""
    for _ in range(2):  # from far outside the box, tau has too few digits; from inside, enough
        # The added term cancels the shrinkage of the prox, which moves only infeasible entries.
        V = Z + (problem.l1_weight * np.sign(Z) / beta[:, None]).astype(Z.dtype)
        Z, _ = constrained_prox(problem, V, beta, np.zeros(problem.k), exactly=True)
    return Z
