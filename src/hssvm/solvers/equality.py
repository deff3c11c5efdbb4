"""The constraint ``sum z = r`` in the two steps of ADMM; r is the `equality_rhs`.

x-step: with ``w = (K + diag(beta))^-1 1`` the constrained minimizer is
``x - w (sum x - r) / sum w``; and as x solves ``(K + diag(beta)) x = b``, its sum is ``w'b``.

z-step: the constrained minimizer of ``h(z) + 1/2 |z - v|^2_beta`` is ``prox(v - tau / beta)`` for
the tau that gives the required sum. `hssvm.problems.shift` finds it from its previous value.

The paper enforces the constraint in the x-step only. Enforcing it in both steps saves a third of
the iterations, and makes every z feasible, so that its dual value is a bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from hssvm.kernels.base import Floats
from hssvm.problems.base import Problem
from hssvm.problems.shift import find_shift


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
    enough = 8 * float(np.finfo(problem.dtype).eps) if exactly else 1e-4
    return find_shift(partial(problem.prox, V, beta), problem.equality_rhs, tau, enough)


def nearest_feasible(problem: Problem, Z: Floats, beta: Floats) -> Floats:
    """Return the feasible point nearest to Z, (n, k), in the norm of the weights beta, (n,)."""
    for _ in range(2):  # from far outside the box, tau has too few digits; from inside, enough
        V = problem.prox_start(Z, beta)  # so that the prox moves only infeasible entries
        Z, _ = constrained_prox(problem, V, beta, np.zeros(problem.k), exactly=True)
    return Z
