"""Cross-validation of values of C for one family and gamma at a time, on the exact kernel."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hssvm.kernels import Kernel
from hssvm.kernels.base import Rows
from hssvm.model_selection.common_scales import CommonScales, learn_for_folds
from hssvm.model_selection.families import Candidate, Family
from hssvm.model_selection.fold_estimators import FoldModel
from hssvm.model_selection.fold_fitter import FoldFitter, Group, make_groups
from hssvm.model_selection.fold_models import FoldTask
from hssvm.model_selection.folds import Folds
from hssvm.model_selection.results import Results
from hssvm.model_selection.round_log import RoundLog
from hssvm.model_selection.scoring import Scoring
from hssvm.model_selection.search import mean_scores
from hssvm.solvers import Status
from hssvm.training import FitReport, Monitor, TrainingConfig
from hssvm.training.data.scaling import Scaling
from hssvm.training.plan import DEFAULT_MEMORY
from hssvm.training.scales.scaling import LEARNED, base_of

FINAL_MODELS, FINAL_SHARE = 4, 0.5
"""Time reserved for the final fit: the time of FINAL_MODELS models of the folds, times the ratio of
the numbers of rows, and at least FINAL_SHARE of max_time."""


SCALE_ROWS = 2000
"""Largest number of rows from which the folds learn scales. The final model learns from more, but
with five folds and several families, that would take longer than all the rest."""


@dataclass(eq=False)
class Deadline(Monitor):
    """Stops the folds of a search when the time left is reserved for the final fit.

    Parameters
    ----------
    monitor : Monitor
        The monitor of the fit.
    max_time : float or None
        Time limit of the fit.

    Attributes
    ----------
    final : float
        Seconds that the final fit is expected to take.
    cut_short : bool
        Whether the time limit or an interrupt stopped the folds.
    """

    monitor: Monitor
    max_time: float | None
    final: float = 0.0
    cut_short: bool = False

    @property
    def seconds_left(self) -> float:
        """Seconds until the folds should stop."""
        left = self.monitor.seconds_left
        if self.max_time is None or left == math.inf:
            return left
        return left - max(self.final, FINAL_SHARE * self.max_time)

    def stop(self) -> Status | None:
        """Return a status if the folds should stop."""
        answer = self.monitor.stop()
        if answer is None and self.seconds_left <= 0:
            answer = Status.MAX_TIME
        self.cut_short = self.cut_short or answer is not None
        return answer


class Finalist(NamedTuple):
    """A candidate, its scores and its models in all folds."""

    candidate: Candidate
    scores: NDArray[np.float64]
    models: list[FoldModel]

    def is_better_than(self, other: Finalist) -> bool:
        """Whether the mean score is higher, or the same with a smaller gamma or C."""
        means = [float(mean_scores(one.scores)) for one in (self, other)]
        smooth = [(one.candidate.gamma, one.candidate.C) for one in (self, other)]
        return means[0] > means[1] or (means[0] == means[1] and smooth[0] < smooth[1])


@dataclass(eq=False)
class FoldSolver:
    """Scores values of C for one family and gamma at a time, on the rows of a round.

    Parameters
    ----------
    X : (m, p) array or CSR matrix
        The rows of the round, not scaled.
    folds : Folds
        The folds on these rows.
    make_kernel : callable
        Called with the kernel of a family, and gamma.
    task : FoldTask
    scoring : Scoring
    tol : float
    memory_limit : float or None
        Bytes.
    seed : int
    deadline : Deadline
    report : FitReport
        The report of the fit.
    n_final : int
        Number of rows of the final fit.
    results : Results
        Receives the candidates.
    log : RoundLog
        Log of the round of the search.
    cells : TrainingConfig or None
        Configuration of models of cells; None for models on the exact kernel.
    scales : CommonScales or None
        None if every fold learns its own scales.
    keeps_best : bool
        Whether to keep the models of the best candidate of every family.
    groups : dict
        Receives the scaled rows, which rounds with the same rows share.

    Attributes
    ----------
    best : dict
        The best candidate of every family, if they are kept.
    """

    X: Rows
    folds: Folds
    make_kernel: Callable[[Any, float], Kernel]
    task: FoldTask
    scoring: Scoring
    tol: float
    memory_limit: float | None
    seed: int
    deadline: Deadline
    report: FitReport
    n_final: int
    results: Results
    log: RoundLog
    cells: TrainingConfig | None = None
    scales: CommonScales | None = None
    keeps_best: bool = False
    groups: dict[Any, list[Group]] = field(default_factory=dict)
    best: dict[Family, Finalist] = field(default_factory=dict, init=False)

    @property
    def n_rows(self) -> int:
        """Number of rows of the folds."""
        return int(self.folds.rows.size)

    def score(self, family: Family, gamma: float, Cs: list[float]) -> NDArray[np.float64]:
        """Return the scores, (n_Cs, n_folds), with NaN for a C whose folds were cut short."""
        return self._score(self.task, family, gamma, Cs)

    def score_epsilon(self, candidate: Candidate, epsilon: float) -> NDArray[np.float64]:
        """Return the scores of a candidate with another epsilon, (1, n_folds)."""
        task, (family, gamma, C, _) = self.task.with_tube(epsilon), candidate
        return self._score(task, family, gamma, [C])

    def _score(
        self, task: FoldTask, family: Family, gamma: float, Cs: list[float]
    ) -> NDArray[np.float64]:
        scores = np.full((len(Cs), len(self.folds.splits)), np.nan)
        fitter = self._fitter(task, family, gamma, self.cells)
        groups = self._grouped(family)
        step = fitter.Cs_at_once(groups)
        for begin in range(0, len(Cs), step):
            for C, models in self._train(fitter, groups, Cs[begin : begin + step]).items():
                candidate = Candidate(family, gamma, C, task.tube)
                scores[Cs.index(C)] = self._score_models(candidate, models)
        self.log.add(family, gamma, Cs, mean_scores(scores).tolist())
        return scores

    def _fitter(
        self, task: FoldTask, family: Family, gamma: float, cells: TrainingConfig | None
    ) -> FoldFitter:
        limit = self.memory_limit
        memory = DEFAULT_MEMORY if limit is None else limit / 2
        kernel = self.make_kernel(family.kernel, gamma)
        return FoldFitter(task, kernel, self.tol, memory, self.deadline, cells)

    def _grouped(self, family: Family) -> list[Group]:
        """Return the scaled rows; families share them, unless scales are learned for a kernel."""
        key = family if family.scaling in LEARNED else family.scaling
        if key not in self.groups:
            self.groups[key] = make_groups(self.X, self.folds, self._scaling_by(family))
        return self.groups[key]

    def _scaling_by(self, family: Family) -> Callable[[NDArray[np.int64]], Scaling] | None:
        """Return the function that computes the scaling of training rows; None without scaling."""
        if family.scaling is None:
            return None
        if family.scaling not in LEARNED:
            return lambda train: Scaling.of(self.X[train], family.scaling)
        base, scales = base_of(family.scaling), self.scales
        if scales is not None:
            factors = scales.of(family).factors
            return lambda train: Scaling.of(self.X[train], base).times(factors)

        def learn(train: NDArray[np.int64]) -> Scaling:
            scaling, _ = learn_for_folds(
                self.X[train], self.folds.rows[train], family, self.task, self.seed, self.deadline,
                self.memory_limit, SCALE_ROWS,
            )  # fmt: skip
            return scaling

        return learn

    def _score_models(self, candidate: Candidate, models: list[FoldModel]) -> NDArray[np.float64]:
        """Score the models of a candidate, (n_folds,), and add it to the results."""
        failed = self.scoring.failed_folds
        trained = [model for f, model in enumerate(models) if f not in failed]
        found: list[dict[str, float]] = []
        seconds = []
        for f, model in enumerate(models):
            begin = time.perf_counter()
            if f in failed:
                found.append({})
            else:
                fitted, X = self.task.estimator(candidate, model, trained)
                found.append(self.scoring(fitted, X, model.test))
            seconds.append(time.perf_counter() - begin)
        scores = self.scoring.by_name(found)
        fit_times = np.array([model.seconds for model in models])
        times = fit_times, np.array(seconds)
        self.results.add(candidate, *times, scores, self.log.round, self.n_rows)
        own = self.scoring.of_search(scores)
        if self.keeps_best and not np.isnan(own).any():
            finalist = Finalist(candidate, own, trained)
            before = self.best.setdefault(candidate.family, finalist)
            if finalist.is_better_than(before):
                self.best[candidate.family] = finalist
        return own

    def again(self, finalist: Finalist) -> Finalist | None:
        """Return a candidate with other cells; None without cells, or if the time is up."""
        if self.cells is None:
            return None
        family, gamma, C, _ = finalist.candidate
        others = replace(self.cells, seed=self.cells.seed + 1)
        fitter = self._fitter(self.task, family, gamma, others)
        found = self._train(fitter, self._grouped(family), [C]).get(C)
        failed = self.scoring.failed_folds
        if found is None:
            return None
        return finalist._replace(models=[m for f, m in enumerate(found) if f not in failed])

    def score_mean(self, finalists: list[Finalist]) -> NDArray[np.float64]:
        """Return the scores of the mean of some candidates, (n_folds,)."""
        candidates, models = [one.candidate for one in finalists], [one.models for one in finalists]
        found: list[dict[str, float]] = []
        for f in range(len(self.folds.splits)):
            if f in self.scoring.failed_folds:
                found.append({})
                continue
            n_before = sum(bool(one) for one in found)
            fitted, X = self.task.mean_estimator(candidates, models, n_before)
            found.append(self.scoring(fitted, X, models[0][n_before].test))
        return self.scoring.of_search(self.scoring.by_name(found))

    def _train(
        self, fitter: FoldFitter, groups: list[Group], Cs: list[float]
    ) -> dict[float, list[FoldModel]]:
        """Models of the folds by C, without those that were cut short."""
        first = not self.results.gammas
        if not first and self.deadline.stop() is not None:
            return {}
        begin = time.perf_counter()
        with self.report.stage("folds", goal=self.tol):
            fits = fitter.fit(groups, Cs)
        seconds = time.perf_counter() - begin
        if not first and self.deadline.cut_short:  # only the first scores may be rough
            fits = {C: found for C, found in fits.items() if all(fit.finished for fit in found)}
        tests = [
            (group.scaling, group.folds.rows[test])
            for group in groups
            for _, test in group.folds.splits
        ]
        share = seconds / (len(Cs) * len(tests))
        self.deadline.final = FINAL_MODELS * share * self.n_final / self.n_rows
        return {
            C: [
                FoldModel(fit.result, scaling, test, fit.values, share)
                for fit, (scaling, test) in zip(found, tests, strict=True)
            ]
            for C, found in fits.items()
        }
