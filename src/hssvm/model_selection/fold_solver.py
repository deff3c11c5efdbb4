"""Cross-validation scores: folds, values of C and classes are columns of one problem per gamma."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hssvm.hss import ClusterTree, HSSMatrix
from hssvm.kernels import Kernel
from hssvm.kernels.base import Floats, Rows
from hssvm.model_selection.folds import Folds
from hssvm.model_selection.search import mean_scores
from hssvm.operators import HSSOperator
from hssvm.problems import SVCProblem
from hssvm.solvers import ADMM, Solution, Status
from hssvm.training import FitReport, Monitor, TrainingPlan
from hssvm.training.compression import build_tree, compress_kernel
from hssvm.training.memory import SOLVE_ARRAYS
from hssvm.training.plan import DEFAULT_MEMORY
from hssvm.training.scaling import Scaling

logger = logging.getLogger(__name__)

FINAL_ITERATIONS, FINAL_SHARE = 600, 0.5
"""Time reserved for the final fit: that of FINAL_ITERATIONS iterations per column of the folds, and
at least FINAL_SHARE of max_time. The final fit needs 100 to 300 iterations, each several times
slower per column than one of many columns, plus factorizations and refinement."""

FINISHED = {Status.CONVERGED, Status.PRECISION, Status.STALLED}
"""Statuses of finished columns; if a block was cut short, columns with another status may not have
been iterated at all."""


@dataclass(eq=False)
class Group:
    """Folds that share a kernel matrix: all folds, or a single one if the rows are scaled.

    The scaling of a fold is computed from its own training rows.
    """

    X: Rows
    folds: Folds
    tree: ClusterTree
    matrices: dict[float, HSSMatrix] = field(default_factory=dict)


def make_groups(
    X: Rows, folds: Folds, scaling: str | None, plan: TrainingPlan, report: FitReport
) -> list[Group]:
    """Group the folds that share a kernel matrix."""
    if scaling is None:
        return [Group(X, folds, build_tree(X, plan, report))]
    groups = []
    for fold in folds.separate():
        train, _ = fold.splits[0]
        rows = Scaling.of(X[train], scaling)(X)
        groups.append(Group(rows, fold, build_tree(rows, plan, report)))
    return groups


@dataclass(eq=False)
class FoldSolver:
    """Scores values of C for one gamma at a time, and reserves time for the final fit.

    Parameters
    ----------
    groups : list of Group
    make_kernel : callable
        Called with gamma.
    unit_bound : (n, k)
        Signed bounds of the coefficients for C = 1.
    plan : TrainingPlan
    tol : float
    max_iter : int
    monitor, report
        Those of the fit.
    max_time : float or None
        Time limit of the fit.
    n_final : int
        Number of rows of the final fit.
    keep_all : bool
        Whether to keep the matrices of all values of gamma, for more values of C later.

    Attributes
    ----------
    cut_short : bool
        Whether the time limit or an interrupt stopped the folds.
    n_compressions, n_column_iterations : int
    starts : dict
        Mean coefficients of the folds, (n, k), by gamma and C.
    """

    groups: list[Group]
    make_kernel: Callable[[float], Kernel]
    unit_bound: Floats
    plan: TrainingPlan
    tol: float
    max_iter: int
    monitor: Monitor
    report: FitReport
    max_time: float | None
    n_final: int
    keep_all: bool
    cut_short: bool = False
    n_compressions: int = 0
    n_column_iterations: int = 0
    starts: dict[tuple[float, float], Floats] = field(default_factory=dict)
    _best: float = -math.inf
    _seconds: float = 0.0

    def score(self, gamma: float, Cs: list[float]) -> NDArray[np.float64]:
        """Return the scores, (n_Cs, n_folds), with NaN for a C whose folds were cut short."""
        by_group = [self._score_group(group, gamma, Cs) for group in self.groups]
        scores = np.concatenate([scores for scores, _ in by_group], axis=1)
        for c, C in enumerate(Cs):
            sums = [sums.get(c) for _, sums in by_group]
            if all(Z is not None for Z in sums):
                self.starts[gamma, C] = sum(sums) / scores.shape[1]  # type: ignore[arg-type]
        means = mean_scores(scores)
        logger.info("gamma %g: mean scores %s", gamma, " ".join(f"{mean:.4f}" for mean in means))
        best = float(np.max(means, where=~np.isnan(means), initial=-math.inf))
        if not self.keep_all:
            self._keep_one(gamma, best > self._best)
        self._best = max(best, self._best)
        return scores

    def matrix(self, gamma: float) -> HSSMatrix | None:
        """Return the compressed kernel of the unscaled rows, or None if there is none."""
        return self.groups[0].matrices.get(gamma) if len(self.groups) == 1 else None

    def stopped(self) -> bool:
        """Whether the time left is reserved for the final fit; never before the first score."""
        next_compression = self._per_compression() * len(self.groups)
        if self.starts and self._late(upcoming=next_compression):
            self.cut_short = True
        return self.cut_short

    def _score_group(
        self, group: Group, gamma: float, Cs: list[float]
    ) -> tuple[NDArray[np.float64], dict[int, Floats]]:
        """Scores (n_Cs, n_folds) of a group, and the coefficients by C, summed over its folds."""
        if gamma not in group.matrices and not self.cut_short:
            kernel = self.make_kernel(gamma)
            group.matrices[gamma] = compress_kernel(
                kernel, group.X, group.tree, self.plan, self.report
            )
            self.n_compressions += 1
            self.monitor.stage_done("compress")
        per_block = self._Cs_at_once(group)
        scores: list[NDArray[np.float64]] = []
        sums: dict[int, Floats] = {}
        for begin in range(0, len(Cs), per_block):
            block = Cs[begin : begin + per_block]
            found, coefficients = self._score_block(group, gamma, block)
            scores.append(found)
            sums.update({begin + c: Z for c, Z in coefficients.items()})
        if len(self.groups) > 1 and not self.keep_all:
            group.matrices.clear()
        return np.concatenate(scores), sums

    def _Cs_at_once(self, group: Group) -> int:
        """Number of values of C whose columns fit in memory together."""
        per_C = self.unit_bound.shape[1] * len(group.folds.splits)
        limit = self.plan.memory_limit
        if limit is None:
            columns = DEFAULT_MEMORY / (SOLVE_ARRAYS * self.unit_bound[:, 0].nbytes)
        else:
            columns = self.plan.memory(group.X, per_C).columns_within(limit)
        return max(1, int(columns / per_C))

    def _keep_one(self, gamma: float, better: bool) -> None:
        """Discard the matrices of all other values of gamma, or those of this one."""
        for group in self.groups:
            group.matrices = {g: m for g, m in group.matrices.items() if (g is gamma) == better}
        self.starts = {key: s for key, s in self.starts.items() if (key[0] is gamma) == better}

    def _score_block(
        self, group: Group, gamma: float, Cs: list[float]
    ) -> tuple[NDArray[np.float64], dict[int, Floats]]:
        folds, dtype = group.folds, self.unit_bound.dtype
        (n, n_classes), n_folds = self.unit_bound.shape, len(folds.splits)
        scores, sums = np.full((len(Cs), n_folds), np.nan), dict[int, Floats]()
        if self.cut_short:
            return scores, sums
        one_C = folds.bounds(self.unit_bound)
        problem = SVCProblem((one_C[:, None, :] * np.array(Cs, dtype)[:, None]).reshape(n, -1))
        solution = self._solve(problem, HSSOperator(group.matrices[gamma]))
        shape = (n, len(Cs), n_folds, n_classes)
        values = (solution.F + solution.intercept.astype(dtype)).reshape(shape)
        status = np.array(solution.status, object).reshape(len(Cs), -1)
        finished = [
            c for c in range(len(Cs)) if not self.cut_short or FINISHED.issuperset(status[c])
        ]
        if not finished and not self.starts:
            finished = list(range(len(Cs)))  # a rough score is better than none
        for c in finished:
            scores[c] = folds.scores(values[:, c])
            sums[c] = solution.Z.reshape(shape)[:, c].sum(axis=1)
        return scores, sums

    def _solve(self, problem: SVCProblem, operator: HSSOperator) -> Solution:
        before = self.monitor.seconds_left

        def after_check(iteration: int, gap: Floats) -> Status | None:
            answer = self.monitor.after_check(iteration, gap)
            passed = before - self.monitor.seconds_left
            if answer is None and self._late(passed / (iteration * problem.k)):
                answer = Status.MAX_TIME
            self.cut_short = answer is not None
            return answer

        with self.report.stage("folds", goal=self.tol):
            solver = ADMM(self.tol, self.max_iter, callback=after_check)
            solution = solver.solve(problem, operator)
        self.report.split_factor_time("folds", solution)
        self._seconds += before - self.monitor.seconds_left
        self.n_column_iterations += int(solution.n_iter.sum())
        return solution

    def _late(self, per_column_iteration: float | None = None, upcoming: float = 0.0) -> bool:
        """Whether the final fit needs all the time left after `upcoming` more seconds."""
        left = self.monitor.seconds_left
        if left == math.inf or self.max_time is None:
            return False
        if self.n_column_iterations:
            per_column_iteration = self._seconds / self.n_column_iterations
        n, n_columns = self.unit_bound.shape
        compress = self._per_tree() + self._per_compression()
        if self.n_final == n and len(self.groups) == 1:
            compress = 0.0
        solve = (per_column_iteration or 0.0) * n_columns * FINAL_ITERATIONS
        reserve = max((compress + solve) * self.n_final / n, FINAL_SHARE * self.max_time)
        return left - upcoming < reserve

    def _per_tree(self) -> float:
        return self.report.seconds.get("tree", 0.0) / len(self.groups)

    def _per_compression(self) -> float:
        return self.report.seconds.get("compress", 0.0) / max(1, self.n_compressions)
