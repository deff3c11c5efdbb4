"""A search: the candidates, the rows, and the scaling of the features."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from hssvm.estimators.kernel import gamma_of_rows, has_gamma
from hssvm.estimators.parameters import as_scalar
from hssvm.kernels import Kernel
from hssvm.kernels.base import Floats, Rows
from hssvm.model_selection.fold_models import FoldTask
from hssvm.model_selection.fold_solver import FoldSolver, make_groups
from hssvm.model_selection.folds import Folds, sample_rows
from hssvm.model_selection.scoring import Scoring
from hssvm.model_selection.search import Axis, Free, Given, Scores, Search, mean_scores
from hssvm.operators import HSSOperator
from hssvm.problems import Problem
from hssvm.training import FitReport, Monitor, TrainingConfig, TrainingResult, train, train_on
from hssvm.training.checks import FEW_ROWS
from hssvm.training.plan import DEFAULT_ITER
from hssvm.training.precision import in_precision_of_rows
from hssvm.training.scaling import Scaling, features_differ

FOLD_TOL = 1e-2
"""Gap at which the columns of the folds stop, if `tol` is smaller. On 20,000 rows of ijcnn1, the
scores are as close to those of separate fits as with 1e-3, in half the time."""

SEARCH_ROWS, SEARCH_ITER = 5_000, 100
"""Maximum number of rows and iterations of the folds if C or gamma is 'auto'; the final fit uses
all rows and `tol`."""

FIRST_C = 2
"""Position of ten units of C, where the search starts."""


class Candidate(NamedTuple):
    """A scaling, the solver of the folds with it, and the values of gamma and C to search."""

    scaling: str | None
    solver: FoldSolver
    gammas: Axis
    Cs: Axis


@dataclass(frozen=True, eq=False)
class Selected:
    """The result of a search.

    Attributes
    ----------
    search : Search
    solver : FoldSolver
        With the kernel matrices and coefficients of the folds.
    scaling : {None, 'standard', 'minmax'}
    """

    search: Search
    solver: FoldSolver
    scaling: str | None


@dataclass(frozen=True, eq=False)
class Selection:
    """The inputs of a search.

    Attributes
    ----------
    Cs, gammas, kernel, scaling, max_time
        Parameters of `SVCCV` or `SVRCV`.
    make_kernel : callable
        Called with gamma.
    X : (n, p) array or CSR matrix
        Not scaled.
    strata : (n,) int64
        Groups of similar rows, such as classes, of which samples contain some.
    weight : (n,)
    C_unit : float
        Unit of the values of C that the search tries.
    task : FoldTask
    folds : Folds
    scoring : Scoring
    config, report, monitor
        Those of the fit.
    """

    Cs: int | Sequence[float] | str
    gammas: Sequence[float | str] | str
    kernel: Any
    scaling: str | None
    max_time: float | None
    make_kernel: Callable[[float], Kernel]
    X: Rows
    strata: NDArray[np.int64]
    weight: Floats
    C_unit: float
    task: FoldTask
    folds: Folds
    scoring: Scoring
    config: TrainingConfig
    report: FitReport
    monitor: Monitor

    @property
    def searches(self) -> bool:
        """Whether C or gamma is searched; otherwise all values are given."""
        return isinstance(self.Cs, str) or (isinstance(self.gammas, str) and has_gamma(self.kernel))

    def run(self) -> Selected:
        """Score candidates, and select the best."""
        (kind, solver, gammas, Cs), first_scores = self._choose_scaling()
        for position in Cs.required:
            in_precision_of_rows(Cs.value(position) * self.weight, self.X.dtype, "C")
        search = Search(gammas, Cs, solver.score, solver.stopped)
        if first_scores is not None:
            search.scores[gammas.start, Cs.start] = first_scores
        search.run()
        return Selected(search, solver, kind)

    def train(
        self, selected: Selected, gamma: float, C: float, X: Rows, problem: Problem
    ) -> TrainingResult:
        """Train on all rows, scaled; reuse the matrix of the folds if it has all rows.

        A forest has trees of its own.
        """
        kernel, solver = self.make_kernel(gamma), selected.solver
        same_rows = solver.groups[0].folds.rows.size == X.shape[0]
        matrix = solver.matrix(gamma) if same_rows else None
        start = solver.starts.get((gamma, C)) if matrix is not None else None
        config, report, monitor = self.config, self.report, self.monitor
        plan = config.plan_for(X, kernel)
        if matrix is not None and plan.direct(problem, kernel, X):
            matrix, config = None, replace(config, compressed_start=False)
        if matrix is None or plan.n_trees > 1:
            return train(problem, kernel, X, config, report, monitor, start)
        return train_on(HSSOperator(matrix), problem, plan, report, monitor, start)

    def _axes(self, scaling: str | None) -> tuple[Axis, Axis]:
        """Return the axes of gamma and of C."""
        Cs: Axis
        count = as_scalar(self.Cs)
        if isinstance(self.Cs, str):
            Cs = Free(self.C_unit, start=FIRST_C)
        elif isinstance(count, int):
            Cs = Given((self.C_unit * np.logspace(-2, 2, count)).tolist())
        else:
            Cs = Given(np.unique(self.Cs).tolist())
        if not has_gamma(self.kernel):
            if not isinstance(self.gammas, str):
                raise ValueError(f"kernel {self.kernel!r} has no gamma to choose; leave out gammas")
            return Given([math.nan]), Cs
        X = Scaling.of(self.X, scaling)(self.X)
        if isinstance(self.gammas, str):
            return Free(gamma_of_rows("scale", X, self.weight)), Cs
        return Given(sorted({gamma_of_rows(gamma, X, self.weight) for gamma in self.gammas})), Cs

    def _choose_scaling(self) -> tuple[Candidate, Scores | None]:
        """Return the scaling with what a search needs, and the scores that decided, if any.

        If the features of dense rows have similar scales, 'auto' compares the scores of the first
        pair of values with and without scaling.
        """
        kind = self.scaling
        if kind == "auto":
            kind = "standard" if features_differ(self.X) else None
        candidate = self._candidate(kind)
        undecided = self.scaling == "auto" and kind is None and self.searches
        if not undecided or scipy.sparse.issparse(self.X) or self.X.shape[0] < FEW_ROWS:
            return candidate, None
        candidates = self._candidate("standard"), candidate
        scores = [
            solver.score(gammas.value(gammas.start), [Cs.value(Cs.start)])[0]
            for _, solver, gammas, Cs in candidates
        ]
        best = 0 if mean_scores(scores[0]) > mean_scores(scores[1]) else 1
        return candidates[best], scores[best]

    def _candidate(self, scaling: str | None) -> Candidate:
        gammas, Cs = self._axes(scaling)
        return Candidate(scaling, self._fold_solver(scaling), gammas, Cs)

    def _fold_solver(self, scaling: str | None) -> FoldSolver:
        """Return the solver of the folds, on all rows, or on a sample for a search."""
        X, folds, config = self.X, self.folds, self.config
        n_final, max_iter = X.shape[0], config.max_iter or DEFAULT_ITER
        if self.searches:
            max_iter = min(max_iter, SEARCH_ITER)
            if n_final > SEARCH_ROWS:
                rows = folds.with_tests(sample_rows(self.strata, SEARCH_ROWS, config.seed))
                X, folds = X[rows], folds.among(rows)
        plan = replace(config, n_trees=1).plan(X.shape[0], refine=False)
        groups = make_groups(X, folds, scaling, plan, self.report)
        return FoldSolver(
            groups=groups,
            make_kernel=self.make_kernel,
            task=self.task,
            scoring=self.scoring,
            plan=plan,
            tol=plan.tol if groups[0].tree.depth == 0 else max(plan.tol, FOLD_TOL),
            max_iter=max_iter,
            monitor=self.monitor,
            report=self.report,
            max_time=self.max_time,
            n_final=n_final,
            keep_all=self.searches,
        )
