"""Scores of candidates: folds, values of C and classes as columns on one factor per gamma."""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hssvm.estimators.base import KernelMachine
from hssvm.estimators.callbacks import FitTasks
from hssvm.estimators.memory import SOLVE_ARRAYS
from hssvm.estimators.report import FitReport
from hssvm.hss import ClusterTree, HSSMatrix
from hssvm.kernels.base import Floats, Rows
from hssvm.model_selection.folds import Folds
from hssvm.model_selection.search import mean_scores
from hssvm.problems import SVCProblem
from hssvm.solvers import ADMM, Status

logger = logging.getLogger(__name__)

FINAL_ITERATIONS, FINAL_SHARE = 600, 0.5
"""Iterations per column of the final fit that time is reserved for, counted in those of the folds,
and the least share of max_time. It takes 100 to 300, each several times as long as the share of a
column in an iteration of many, with factorizations between them; refinement comes on top."""

FINISHED = {Status.CONVERGED, Status.PRECISION, Status.STALLED}
"""Columns with another status, of a block that was cut short, may not have been iterated."""


@dataclass(eq=False)
class FoldSolver:
    """Scores values of C for one gamma after the other, and reserves time for the final fit.

    Parameters
    ----------
    model : SVCCV
    X : (n, p)
        The rows of the folds.
    tree : ClusterTree
        Of X.
    unit_bound : (n, k)
        Signed bounds of the coefficients for C = 1.
    folds : Folds
    tol : float
    max_iter : int
    tasks, report, seed
        Of the fit.
    n_final : int
        Rows of the final fit.
    keep_all : bool
        Whether to keep the matrix of every gamma, for more values of C later.

    Attributes
    ----------
    cut_short : bool
        Whether the time, or an interrupt, ended the folds.
    n_compressions, n_column_iterations : int
    matrices : dict
        By gamma.
    starts : dict
        Mean coefficients of the folds, (n, k), by gamma and C.
    """

    model: KernelMachine
    X: Rows
    tree: ClusterTree
    unit_bound: Floats
    folds: Folds
    tol: float
    max_iter: int
    tasks: FitTasks
    report: FitReport
    seed: int
    n_final: int
    keep_all: bool
    cut_short: bool = False
    n_compressions: int = 0
    n_column_iterations: int = 0
    matrices: dict[float, HSSMatrix] = field(default_factory=dict)
    starts: dict[tuple[float, float], Floats] = field(default_factory=dict)
    _best: float = -math.inf
    _seconds: float = 0.0

    def score(self, gamma: float, Cs: list[float]) -> NDArray[np.float64]:
        """Scores (n_Cs, n_folds); NaN for a C whose folds were cut short."""
        if gamma not in self.matrices:
            kernel = self.model._kernel_with(lambda: gamma)
            self.matrices[gamma] = self.model._compress(
                self.X, kernel, self.tree, self.report, self.seed
            )
            self.n_compressions += 1
            self.tasks.done("compress")
        per_C = self.unit_bound.nbytes * len(self.folds.splits) * SOLVE_ARRAYS
        per_block = max(1, int(self.model.column_memory / per_C))
        blocks = [Cs[begin : begin + per_block] for begin in range(0, len(Cs), per_block)]
        scores = np.concatenate([self._score_block(gamma, block) for block in blocks])
        means = mean_scores(scores)
        logger.info("gamma %g: mean scores %s", gamma, " ".join(f"{mean:.4f}" for mean in means))
        best = float(np.max(means, where=~np.isnan(means), initial=-math.inf))
        if not self.keep_all:
            self._keep_one(gamma, best > self._best)
        self._best = max(best, self._best)
        return scores

    def _keep_one(self, gamma: float, better: bool) -> None:
        """Forget other gammas, or this one."""
        self.matrices = {g: m for g, m in self.matrices.items() if (g is gamma) == better}
        self.starts = {key: s for key, s in self.starts.items() if (key[0] is gamma) == better}

    def stopped(self) -> bool:
        """Whether only the final fit has time left; not before there is a score to choose by."""
        if self.starts and self._late(more=self._per_compression()):
            self.cut_short = True
        return self.cut_short

    def _score_block(self, gamma: float, Cs: list[float]) -> NDArray[np.float64]:
        (n, n_classes), n_folds = self.unit_bound.shape, len(self.folds.splits)
        dtype, scores = self.unit_bound.dtype, np.full((len(Cs), n_folds), np.nan)
        if self.cut_short:
            return scores
        one_C = self.folds.bounds(self.unit_bound)
        problem = SVCProblem((one_C[:, None, :] * np.array(Cs, dtype)[:, None]).reshape(n, -1))
        system = self.model._factor(self.matrices[gamma], problem, self.report)
        before = self.tasks.seconds_left

        def after_look(iteration: int, gap: Floats) -> Status | None:
            answer = self.tasks.after_look(iteration, gap)
            passed = before - self.tasks.seconds_left
            if answer is None and self._late(passed / (iteration * problem.k)):
                answer = Status.MAX_TIME
            self.cut_short = answer is not None
            return answer

        with self.report.stage("folds", goal=self.tol):
            solution = ADMM(self.tol, self.max_iter, after_look).solve(problem, system)
        self._seconds += before - self.tasks.seconds_left
        self.n_column_iterations += int(solution.n_iter.sum())
        shape = (n, len(Cs), n_folds, n_classes)
        values = (solution.F + solution.intercept.astype(dtype)).reshape(shape)
        starts = solution.Z.reshape(shape).mean(axis=2)
        status = np.array(solution.status, object).reshape(len(Cs), -1)
        finished = [
            c for c in range(len(Cs)) if not self.cut_short or FINISHED.issuperset(status[c])
        ]
        if not finished and not self.starts:
            finished = list(range(len(Cs)))  # a rough score is better than none
        for c in finished:
            scores[c] = self.folds.scores(values[:, c])
            self.starts[gamma, Cs[c]] = np.ascontiguousarray(starts[:, c])
        return scores

    def _late(self, per_column_iteration: float | None = None, more: float = 0.0) -> bool:
        """Whether the time left, without `more` seconds, is what the final fit needs."""
        left = self.tasks.seconds_left
        if left == math.inf:
            return False
        if self.n_column_iterations:
            per_column_iteration = self._seconds / self.n_column_iterations
        n, n_columns = self.unit_bound.shape
        compress = 0.0 if self.n_final == n else self._seconds_of("tree") + self._per_compression()
        solve = (per_column_iteration or 0.0) * n_columns * FINAL_ITERATIONS
        reserve = max((compress + solve) * self.n_final / n, FINAL_SHARE * self.model.max_time)
        return left - more < reserve

    def _per_compression(self) -> float:
        return self._seconds_of("compress") / max(1, self.n_compressions)

    def _seconds_of(self, stage: str) -> float:
        return self.report.seconds.get(stage, 0.0)
