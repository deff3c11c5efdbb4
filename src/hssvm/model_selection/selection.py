"""A search: the families of candidates, their values of gamma and C, and the rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm.estimators.inputs.kernel import gamma_of_rows, has_gamma
from hssvm.estimators.inputs.parameters import as_scalar
from hssvm.kernels import Kernel
from hssvm.kernels.base import Floats, Rows
from hssvm.messages import api, value_error
from hssvm.model_selection.common_scales import CommonScales
from hssvm.model_selection.families import Candidate, Family, make_families
from hssvm.model_selection.fold_fitter import MIN_FOLD_TOL, SEPARATE_ROWS, Group
from hssvm.model_selection.fold_models import FoldTask
from hssvm.model_selection.fold_solver import Deadline, FoldSolver
from hssvm.model_selection.folds import Folds, sample_rows
from hssvm.model_selection.forward import choose_members
from hssvm.model_selection.race import Race
from hssvm.model_selection.results import Results
from hssvm.model_selection.round_log import RoundLog
from hssvm.model_selection.rounds import FIRST_ROWS, fold_rows, round_sizes
from hssvm.model_selection.scoring import Scoring
from hssvm.model_selection.search import COARSE, FINE, Axis, Free, Given, Search, axis_of_C
from hssvm.model_selection.tube import best_tube
from hssvm.training import FitReport, Monitor, TrainingConfig
from hssvm.training.approximation import Cells
from hssvm.training.config import CELL_TREES, MEAN_TREES, SMALL_CELL, TOL
from hssvm.training.data.precision import in_precision_of_rows
from hssvm.training.data.scaling import Scaling
from hssvm.training.plan import Route
from hssvm.training.scales.learn import max_sample_rows
from hssvm.training.scales.scaling import base_of


@dataclass(frozen=True, eq=False)
class Selected:
    """The result of a search.

    Attributes
    ----------
    race : Race
    results : Results
    folds : list of Folds
        The folds of each round.
    members : list of Candidate
        The candidates whose mean is the final model, the best first; empty if no candidate has a
        score in every fold.
    cut_short : bool
        Whether the time limit or an interrupt stopped the search.
    """

    race: Race
    results: Results
    folds: list[Folds]
    members: list[Candidate]
    cut_short: bool


@dataclass(frozen=True, eq=False)
class Selection:
    """The inputs of a search.

    Attributes
    ----------
    Cs, gammas, kernel, scaling, max_members, max_time
        Parameters of `SVCCV` or `SVRCV`.
    make_kernel : callable
        Called with a kernel of the parameter `kernel`, and gamma.
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
    scaling: Any
    max_members: int
    max_time: float | None
    make_kernel: Callable[[Any, float], Kernel]
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

    @cached_property
    def families(self) -> list[Family]:
        """The families of candidates."""
        return make_families(
            self.kernel,
            self.scaling,
            self.X,
            self.make_kernel,
            Cs_searched=isinstance(self.Cs, str),
            gammas_searched=isinstance(self.gammas, str),
        )

    @property
    def searches(self) -> bool:
        """Whether C or gamma is searched; otherwise all values are given."""
        return any(self._searches_of(family.kernel) for family in self.families)

    def _searches_of(self, kernel: Any) -> bool:
        return isinstance(self.Cs, str) or (isinstance(self.gammas, str) and has_gamma(kernel))

    @cached_property
    def final_config(self) -> TrainingConfig:
        """The configuration of the final models, which are affordable only together."""
        n_models = min(self.max_members, len(self.families))
        return replace(self.config, n_passes=n_models * self.config.n_passes)

    @cached_property
    def has_cells(self) -> bool:
        """Whether the final models are trained in cells: all of them, if one cannot be exact."""
        config = self.final_config
        if config.approximate_route(local=True) is not Route.CELLS:
            return False
        kernels = [self.make_kernel(family.kernel, 1.0) for family in self.families]
        return not all(config.is_exact(kernel, self.X) for kernel in kernels)

    def config_of(self, n_models: int) -> TrainingConfig:
        """Return the configuration of models whose mean is the final one."""
        return self._with_trees(min(CELL_TREES, -(-MEAN_TREES // n_models)))

    def _with_trees(self, n_trees: int) -> TrainingConfig:
        """Return the configuration of a model, with small cells if it has any."""
        if not self.has_cells:
            return self.final_config
        cells = self.config.approximation or Cells()
        assert isinstance(cells, Cells)
        cells = Cells(cells.size, cells.n_trees or n_trees)
        return replace(self.final_config, approximation=cells, max_cell=SMALL_CELL)

    def run(self) -> Selected:
        """Score candidates, and select the best."""
        deadline = Deadline(self.monitor, self.max_time)
        results, solvers = Results(self.families), list[FoldSolver]()

        def stopped() -> bool:  # not before the first score
            return bool(results.gammas) and deadline.stop() is not None

        pairs = zip(self.families, self._axes, strict=True)
        race = Race([Search(family, *axes, stopped) for family, axes in pairs], self.max_members)
        sizes, task = self._sizes, self.task
        for round, n_rows in enumerate(sizes):
            if round and stopped():
                break
            log = RoundLog(round, len(sizes), n_rows)
            groups = solvers[-1].groups if round and n_rows == sizes[round - 1] else {}
            solver = self._fold_solver(task, deadline, results, log, groups)
            solvers.append(solver)
            n_last = race.n_last
            if round == 0:
                if isinstance(self.gammas, str):
                    race.start(solver.score, COARSE)
                race.walk(solver.score, COARSE)
                if task.searches_tube and len(sizes) > 1:
                    task = task.with_tube(best_tube(race, solver, stopped))
            refines = self.searches and round == min(1, len(sizes) - 1)
            if refines:
                race.keep_best()
            if round:
                race.begin_round()
            if refines:
                race.walk(solver.score, FINE)
            elif round:
                race.again(solver.score, math.ceil(n_last * sizes[round - 1] / n_rows))
        last = solvers[race.last_round]
        leaders = race.leaders(last.task.tube)
        folds, members = [solver.folds for solver in solvers], leaders[:1]
        if members and self.max_members > 1:
            ranked = [last.best[candidate.family] for candidate in leaders]
            chosen = choose_members(ranked, ranked[0].scores, last.score_mean, self.max_members)
            again = last.again(ranked[0]) if len(chosen) > 1 else None
            if again is not None:
                one, other = (last.score_mean([ranked[0], second]) for second in (again, chosen[1]))
                chosen = chosen if other.mean() > one.mean() else chosen[:1]
            members = [one.candidate for one in chosen]
        return Selected(race, results, folds, members, deadline.cut_short)

    @cached_property
    def scales(self) -> CommonScales | None:
        """Scales from rows outside the samples of the rounds; None if there are not enough."""
        n, config = self.X.shape[0], self.config
        if not self.has_cells:
            return None
        inside = np.zeros(n, bool)
        for n_rows in self._sizes[1:]:
            inside[sample_rows(self.strata, n_rows, config.seed)] = True
        outside = np.flatnonzero(~inside & (self.weight > 0))
        if outside.size < (n_learn := max_sample_rows(n)):
            return None
        rows = np.random.default_rng(config.seed).choice(outside, n_learn, replace=False)
        return CommonScales(self.X, rows, self.task, config.seed, self.monitor, config.memory_limit)

    @cached_property
    def _sizes(self) -> list[int]:
        """Numbers of rows of the rounds."""
        kernels = [
            self.make_kernel(family.kernel, gammas.value(gammas.start))
            for family, (gammas, _) in zip(self.families, self._axes, strict=True)
        ]
        n_rows = fold_rows(kernels, self.X, cells=self.has_cells, searched=self.searches)
        if not self.searches:
            n_given = sum(len(gammas.required) * len(Cs.required) for gammas, Cs in self._axes)
            return round_sizes(n_rows, n_given)
        sizes = round_sizes(n_rows, None)
        again = self.task.searches_tube and len(sizes) == 1
        return sizes * 2 if again else sizes  # fine steps with the best epsilon

    @cached_property
    def _axes(self) -> list[tuple[Axis, Axis]]:
        """The axes of gamma and of C of every family."""
        return [self._axes_of(family) for family in self.families]

    def _axes_of(self, family: Family) -> tuple[Axis, Axis]:
        kernel, scaling = family
        # Learned scales leave the mean distance of rows about as it is.
        X = Scaling.of(self.X, base_of(scaling))(self.X)
        self.make_kernel(kernel, 1.0).check_rows(X)
        Cs = self._axis_of_C()
        if not has_gamma(kernel):
            if not isinstance(self.gammas, str) and len(self.families) == 1:
                raise value_error(
                    f"kernel {kernel!r} has no gamma to choose; leave out {api:gammas}"
                )
            return Given([math.nan]), Cs
        if isinstance(self.gammas, str):
            return Free(gamma_of_rows(kernel, "scale", X, self.weight)), Cs
        gammas = {gamma_of_rows(kernel, gamma, X, self.weight) for gamma in self.gammas}
        return Given(sorted(gammas)), Cs

    def _axis_of_C(self) -> Axis:
        axis = axis_of_C(as_scalar(self.Cs), self.C_unit)
        for position in axis.required:
            in_precision_of_rows(axis.value(position) * self.weight, self.X.dtype, "C")
        return axis

    def _fold_solver(
        self,
        task: FoldTask,
        deadline: Deadline,
        results: Results,
        log: RoundLog,
        groups: dict[Any, list[Group]],
    ) -> FoldSolver:
        """Return the solver of the folds on the rows of a round."""
        X, folds, config, cells = self.X, self.folds, self.config, None
        n_final, tol = X.shape[0], config.tol or TOL
        if log.n_rows < n_final:
            rows = folds.with_strata(sample_rows(self.strata, log.n_rows, config.seed), self.strata)
            X, folds = X[rows], folds.among(rows)
        if self.has_cells and log.n_rows > SEPARATE_ROWS:
            cells = replace(self._with_trees(1), max_time=None, held_out=0, scaled=True)
            task = task.without_pairs
        return FoldSolver(
            X=X,
            folds=folds,
            make_kernel=self.make_kernel,
            task=task,
            scoring=self.scoring,
            tol=max(tol, MIN_FOLD_TOL) if self.searches or n_final > FIRST_ROWS else tol,
            memory_limit=config.memory_limit,
            seed=config.seed,
            deadline=deadline,
            report=self.report,
            n_final=n_final,
            results=results,
            log=log,
            cells=cells,
            scales=self.scales if log.round else None,
            keeps_best=self.max_members > 1,
            groups=groups,
        )
