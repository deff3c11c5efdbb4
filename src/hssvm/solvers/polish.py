"""Active-set steps: the problem as a linear system in its free variables.

If the set B of variables at a bound is known, the free variables F solve a linear system::

    (K_FF + diag(ridge)) z_F + K_FB z_B - linear_F + l1_weight sign(z_F) + b = 0,    sum z = r.

F is estimated from ``t = z - (K z + b - linear) / scale``: the rows where prox(t) is inside the
box. Repeated steps are a semismooth Newton method: near the solution a few of them are exact, far
from it they may fail. So a step is kept only if it reduces the duality gap; the first step that
fails to do so ends the polish.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from hssvm._threads import with_serial_blas
from hssvm.kernels.base import CoreKernel, Floats
from hssvm.kernels.lazy import LazyKernelMatrix
from hssvm.problems.base import Problem
from hssvm.solvers.equality import nearest_feasible
from hssvm.solvers.penalty import initial_beta
from hssvm.solvers.solution import Solution, Status

MAX_ACTIVE_SET_STEPS = 20

SHIFT = 1e-10
"""Shift of the diagonal of K_FF, relative to its mean: rows may be duplicates."""

MAX_FREE_ROWS, FREE_BYTES = 3000, 2 * 8
"""Most free rows of a column that rounding has stopped, and the memory of a step divided by the
square of their number."""


@with_serial_blas
def polish_rounded(
    problem: Problem, kernel_matrix: LazyKernelMatrix, solution: Solution, tol: float, memory: float
) -> None:
    """Improve the columns that rounding in float32 has stopped, by active-set steps in float64.

    Coefficients in float32 are large in regressions where nearly all rows are free. User-defined
    kernels are too slow for these steps.

    Parameters
    ----------
    problem : Problem
        Of one rank.
    kernel_matrix : LazyKernelMatrix
    solution : Solution
        Improved in place.
    tol : float
        Relative duality gap at which a column has converged.
    memory : float
        Bytes for the matrix of the free rows.
    """
    most = min(MAX_FREE_ROWS, int((memory / FREE_BYTES) ** 0.5))
    n_free = problem.free(solution.Z).sum(axis=0)
    rounded = np.array([status is Status.PRECISION for status in solution.status]) & (
        n_free <= most
    )
    if rounded.any() and isinstance(kernel_matrix.kernel, CoreKernel):
        index = np.flatnonzero(rounded)
        part = solution.columns(index)
        polish(problem.columns(index), kernel_matrix, part)
        part.accept(tol)
        solution.improve(index, part)


def polish(
    problem: Problem,
    kernel_matrix: LazyKernelMatrix,
    solution: Solution,
    max_iter: float = np.inf,
) -> None:
    """Improve the columns of `solution` in place, one by one.

    Parameters
    ----------
    problem : Problem
    kernel_matrix : LazyKernelMatrix
    solution : Solution
        A feasible point with its gap. Its `n_iter` increases by the number of steps.
    max_iter : float
        Maximum `n_iter` of a column.
    """
    scale = initial_beta(problem, kernel_matrix.mean_diagonal())
    for j in range(problem.k):
        column, index = problem.columns(np.array([j])), np.array([j])
        for _ in range(int(min(MAX_ACTIVE_SET_STEPS, max_iter - solution.n_iter[j]))):
            solution.n_iter[j] += 1
            before = solution.gap[j]
            point = solution.Z[:, index], solution.F[:, index], float(solution.intercept[j])
            try:
                Z, F = active_set_step(column, kernel_matrix, scale, *point)
            except np.linalg.LinAlgError:  # not positive definite to working precision
                break
            solution.update(index, Z, F, column.evaluate(Z, F))
            if not 0 < solution.gap[j] < 0.5 * before:  # below 0 are only rounding errors
                break


def active_set_step(
    problem: Problem,
    kernel_matrix: LazyKernelMatrix,
    scale: float,
    Z: Floats,
    F: Floats,
    intercept: float,
) -> tuple[Floats, Floats]:
    """Make one step for one column; Z and F are (n, 1). Return the new Z and F."""
    scales = np.full(problem.n, scale, problem.dtype)
    gradient = F + problem.dtype.type(intercept) - problem.linear
    start, _ = problem.prox(Z - gradient / scales[:, None], scales, np.zeros(1))
    free = np.flatnonzero(problem.free(start)[:, 0])
    stays = free[problem.free(Z)[free, 0]]
    start[stays] = Z[stays]
    moved = np.flatnonzero(start != Z)
    if free.size:
        residual = -gradient[free].astype(np.float64) - problem.l1_weight * np.sign(start[free])
        residual -= kernel_matrix.product(free, moved, start[moved] - Z[moved])
        K = kernel_matrix.kernel.block(kernel_matrix.X[free].astype(np.float64))
        if problem.ridge is not None:
            residual -= problem.ridge[free, None] * start[free]
            K[np.diag_indices(free.size)] += problem.ridge[free]
        excess = start.sum(dtype=np.float64) - problem.equality_rhs[0]
        start[free, 0] += solve_with_sum(K, residual[:, 0], -excess).astype(problem.dtype)
    Z = nearest_feasible(problem, start, scales)
    support = np.flatnonzero(Z[:, 0])
    return Z, kernel_matrix.product_in_float64(np.arange(Z.shape[0]), support, Z[support])


def solve_with_sum(K: Floats, rhs: Floats, total: float) -> Floats:
    """Solve ``K d + b = rhs`` for d and b with ``sum d = total``; K, (m, m), is overwritten."""
    K[np.diag_indices(rhs.size)] += SHIFT * K.diagonal().mean()
    factor = scipy.linalg.cho_factor(K, lower=True, overwrite_a=True)
    d, unit = scipy.linalg.cho_solve(factor, np.stack([rhs, np.ones_like(rhs)], axis=1)).T
    solution: Floats = d - unit * ((d.sum() - total) / unit.sum())
    return solution
