"""Solution of a problem within the cells of a tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hssvm.hss import ClusterTree
from hssvm.kernels.base import Floats, Kernel, Rows
from hssvm.predictors import LeafExpansions
from hssvm.problems import CellProblems, Problem
from hssvm.problems.objective import Objective
from hssvm.solvers import Solution, Status
from hssvm.training.out_of_fold import decisions_without_fold
from hssvm.training.plan import FOLD_TOL_FACTOR, TrainingPlan
from hssvm.training.reports.monitor import Monitor
from hssvm.training.routes.exact.parts import solve_parts
from hssvm.training.routes.exact.solver import ExactSolver


@dataclass(frozen=True, eq=False)
class SolvedCells:
    """The solutions of all cells of a tree.

    Attributes
    ----------
    tree : ClusterTree
    solution : Solution
        Coefficients (n, k), where the last columns may leave out a fold. The other arrays have k
        entries for every cell.
    decisions : (n, k) or (0, k)
        Decision values of the training rows, if there are folds.
    """

    tree: ClusterTree
    solution: Solution
    decisions: Floats

    def expansions(self, k: int) -> LeafExpansions:
        """Return the kernel expansions of the first k columns."""
        Z = self.solution.Z
        constants = self.solution.intercept.reshape(-1, Z.shape[1])[:, :k].astype(Z.dtype)
        return LeafExpansions.of_cells(self.tree, Z[:, :k], constants)

    def first_columns(self, k: int) -> Solution:
        """Return the solutions of the first k columns on all cells."""
        cells, width = self.solution, self.solution.Z.shape[1]
        index = (width * np.arange(self.tree.n_leaves)[:, None] + np.arange(k)).ravel()
        own = Solution.empty(np.zeros((0, index.size), cells.Z.dtype))
        own.Z, own.status = cells.Z[:, :k], [cells.status[j] for j in index]
        for name in ("primal", "dual", "intercept", "gap", "n_iter", "n_rounds"):
            setattr(own, name, getattr(cells, name)[index])
        return own

    def out_of_fold(self, fold: NDArray[np.int64], k: int, clip: float) -> Floats | None:
        """Clipped decision values (n, k) without the fold of each row; None if not complete."""
        if self.solution.stopped is not None:
            return None
        values = np.clip(self.decisions[:, k:], -clip, clip)
        return decisions_without_fold(values, np.zeros(values.shape[1]), fold, k)


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
    if plan.n_folds:
        constants = solved.intercept.reshape(-1, k).astype(problem.dtype)
        solved.F[tree.perm] += np.repeat(constants, np.diff(offsets), axis=0)
    return SolvedCells(tree, solved, solved.F)


def total_of(cells: Sequence[Solution], Z: Floats, tol: float) -> Solution:
    """Return a solution with objective values that are summed over all cells.

    Parameters
    ----------
    cells : sequence of Solution
        The solutions on the cells of a tree, or of several subtrees.
    Z : (n, k)
        Coefficients of the result. Its intercepts are 0, as the cells have their own.
    tol : float
    """
    k = Z.shape[1]
    primal, dual, n_iter, n_rounds = (
        np.concatenate([getattr(one, name) for one in cells]).reshape(-1, k)
        for name in ("primal", "dual", "n_iter", "n_rounds")
    )
    statuses = [status for one in cells for status in one.status]
    total = Solution.empty(np.zeros((0, k), Z.dtype))
    total.Z, total.primal, total.dual = Z, primal.sum(axis=0), dual.sum(axis=0)
    total.gap = Objective(total.primal, total.dual, total.intercept, np.zeros(k)).gap
    total.n_iter, total.n_rounds = n_iter.max(axis=0), n_rounds.max(axis=0)
    total.status = [_status(statuses[j::k], total.gap[j] <= tol) for j in range(k)]
    return total


def _status(statuses: list[Status], converged: bool) -> Status:
    """Return the status of a column from the statuses of its cells."""
    others = [status for status in statuses if status is not Status.CONVERGED]
    for status in others:
        if status in (Status.STOPPED, Status.MAX_TIME):
            return status
    return Status.CONVERGED if converged or not others else others[0]
