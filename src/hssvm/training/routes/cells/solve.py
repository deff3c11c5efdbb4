"""Solution of a problem within the cells of a tree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hssvm.hss import ClusterTree
from hssvm.kernels.base import Floats, Kernel, Rows
from hssvm.problems import CellProblems, Problem
from hssvm.problems.base import Objective
from hssvm.solvers import Solution, Status
from hssvm.training.plan import FOLD_TOL_FACTOR, TrainingPlan
from hssvm.training.reports.monitor import Monitor
from hssvm.training.routes.exact.parts import solve_parts
from hssvm.training.routes.exact.solver import ExactSolver


@dataclass(frozen=True, eq=False)
class SolvedCells:
    """The solutions of all cells of a tree.

    Attributes
    ----------
    solution : Solution
        Coefficients (n, k), and the objective values of each column, summed over the cells. The
        intercepts are 0, as the cells have their own.
    constants : (n_cells, k)
        Intercepts of the cells.
    decisions : (n, k) or (0, k)
        Decision values of the training rows, if there are folds.
    """

    solution: Solution
    constants: Floats
    decisions: Floats


def solve_cells(
    problem: Problem,
    kernel: Kernel,
    X: Rows,
    tree: ClusterTree,
    plan: TrainingPlan,
    monitor: Monitor,
) -> SolvedCells:
    """Solve a problem within the leaves of a tree; the last columns leave out a fold."""
    offsets, k = tree.offsets(tree.depth), problem.k
    all_rows = k // (1 + plan.n_folds)
    tol_factors = np.repeat([1.0, FOLD_TOL_FACTOR], [all_rows, k - all_rows])
    cells = CellProblems(problem, tree.perm, offsets, tol_factors)
    solver = ExactSolver(
        kernel, plan.tol, plan.cache(X, k), plan.max_work, max_iter=plan.max_iter or np.inf
    )
    solved = solve_parts(cells, X, solver, monitor, with_F=plan.n_folds > 0)
    constants = solved.intercept.reshape(-1, k).astype(problem.dtype)
    if plan.n_folds:
        solved.F[tree.perm] += np.repeat(constants, np.diff(offsets), axis=0)
    return SolvedCells(_summed(solved, k, plan.tol), constants, solved.F)


def _summed(solved: Solution, k: int, tol: float) -> Solution:
    """Return the solution with objective values that are summed over the cells."""
    total = Solution.empty(np.zeros((0, k), solved.Z.dtype))
    total.Z = solved.Z
    total.primal, total.dual = (
        values.reshape(-1, k).sum(axis=0) for values in (solved.primal, solved.dual)
    )
    total.gap = Objective(total.primal, total.dual, total.intercept, np.zeros(k)).gap
    total.n_iter = solved.n_iter.reshape(-1, k).max(axis=0)
    total.n_rounds = solved.n_rounds.reshape(-1, k).max(axis=0)
    total.status = [_status(solved.status[j::k], total.gap[j] <= tol) for j in range(k)]
    return total


def _status(statuses: list[Status], converged: bool) -> Status:
    """Return the status of a column from the statuses of its cells."""
    others = [status for status in statuses if status is not Status.CONVERGED]
    for status in others:
        if status in (Status.STOPPED, Status.MAX_TIME):
            return status
    return Status.CONVERGED if converged or not others else others[0]
