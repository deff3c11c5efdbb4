"""Active-set steps: the problem as a linear system in its free variables.

If the set B of variables at a bound is known, the free variables F solve a linear system::

    K_FF z_F + K_FB z_B - linear_F + l1_weight sign(z_F) + b = 0,    sum z = r,

which is a solve with ``K + diag(beta)`` for a beta that is tiny on F and huge on B. F is estimated
from ``t = z - (K z + b - linear) / scale``: the rows where prox(t) is inside the box. Repeated
steps are a semismooth Newton method: near the solution a few of them are exact, far from it they
may fail. So a step is kept only if it reduces the duality gap, and the first one that does not ends
the polish.
"""

from __future__ import annotations

import numpy as np

from hssvm.kernels.base import Floats
from hssvm.operators.base import Operator
from hssvm.problems.base import Problem
from hssvm.solvers.equality import nearest_feasible
from hssvm.solvers.iterate import ADMMFactor, Iterate
from hssvm.solvers.penalty import initial_beta
from hssvm.solvers.solution import Solution

MAX_STEPS = 20


def polish(problem: Problem, operator: Operator, solution: Solution) -> None:
    """Improve the columns of `solution` in place, one by one; every step makes a factor.

    Parameters
    ----------
    problem : Problem
    operator : Operator
    solution : Solution
        A feasible point with its gap, as returned by `ADMM.solve`.
    """
    scale = initial_beta(problem, operator.mean_diagonal())
    for j in range(problem.k):
        column, index = problem.columns(np.array([j])), np.array([j])
        for _ in range(MAX_STEPS):
            before = solution.gap[j]
            point = solution.Z[:, index], solution.F[:, index], float(solution.intercept[j])
            try:
                Z, F = active_set_step(column, operator, scale, *point)
            except RuntimeError:  # not positive definite to working precision
                break
            solution.update(index, Z, F, column.evaluate(Z, F))
            solution.n_factors += 1
            if not solution.gap[j] < 0.5 * before:
                break


def active_set_step(
    problem: Problem, operator: Operator, scale: float, Z: Floats, F: Floats, intercept: float
) -> tuple[Floats, Floats]:
    """Make one step for one column; Z and F are (n, 1). Return the new Z and F."""
    eps = float(np.finfo(problem.dtype).eps)
    scales = np.full(problem.n, scale, problem.dtype)
    gradient = F + problem.dtype.type(intercept) - problem.linear
    Z, _ = problem.prox(Z - gradient / scales[:, None], scales, np.zeros(1))
    free = problem.free(Z)[:, 0]
    # The ratio of the weights is 1 / eps: each limit is then exact to rounding error.
    beta = np.where(free, np.sqrt(eps), 1 / np.sqrt(eps)).astype(problem.dtype) * scales
    fixed = ADMMFactor.make(operator, beta, problem.communicator)
    slope = (problem.l1_weight * np.sign(Z)).astype(problem.dtype)
    X = Iterate(np.arange(1), problem, Z, slope, np.zeros(1)).x_step(fixed)
    del fixed  # products from a factor with a huge shift lose digits
    Z = nearest_feasible(problem, X, scales)
    return Z, operator.matmul(Z)
