"""SMO on all rows, for problems of one column and few rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hssvm.kernels.base import Floats, Kernel, Rows
from hssvm.problems.base import Problem
from hssvm.solvers.solution import Solution, Status
from hssvm.solvers.working_kernel import PER_STEP

CALL_WORK = 0.3
"""Nominal seconds between two tests for Ctrl-C and max_time."""


def solve_small(
    problem: Problem,
    kernel: Kernel,
    X: Rows,
    Z: Floats,
    tol: float,
    stop: Callable[[], Status | None],
    max_work: float = np.inf,
) -> Solution:
    """Solve a problem of one column by sequential minimal optimization.

    Parameters
    ----------
    problem : Problem
    kernel : Kernel
    X : (n, p) array or CSR matrix
    Z : (n, 1)
        Feasible start.
    tol : float
        Relative duality gap.
    stop : callable
        Returns a status to stop early.
    max_work : float
        See `WorkingSet`.

    Returns
    -------
    Solution
        `n_iter` counts calls into the core.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.kernels import Gaussian
    >>> from hssvm.problems import SVCProblem
    >>> from hssvm.solvers import solve_small
    >>> X = np.random.default_rng(0).standard_normal((300, 2))
    >>> problem = SVCProblem(np.where(X[:, :1] * X[:, 1:] > 0, 10.0, -10.0))
    >>> start = np.zeros((300, 1))
    >>> solution = solve_small(problem, Gaussian(1.0), X, start, 1e-6, lambda: None)
    >>> bool(solution.gap[0] < 1e-6)
    True
    """
    n, column = problem.n, np.arange(1)
    lower, upper = (np.ascontiguousarray(side[:, 0]) for side in problem.box(np.arange(n)))
    linear, l1_weight = np.ascontiguousarray(problem.linear[:, 0]), float(problem.l1_weight[0])
    z, F = Z[:, 0].copy(), np.zeros(n)
    solution, work = Solution.empty(Z), 0.0
    per_step = PER_STEP * z.itemsize / 4 * n
    max_steps = 1 + int(CALL_WORK / per_step)
    while True:
        steps, _ = kernel.solve_small(X, linear, lower, upper, l1_weight, z, F, tol, max_steps)
        solution.update(column, z[:, None], F[:, None], problem.evaluate(z[:, None], F[:, None]))
        solution.n_iter += 1
        work += per_step * steps
        if solution.gap[0] <= tol:
            answer: Status | None = Status.CONVERGED
        elif steps < max_steps:
            answer = Status.stalled(z.dtype)
        else:
            answer = Status.MAX_WORK if work > max_work else stop()
        if answer is not None:
            solution.end(column, answer)
            return solution
