"""Active-set steps: the problem as an equation on its free variables.

If it is known which z are at a bound, the others solve a linear system::

    K_FF z_F + K_FB z_B - linear_F + kink sign(z_F) + b = 0,    sum z = total,

which is a solve with ``K + diag(beta)`` for a beta that is tiny on F and huge on B. The guess of F
comes from ``t = z - (K z + b - linear) / scale``: rows where prox(t) is inside. Repeated, this is a
semismooth Newton method: near the solution a few steps are exact, far from it they may fail. So a
step is kept only if the duality gap falls, and the first that does not ends the polish.
"""

from __future__ import annotations

import numpy as np

from hssvm.kernels.base import Floats
from hssvm.problems.base import Problem
from hssvm.solvers.equality import constrained_prox
from hssvm.solvers.iterate import Iterate, Penalised
from hssvm.solvers.solution import Solution
from hssvm.systems.base import System

MAX_STEPS = 20


def polish(problem: Problem, system: System, solution: Solution) -> None:
    """Improve the columns of `solution` in place, one after the other; a factor per step.

    Parameters
    ----------
    problem : Problem
    system : System
        Of the same K, with any shift.
    solution : Solution
        With the gap of a feasible Z, as `ADMM.solve` returns it.
    """
    for j in range(problem.k):
        column, index = problem.columns(np.array([j])), np.array([j])
        for _ in range(MAX_STEPS):
            before = solution.gap[j]
            point = solution.Z[:, index], solution.F[:, index], float(solution.intercept[j])
            try:
                Z, F = active_set_step(column, system, *point)
            except RuntimeError:  # not positive definite to working precision
                break
            solution.update(index, Z, F, column.evaluate(Z, F))
            solution.n_factors += 1
            if not solution.gap[j] < 0.5 * before:
                break


def active_set_step(
    problem: Problem, system: System, Z: Floats, F: Floats, intercept: float
) -> tuple[Floats, Floats]:
    """One step for one column: Z and F are (n, 1); returns the new pair."""
    eps = float(np.finfo(problem.dtype).eps)
    scale = np.full(problem.n, system.shift, problem.dtype)
    gradient = F + problem.dtype.type(intercept) - problem.linear
    Z, _ = problem.prox(Z - gradient / scale[:, None], scale, np.zeros(1))
    free = problem.free(Z)[:, 0]
    # sqrt(eps) and its inverse: the error of either end is eps of the other.
    beta = np.where(free, np.sqrt(eps), 1 / np.sqrt(eps)).astype(problem.dtype) * scale
    fixed = Penalised.of(system.with_shift(beta), problem.parts)
    slope = (problem.kink * np.sign(Z)).astype(problem.dtype)
    X = Iterate(np.arange(1), problem, Z, slope, np.zeros(1)).x_step(fixed)
    Z, _ = constrained_prox(problem, X, scale, np.zeros(1), exactly=True)
    return Z, system.matmul(Z)  # that of `fixed` would lose digits to its huge shift
