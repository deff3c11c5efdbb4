"""SMO on all rows, for problems with few rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import scipy.sparse

from hssvm import _core
from hssvm.kernels.base import CoreKernel, Kernel, Rows, as_rows, core_rows
from hssvm.problems.base import Problem
from hssvm.progress import Gap, emit
from hssvm.solvers.solution import Solution, Status, Stop
from hssvm.solvers.working_kernel import step_work

CALL_WORK = 0.3
"""Nominal seconds between two checks of the gap."""


def solve_small(
    problem: Problem,
    kernel: Kernel,
    X: Rows,
    solution: Solution,
    tol: float,
    max_work: float = np.inf,
    stop: Stop | None = None,
    max_iter: float = np.inf,
) -> None:
    """Solve all columns of a problem by sequential minimal optimization, one after the other.

    Parameters
    ----------
    problem : Problem
    kernel : Kernel
    X : (n, p) array or CSR matrix
    solution : Solution
        A feasible point, which is improved in place. Its `n_iter` increases by the number of steps.
    tol : float
        Relative duality gap.
    max_work, stop
        See `WorkingSet`.
    max_iter : float
        Maximum `n_iter` of a column.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.kernels import Gaussian
    >>> from hssvm.problems import SVCProblem
    >>> from hssvm.solvers import Solution, solve_small
    >>> X = np.random.default_rng(0).standard_normal((300, 2))
    >>> problem = SVCProblem(np.where(X[:, :1] * X[:, 1:] > 0, 10.0, -10.0))
    >>> solution = Solution.empty(np.zeros((300, 1)))
    >>> solve_small(problem, Gaussian(1.0), X, solution, 1e-6)
    >>> bool(solution.gap[0] < 1e-6)
    True
    """
    per_step = float(step_work(np.array(problem.n), problem.dtype))
    call_steps = 1 + int(min(CALL_WORK, max_work) / per_step)
    work, solve = 0.0, small_solver(kernel, X)
    for j in np.flatnonzero(solution.gap > tol):
        column, index = problem.columns(np.array([j])), np.array([j])
        lower, upper = (np.ascontiguousarray(side) for side in column.box(np.arange(problem.n)))
        z, F = solution.Z[:, index], np.zeros((problem.n, 1))
        status: Status | None = None
        while status is None:
            max_steps = int(min(call_steps, max_iter - solution.n_iter[j]))
            steps, _ = solve(
                column.linear[:, 0], lower[:, 0], upper[:, 0], float(column.l1_weight[0]),
                z[:, 0], F[:, 0], tol, max_steps, stop, column.ridge,
            )  # fmt: skip
            work += per_step * steps
            solution.update(index, z, F, column.evaluate(z, F))
            solution.n_iter[j] += steps
            solution.n_rounds[j] += 1
            n_rounds, gap = int(solution.n_rounds.sum()), float(solution.gap[j])
            solution.remember(n_rounds)
            emit(Gap(n_rounds, gap), "%d steps: gap %.1e", steps, gap)
            answer = stop and stop()
            if gap <= tol:
                status = Status.CONVERGED
            elif answer:
                status = answer if isinstance(answer, Status) else Status.STOPPED
            elif steps < max_steps:
                status = Status.stalled(problem.dtype)
            elif solution.n_iter[j] >= max_iter:
                status = Status.MAX_ITER
            elif work > max_work:
                status = Status.MAX_WORK
        solution.status[j] = status


def small_solver(kernel: Kernel, X: Rows) -> Callable[..., tuple[int, float]]:
    """Return ``_core.solve_small`` for the kernel matrix of `X`.

    The returned function accepts the arguments after the kernel matrix, and returns the number of
    steps and the gap. If the core can, it computes only the rows of the kernel that it needs, and
    keeps them for the next call.
    """
    if isinstance(kernel, CoreKernel) and not scipy.sparse.issparse(X):
        return partial(
            _core.solve_small, _core.SmallKernelMatrix(kernel.core, core_rows(as_rows(X)))
        )
    return partial(_core.solve_small, kernel.block(X))
