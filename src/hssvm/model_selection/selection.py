"""A search: the candidates, the rows, and the scaling of the features."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from hssvm.estimators.inputs.kernel import gamma_of_rows, has_gamma
from hssvm.estimators.inputs.parameters import as_scalar
from hssvm.kernels import Kernel
from hssvm.kernels.base import Floats, Rows
from hssvm.messages import api, value_error
from hssvm.model_selection.fold_fitter import MIN_FOLD_TOL, make_groups
from hssvm.model_selection.fold_models import FoldTask
from hssvm.model_selection.fold_solver import Deadline, FoldSolver
from hssvm.model_selection.folds import Folds, sample_rows
from hssvm.model_selection.results import Results
from hssvm.model_selection.round_log import RoundLog
from hssvm.model_selection.rounds import FIRST_ROWS, affordable_rows, round_sizes
from hssvm.model_selection.scoring import Scoring
from hssvm.model_selection.search import (
    COARSE,
    FINE,
    Axis,
    Free,
    Given,
    Scores,
    Search,
    mean_scores,
)
from hssvm.training import FitReport, Monitor, TrainingConfig
from hssvm.training.config import TOL
from hssvm.training.data.checks import MIN_CHECKED_ROWS
from hssvm.training.data.precision import in_precision_of_rows
from hssvm.training.data.scaling import Scaling, features_differ

FIRST_C = 2
"""Position of ten units of C, where the search starts."""


class Candidate(NamedTuple):
    """A scaling, the solver of the first round, and the values of gamma and C to search."""

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
    results : Results
    scaling : {None, 'standard', 'minmax'}
    folds : list of Folds
        The folds of each round.
    cut_short : bool
        Whether the time limit or an interrupt stopped the search.
    """

    search: Search
    results: Results
    scaling: str | None
    folds: list[Folds]
    cut_short: bool


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
        Groups of similar rows, such as classes; samples contain some of each.
    weight : (n,)
    C_unit : float
        Unit of the values of C that the search tries.
    task : FoldTask
    folds : Folds
    scoring : Scoring
    config, report, monitor
        Configuration, report and monitor of the fit.
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
        deadline = Deadline(self.monitor, self.max_time)
        (kind, solver, gammas, Cs), first_scores = self._choose_scaling(deadline)
        results, folds = solver.results, [solver.folds]
        for position in Cs.required:
            in_precision_of_rows(Cs.value(position) * self.weight, self.X.dtype, "C")

        def stopped() -> bool:  # not before the first score
            return bool(results.gammas) and deadline.stop() is not None

        search = Search(gammas, Cs, stopped)
        if first_scores is not None:
            search.rounds[0][gammas.start, Cs.start] = first_scores
        search.walk(solver.score, COARSE)
        sizes = self._sizes(gammas, Cs)
        if self.searches and len(sizes) == 1:
            search.walk(solver.score, FINE)
        for round, n_rows in enumerate(sizes[1:], 1):
            if stopped():
                break
            log = RoundLog(round, len(sizes), n_rows)
            solver = self._fold_solver(kind, deadline, results, log)
            folds.append(solver.folds)
            n_last = len(search.rounds[-1])
            search.begin_round()
            if self.searches and round == 1:
                search.walk(solver.score, FINE)
            else:
                search.again(solver.score, math.ceil(n_last * sizes[round - 1] / n_rows))
        return Selected(search, results, kind, folds, deadline.cut_short)

    def _sizes(self, gammas: Axis, Cs: Axis) -> list[int]:
        """Numbers of rows of the rounds."""
        kernel = self.make_kernel(gammas.value(gammas.start))
        n_candidates = None if self.searches else len(gammas.required) * len(Cs.required)
        return round_sizes(affordable_rows(kernel, self.X), n_candidates)

    def _axes(self, X: Rows) -> tuple[Axis, Axis]:
        """Return the axes of gamma and of C, given the scaled rows."""
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
                raise value_error(
                    f"kernel {self.kernel!r} has no gamma to choose; leave out {api:gammas}"
                )
            return Given([math.nan]), Cs
        if isinstance(self.gammas, str):
            return Free(gamma_of_rows(self.kernel, "scale", X, self.weight)), Cs
        gammas = {gamma_of_rows(self.kernel, gamma, X, self.weight) for gamma in self.gammas}
        return Given(sorted(gammas)), Cs

    def _choose_scaling(self, deadline: Deadline) -> tuple[Candidate, Scores | None]:
        """Return the scaling with what a search needs, and the scores that decided, if any.

        If the features of dense rows have similar scales, 'auto' compares the scores of the first
        pair of values with and without scaling.
        """
        kind, undecided = self.scaling, False
        if kind == "auto":
            scalable = self.make_kernel(1.0).scale_sensitive
            kind = "standard" if scalable and features_differ(self.X) else None
            undecided = scalable and kind is None and self.searches
        candidate = self._candidate(kind, deadline)
        if not undecided or scipy.sparse.issparse(self.X) or self.X.shape[0] < MIN_CHECKED_ROWS:
            return candidate, None
        candidates = self._candidate("standard", deadline), candidate
        scores = [
            solver.score(gammas.value(gammas.start), [Cs.value(Cs.start)])[0]
            for _, solver, gammas, Cs in candidates
        ]
        first, second = map(mean_scores, scores)
        best = 0 if first > second or np.isnan(second) else 1
        return candidates[best], scores[best]

    def _candidate(self, scaling: str | None, deadline: Deadline) -> Candidate:
        X = Scaling.of(self.X, scaling)(self.X)
        self.make_kernel(1.0).check_rows(X)
        gammas, Cs = self._axes(X)
        sizes = self._sizes(gammas, Cs)
        log = RoundLog(0, len(sizes), sizes[0])
        solver = self._fold_solver(scaling, deadline, Results(), log)
        return Candidate(scaling, solver, gammas, Cs)

    def _fold_solver(
        self, scaling: str | None, deadline: Deadline, results: Results, log: RoundLog
    ) -> FoldSolver:
        """Return the solver of the folds on some of the rows."""
        X, folds, config = self.X, self.folds, self.config
        n_final, tol = X.shape[0], config.tol or TOL
        if log.n_rows < n_final:
            rows = folds.with_strata(sample_rows(self.strata, log.n_rows, config.seed), self.strata)
            X, folds = X[rows], folds.among(rows)
        return FoldSolver(
            groups=make_groups(X, folds, scaling),
            make_kernel=self.make_kernel,
            task=self.task,
            scoring=self.scoring,
            tol=tol if n_final <= FIRST_ROWS else max(tol, MIN_FOLD_TOL),
            memory_limit=config.memory_limit,
            deadline=deadline,
            report=self.report,
            n_final=n_final,
            results=results,
            log=log,
        )
