"""Training of the folds.

::

    few rows     every model by SMO on its own rows, side by side
    more rows    all models together, as columns of one problem; not pairs of classes
    many rows    every model in cells, one after the other, if the final model has cells
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hssvm import costs
from hssvm.kernels import Kernel
from hssvm.kernels.base import Floats, Rows
from hssvm.kernels.lazy import LazyKernelMatrix
from hssvm.model_selection.fold_models import FoldTask
from hssvm.model_selection.folds import Folds
from hssvm.solvers import Solution, Status, WorkingSet
from hssvm.training import (
    FitReport,
    Monitor,
    TrainingConfig,
    TrainingResult,
    plan_problem,
    train,
)
from hssvm.training.data.scaling import Scaling
from hssvm.training.memory import REFINE_ARRAYS, REFINE_DOUBLES
from hssvm.training.routes.exact.parts import solve_parts
from hssvm.training.routes.exact.solver import ExactSolver
from hssvm.training.threads import map_in_threads, thread_count_of

MIN_FOLD_TOL = 1e-2
"""Gap at which folds of many rows stop, if `tol` is smaller. On 20,000 rows of ijcnn1, the scores
are as close to the scores of accurate fits as with 1e-3, in half the time."""

SEPARATE_ROWS = 8000
"""Number of rows up to which the models are trained separately."""

CUT_SHORT = {Status.MAX_TIME.name, Status.STOPPED.name}
"""Names of the statuses of unfinished fits."""

FINISHED = {Status.CONVERGED, Status.PRECISION, Status.STALLED, Status.MAX_WORK}
"""Statuses of finished columns; if the folds were cut short, columns with another status may not
have been iterated at all."""


@dataclass(frozen=True, eq=False)
class FoldFit:
    """A model of one C that leaves out a fold.

    Attributes
    ----------
    result : TrainingResult
    values : (m, k)
        Decision values of the rows of the fold; (m, n_classes) for pairs of classes.
    finished : bool
        False if the fit was cut short.
    """

    result: TrainingResult
    values: Floats
    finished: bool


@dataclass(frozen=True, eq=False)
class Group:
    """Folds that share their rows: all folds, or a single one if the rows are scaled.

    The scaling of a fold is computed from its own training rows.
    """

    X: Rows
    scaling: Scaling
    folds: Folds


def make_groups(
    X: Rows, folds: Folds, scaling_of: Callable[[NDArray[np.int64]], Scaling] | None
) -> list[Group]:
    """Group the folds that share their rows.

    Parameters
    ----------
    X : (n, p) array or CSR matrix
    folds : Folds
    scaling_of : callable or None
        Returns the scaling for the training rows with the given indices; None without scaling.
    """
    if scaling_of is None:
        return [Group(X, Scaling(), folds)]
    groups = []
    for fold in folds.separate():
        train, _ = fold.splits[0]
        own = scaling_of(train)
        groups.append(Group(own(X), own, fold))
    return groups


class Job(NamedTuple):
    """Models to train on the same rows: values of C, group, and the rows of training and test."""

    Cs: list[float]
    group: Group
    train: NDArray[np.int64]
    test: NDArray[np.int64]


@dataclass(frozen=True)
class FoldFitter:
    """Trains models that leave out a fold.

    Attributes
    ----------
    task : FoldTask
    kernel : Kernel
    tol : float
    memory : float
        Bytes for the models, and as many for kernel values.
    monitor : Monitor
    cells : TrainingConfig or None
        Configuration of models of cells; None for models on the exact kernel.
    """

    task: FoldTask
    kernel: Kernel
    tol: float
    memory: float
    monitor: Monitor
    cells: TrainingConfig | None = None

    def Cs_at_once(self, groups: list[Group]) -> int:
        """Number of values of C whose models fit in memory together."""
        n, itemsize = groups[0].folds.rows.size, groups[0].X.dtype.itemsize
        n_folds = sum(len(group.folds.splits) for group in groups)
        per_row = REFINE_ARRAYS * itemsize + 8 * REFINE_DOUBLES
        if self._separately(groups):
            per_row = 2 * itemsize  # coefficients and decision values
        return max(1, int(self.memory / (per_row * n * self.task.k * n_folds)))

    def fit(self, groups: list[Group], Cs: list[float]) -> dict[float, list[FoldFit]]:
        """Train a model for every fold, by C."""
        if self.cells is not None:
            return {C: [*self._fit_cells(self.cells, groups, C)] for C in Cs}
        if self._separately(groups):
            return self._fit_separately(groups, Cs)
        fits: dict[float, list[FoldFit]] = {C: [] for C in Cs}
        for group in groups:
            for C, found in self._fit_together(group, Cs):
                fits[C].append(found)
        return fits

    def _fit_cells(
        self, config: TrainingConfig, groups: list[Group], C: float
    ) -> Iterator[FoldFit]:
        for group in groups:
            problem = self.task.problem(group.folds.rows, [C])
            for train_rows, test in group.folds.splits:
                part, X = problem.rows(train_rows), group.X[train_rows]
                plan = plan_problem(config, part, self.kernel, X)
                result = train(part, self.kernel, X, plan, FitReport(), self.monitor)
                assert result.compressed is not None
                values = result.compressed(group.X[test]) + result.intercept
                finished = CUT_SHORT.isdisjoint(result.report.status)
                yield FoldFit(result, values.astype(X.dtype), finished)

    def _separately(self, groups: list[Group]) -> bool:
        return self.task.pairs or groups[0].folds.rows.size <= SEPARATE_ROWS

    def _fit_separately(self, groups: list[Group], Cs: list[float]) -> dict[float, list[FoldFit]]:
        """Train on one fold at a time; values of C share its kernel values unless threads idle."""
        splits = [(group, *split) for group in groups for split in group.folds.splits]
        n_threads = thread_count_of(self.kernel)
        n_shares = len(Cs) if self.task.pairs else min(len(Cs), math.ceil(n_threads / len(splits)))
        easy_first = sorted(Cs)  # they share the work limit
        shares = [easy_first[share::n_shares] for share in range(n_shares)]
        jobs = [Job(share, *split) for share in shares for split in splits]
        max_workers = min(len(jobs), n_threads)
        fit = partial(self._fit_one, memory=self.memory / max_workers)
        each = n_threads // max_workers
        fits = map_in_threads(fit, jobs, self.monitor, max_workers, each)
        found: dict[float, list[FoldFit]] = {C: [] for C in Cs}
        for job, own in zip(jobs, fits, strict=True):
            for C, one in zip(job.Cs, own, strict=True):
                found[C].append(one)
        return found

    def _fit_one(self, job: Job, monitor: Monitor, memory: float) -> list[FoldFit]:
        rows, X, kernel = job.group.folds.rows, job.group.X, self.kernel
        problem = self.task.problem(rows, job.Cs)
        part, part_X = problem.rows(job.train), X[job.train]
        work = _work(part.n) * part.n_columns
        solver = ExactSolver(kernel, self.tol, memory, work, SEPARATE_ROWS)
        solution = solve_parts(part, part_X, solver, monitor)
        Z = np.zeros((problem.n, problem.k), problem.dtype)  # refers to X, which all models share
        Z[job.train] = solution.Z
        result = TrainingResult(problem, kernel, X, Z, solution.intercept, None, FitReport())
        values = result.decisions(X[job.test])
        finished = np.array([status in FINISHED for status in solution.status])
        fits, share = [], partial(np.split, indices_or_sections=len(job.Cs), axis=-1)
        for C, own_Z, intercept, own, done in zip(
            job.Cs, share(Z), share(solution.intercept), share(values), share(finished), strict=True
        ):
            single = self.task.problem(rows, [C])
            model = TrainingResult(single, kernel, X, own_Z, intercept, None, FitReport())
            fits.append(FoldFit(model, own, bool(done.all())))
        return fits

    def _fit_together(self, group: Group, Cs: list[float]) -> Iterator[tuple[float, FoldFit]]:
        k, folds, X = self.task.k, group.folds, group.X
        single = self.task.problem(folds.rows, Cs).part(0).problem
        problem = single.excluding(folds.excluded)
        work = _work(problem.n) * problem.k
        solver = WorkingSet(self.tol, self.memory, max_work=work, stop=self.monitor.stop)
        zero = np.zeros((problem.n, problem.k), problem.dtype)
        solution = solver.solve(problem, LazyKernelMatrix(self.kernel, X), Solution.empty(zero))
        for f, c in np.ndindex(len(folds.splits), len(Cs)):
            columns, test = np.arange(k) + k * (f * len(Cs) + c), folds.splits[f][1]
            Z, intercept = solution.Z[:, columns], solution.intercept[columns]
            part = problem.columns(columns)
            result = TrainingResult(part, self.kernel, X, Z, intercept, None, FitReport())
            values = (solution.F[np.ix_(test, columns)] + intercept).astype(problem.dtype)
            finished = FINISHED.issuperset(solution.status[j] for j in columns)
            yield Cs[c], FoldFit(result, values, finished)


def _work(n_rows: int) -> float:
    """Return the work limit of a column."""
    return costs.FOLD_BUDGET * max(1.0, n_rows / costs.FOLD_BUDGET_ROWS) ** 2
