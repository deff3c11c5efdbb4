"""Solutions on the exact kernel to the tolerance of LIBSVM.

The solvers of hssvm stop at a duality gap, LIBSVM at a violation of the optimality conditions. So
the gap is lowered until the violation, too, is small enough. That costs little: the solvers
converge fast at the end.
"""

from __future__ import annotations

import numpy as np

from hssvm import costs
from hssvm.kernels.base import Floats, Kernel, Rows
from hssvm.problems import PairsProblem, Problem
from hssvm.solvers import Solution, Status
from hssvm.solvers.optimality import violations
from hssvm.training import FitReport, Monitor, TrainingConfig, plan_problem, train
from hssvm.training.config import START_ROWS
from hssvm.training.plan import DEFAULT_MEMORY
from hssvm.training.routes.exact.parts import in_whole_problem, solve_parts
from hssvm.training.routes.exact.solver import ExactSolver

GAP = 1e-2
"""First goal of the relative gap, divided by the tolerance of the violation."""

ATTEMPTS = 5
"""Number of goals of the gap that are tried."""

BOUND_ROUNDING = 1e-12
"""Distance to a bound, or to 0, that is a rounding error, relative to the bound."""


class UnsolvedError(RuntimeError):
    """hssvm does not solve a problem, or not to the tolerance of LIBSVM; the message says why."""


def solve_exactly(
    problem: Problem, kernel: Kernel, X: Rows, tol: float, start: Floats | None = None
) -> Solution:
    """Solve a problem of one column until no pair of rows violates optimality by more than `tol`.

    Parameters
    ----------
    problem : Problem
    kernel : Kernel
    X : (n, p) array or CSR matrix
    tol : float
        As in LIBSVM.
    start : (n, 1), optional
        Initial coefficients; they need not be feasible.

    Raises
    ------
    UnsolvedError
        If the solver does not converge.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.dropin.exact import max_violation, solve_exactly
    >>> from hssvm.kernels import Gaussian
    >>> from hssvm.problems import SVCProblem
    >>> X = np.random.default_rng(0).standard_normal((300, 2))
    >>> problem = SVCProblem(np.where(X[:, :1] > 0, 1.0, -1.0))
    >>> solution = solve_exactly(problem, Gaussian(1.0), X, 1e-3)
    >>> max_violation(problem, solution.Z, solution.F) <= 1e-3
    True
    """
    gap, zero = GAP * tol, np.zeros((problem.n, 1), problem.dtype)
    if not problem.equality_rhs.any() and max_violation(problem, zero, zero) <= tol:
        return Solution.at(problem, zero, zero)
    if start is None and problem.n > START_ROWS:
        start = _compressed_start(problem, kernel, X, gap)
    Z: Floats = zero if start is None else start
    n_iter = 0
    for _ in range(ATTEMPTS):
        solution = _solver(kernel, gap, problem.n).solve(problem, X, Z, Monitor())
        snap(problem, solution.Z)
        n_iter += int(solution.n_iter[0])
        solution.n_iter[0] = n_iter
        violation = max_violation(problem, solution.Z, solution.F)
        if violation <= tol:
            return solution
        if solution.status[0] is not Status.CONVERGED:
            break
        Z, gap = solution.Z, gap * min(0.1, tol / violation)
    raise UnsolvedError(f"hssvm did not reach tol={tol:g}; scale the features or y, or raise tol")


def solve_pairs_exactly(problem: PairsProblem, kernel: Kernel, X: Rows, tol: float) -> Solution:
    """Solve every pair of classes as `solve_exactly` does; the solution is packed."""
    if problem.n_classes == 2:  # only there, a start on the compressed kernel may pay off
        return _solve_single_pair(problem, kernel, X, tol)
    solver = _solver(kernel, GAP * tol, problem.n)
    solution = solve_parts(problem, X, solver, Monitor(), with_F=True)
    for index, pair in enumerate(problem.parts()):
        z, F = pair.pick(solution.Z), pair.pick(solution.F)
        snap(pair.problem, z)
        pair.put(z, solution.Z)
        if max_violation(pair.problem, z, F) > tol:
            solved = solve_exactly(pair.problem, kernel, pair.take(X), tol, z)
            pair.put(solved.Z, solution.Z)
            pair.put(solved.F, solution.F)
            solution.n_iter[index] += solved.n_iter[0]
    return solution


def max_violation(problem: Problem, Z: Floats, F: Floats) -> float:
    """Violation of the maximal violating pair of a single column, at ``F = K Z``."""
    rows = np.arange(problem.n)
    return float(violations(problem, rows, Z, F - problem.linear)[1][0])


def _solver(kernel: Kernel, gap: float, n_rows: int) -> ExactSolver:
    work = costs.DROPIN_BUDGET + costs.DROPIN_BUDGET_PER_SQUARE * n_rows**2
    return ExactSolver(kernel, gap, DEFAULT_MEMORY, work, active_set=False)


def snap(problem: Problem, Z: Floats) -> None:
    """Set coefficients to the bound, or to 0, that they miss by a rounding error, in place."""
    for end in (*problem.box(np.arange(problem.n)), 0.0):
        near = np.abs(Z - end) <= BOUND_ROUNDING * problem.reach
        Z[near] = np.broadcast_to(end, Z.shape)[near]


def _compressed_start(problem: Problem, kernel: Kernel, X: Rows, gap: float) -> Floats:
    """Solve on the exact kernel, from a start on the compressed kernel where that pays off."""
    config = TrainingConfig(tol=10 * gap, refine=True, limit_work=False)
    plan = plan_problem(config, problem, kernel, X)
    return train(problem, kernel, X, plan, FitReport(), Monitor()).Z


def _solve_single_pair(problem: PairsProblem, kernel: Kernel, X: Rows, tol: float) -> Solution:
    pair = problem.part(0)
    solution = solve_exactly(pair.problem, kernel, pair.take(X), tol)
    return in_whole_problem(solution, pair, problem)
