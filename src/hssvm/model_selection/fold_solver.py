"""Cross-validation: folds, values of C and classes are columns of one problem per gamma."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hssvm.hss import ClusterTree, HSSMatrix
from hssvm.kernels import Kernel
from hssvm.kernels.base import Floats, Rows
from hssvm.kernels.lazy import LazyKernelMatrix
from hssvm.model_selection.fold_models import FoldModel, FoldTask
from hssvm.model_selection.folds import Folds
from hssvm.model_selection.results import Results
from hssvm.model_selection.scoring import Scoring
from hssvm.model_selection.search import mean_scores
from hssvm.operators import HSSOperator
from hssvm.problems import Problem
from hssvm.solvers import ADMM, Solution, Status, WorkingSet
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

FINAL_COLUMNS, COLUMN_WORK = 4, 0.02
"""On the exact kernel, the final fit takes the time of about FINAL_COLUMNS columns of the folds.
These have a work limit of COLUMN_WORK nominal seconds each."""

FINISHED = {Status.CONVERGED, Status.PRECISION, Status.STALLED, Status.MAX_WORK}
"""Statuses of finished columns; if a block was cut short, columns with another status may not have
been iterated at all."""


@dataclass(eq=False)
class Group:
    """Folds that share a kernel matrix: all folds, or a single one if the rows are scaled.

    The scaling of a fold is computed from its own training rows.
    """

    X: Rows
    scaling: Scaling
    folds: Folds
    tree: ClusterTree
    matrices: dict[float, HSSMatrix] = field(default_factory=dict)


def make_groups(
    X: Rows, folds: Folds, scaling: str | None, plan: TrainingPlan, report: FitReport
) -> list[Group]:
    """Group the folds that share a kernel matrix."""
    if scaling is None:
        return [Group(X, Scaling.of(X, None), folds, build_tree(X, plan, report))]
    groups = []
    for fold in folds.separate():
        train, _ = fold.splits[0]
        own = Scaling.of(X[train], scaling)
        rows = own(X)
        groups.append(Group(rows, own, fold, build_tree(rows, plan, report)))
    return groups


@dataclass(eq=False)
class FoldSolver:
    """Scores values of C for one gamma at a time, and reserves time for the final fit.

    Parameters
    ----------
    groups : list of Group
    make_kernel : callable
        Called with gamma.
    task : FoldTask
    scoring : Scoring
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
    results : Results
    """

    groups: list[Group]
    make_kernel: Callable[[float], Kernel]
    task: FoldTask
    scoring: Scoring
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
    results: Results = field(default_factory=Results)
    _best: float = -math.inf
    _seconds: float = 0.0

    def score(self, gamma: float, Cs: list[float]) -> NDArray[np.float64]:
        """Return the scores, (n_Cs, n_folds), with NaN for a C whose folds were cut short."""
        n_folds = sum(len(group.folds.splits) for group in self.groups)
        models: dict[float, list[FoldModel]] = {C: [] for C in Cs}
        sums: dict[float, Floats | float] = dict.fromkeys(Cs, 0.0)
        for group in self.groups:
            for C, found in self._train_group(group, gamma, Cs).items():
                models[C] += found
                sums[C] = sums[C] + sum(model.Z for model in found)
        scores = np.full((len(Cs), n_folds), np.nan)
        for c, C in enumerate(Cs):
            if len(models[C]) == n_folds:
                self.starts[gamma, C] = np.asarray(sums[C]) / n_folds
                scores[c] = self._score_models(gamma, C, models[C])
        means = mean_scores(scores)
        logger.info("gamma %g: mean scores %s", gamma, " ".join(f"{mean:.4f}" for mean in means))
        best = float(np.max(means, where=~np.isnan(means), initial=-math.inf))
        if not self.keep_all:
            self._keep_one(gamma, best > self._best)
        self._best = max(best, self._best)
        return scores

    def matrix(self, gamma: float) -> HSSMatrix | None:
        """Return the compressed kernel of the unscaled rows, or None if there is none."""
        (group, *others) = self.groups
        return None if others or group.tree.depth == 0 else group.matrices.get(gamma)

    def stopped(self) -> bool:
        """Whether the time left is reserved for the final fit; never before the first score."""
        next_compression = self._per_compression() * len(self.groups)
        if self.starts and self._late(upcoming=next_compression):
            self.cut_short = True
        return self.cut_short

    def _score_models(self, gamma: float, C: float, models: list[FoldModel]) -> NDArray[np.float64]:
        """Score the models of a candidate, (n_folds,), and add it to the results."""
        found, seconds = [], []
        for model in models:
            begin = time.perf_counter()
            fitted, X = self.task.estimator(gamma, C, model, models)
            found.append(self.scoring(fitted, X, model.test))
            seconds.append(time.perf_counter() - begin)
        scores = self.scoring.by_name(found)
        fit_times = np.array([model.seconds for model in models])
        self.results.add(gamma, C, fit_times, np.array(seconds), scores)
        return self.scoring.of_search(scores)

    def _train_group(
        self, group: Group, gamma: float, Cs: list[float]
    ) -> dict[float, list[FoldModel]]:
        """Models of the folds of a group by C, without those that were cut short."""
        if self._skips():
            return {}
        if gamma not in group.matrices:
            kernel = self.make_kernel(gamma)
            group.matrices[gamma] = compress_kernel(
                kernel, group.X, group.tree, self.plan, self.report
            )
            self.n_compressions += 1
            self.monitor.stage_done("compress")
        per_block = self._Cs_at_once(group)
        models: dict[float, list[FoldModel]] = {}
        for begin in range(0, len(Cs), per_block):
            models |= self._train_block(group, gamma, Cs[begin : begin + per_block])
        if len(self.groups) > 1 and not self.keep_all:
            group.matrices.clear()
        return models

    def _skips(self) -> bool:
        """Whether folds are skipped: not before the first score, even if it is rough."""
        return self.cut_short and bool(self.starts)

    def _Cs_at_once(self, group: Group) -> int:
        """Number of values of C whose columns fit in memory together."""
        per_C = self.task.k * len(group.folds.splits)
        limit = self.plan.memory_limit
        if limit is None:
            n_bytes = group.folds.rows.size * group.X.dtype.itemsize
            columns = DEFAULT_MEMORY / (SOLVE_ARRAYS * n_bytes)
        else:
            columns = self.plan.memory(group.X, per_C).columns_within(limit)
        return max(1, int(columns / per_C))

    def _keep_one(self, gamma: float, better: bool) -> None:
        """Discard the matrices of all other values of gamma, or those of this one."""
        for group in self.groups:
            group.matrices = {g: m for g, m in group.matrices.items() if (g is gamma) == better}
        self.starts = {key: s for key, s in self.starts.items() if (key[0] is gamma) == better}

    def _train_block(
        self, group: Group, gamma: float, Cs: list[float]
    ) -> dict[float, list[FoldModel]]:
        folds, k, models = group.folds, self.task.k, dict[float, list[FoldModel]]()
        if self._skips():
            return models
        begin = time.perf_counter()
        n_folds = len(folds.splits)
        problem = self.task.problem(folds.rows, Cs).excluding(folds.excluded)
        solution = self._solve(problem, group.matrices[gamma])
        share = (time.perf_counter() - begin) / (n_folds * len(Cs))
        status = np.array(solution.status, object).reshape(n_folds, len(Cs), k)
        finished = list(range(len(Cs)))
        if self.cut_short:
            finished = [c for c in finished if FINISHED.issuperset(status[:, c].flat)]
        if not finished and not self.starts:
            finished = list(range(len(Cs)))
        for c in finished:
            models[Cs[c]] = []
            for f, (_, test) in enumerate(folds.splits):
                columns = slice((f * len(Cs) + c) * k, (f * len(Cs) + c + 1) * k)
                intercept = solution.intercept[columns]
                values = solution.F[test, columns] + intercept.astype(problem.dtype)
                models[Cs[c]].append(
                    FoldModel(
                        group.matrices[gamma].kernel,
                        group.X,
                        group.scaling,
                        solution.Z[:, columns],
                        intercept,
                        folds.rows[test],
                        values,
                        share,
                    )
                )
        return models

    def _solve(self, problem: Problem, matrix: HSSMatrix) -> Solution:
        """Solve all columns, on the exact kernel if nothing is compressed."""
        before, exact = self.monitor.seconds_left, matrix.tree.depth == 0

        def after_check(iteration: int, gap: Floats) -> Status | None:
            answer = self.monitor.after_check(iteration, gap)
            passed = before - self.monitor.seconds_left
            if answer is None and self._late(None if exact else passed / (iteration * problem.k)):
                answer = Status.MAX_TIME
            self.cut_short = self.cut_short or answer is not None
            return answer

        with self.report.stage("folds", goal=self.tol):
            if exact:
                zero = Solution.empty(np.zeros((problem.n, problem.k), problem.dtype))
                K, work = LazyKernelMatrix(matrix.kernel, matrix.X), COLUMN_WORK * problem.k
                solver = WorkingSet(self.tol, callback=after_check, max_work=work)
                solution = solver.solve(problem, K, zero)
                n_iterations = problem.k * FINAL_ITERATIONS // FINAL_COLUMNS
            else:
                admm = ADMM(self.tol, self.max_iter, callback=after_check)
                solution = admm.solve(problem, HSSOperator(matrix))
                n_iterations = int(solution.n_iter.sum())
        self.report.split_factor_time("folds", solution)
        self._seconds += before - self.monitor.seconds_left
        self.n_column_iterations += n_iterations
        return solution

    def _late(self, per_column_iteration: float | None = None, upcoming: float = 0.0) -> bool:
        """Whether the final fit needs all the time left after `upcoming` more seconds."""
        left = self.monitor.seconds_left
        if left == math.inf or self.max_time is None:
            return False
        if self.n_column_iterations:
            per_column_iteration = self._seconds / self.n_column_iterations
        n, n_columns = self.groups[0].folds.rows.size, self.task.k
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
