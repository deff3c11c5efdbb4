"""Cross-validation of values of C for one gamma at a time, on the exact kernel."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hssvm.kernels import Kernel
from hssvm.model_selection.fold_fitter import FoldFitter, Group
from hssvm.model_selection.fold_models import FoldModel, FoldTask
from hssvm.model_selection.folds import Folds
from hssvm.model_selection.results import Results
from hssvm.model_selection.round_log import RoundLog
from hssvm.model_selection.scoring import Scoring
from hssvm.model_selection.search import mean_scores
from hssvm.solvers import Status
from hssvm.training import FitReport, Monitor
from hssvm.training.plan import DEFAULT_MEMORY

FINAL_MODELS, FINAL_SHARE = 4, 0.5
"""Time reserved for the final fit: the time of FINAL_MODELS models of the folds, times the ratio of
the numbers of rows, and at least FINAL_SHARE of max_time."""


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


@dataclass(eq=False)
class FoldSolver:
    """Scores values of C for one gamma at a time.

    Parameters
    ----------
    groups : list of Group
    make_kernel : callable
        Called with gamma.
    task : FoldTask
    scoring : Scoring
    tol : float
    memory_limit : float or None
        Bytes.
    deadline : Deadline
    report : FitReport
        The report of the fit.
    n_final : int
        Number of rows of the final fit.
    results : Results
        Receives the candidates.
    log : RoundLog
        Log of the round of the search.
    """

    groups: list[Group]
    make_kernel: Callable[[float], Kernel]
    task: FoldTask
    scoring: Scoring
    tol: float
    memory_limit: float | None
    deadline: Deadline
    report: FitReport
    n_final: int
    results: Results
    log: RoundLog

    @property
    def folds(self) -> Folds:
        """The folds of all groups."""
        splits = [split for group in self.groups for split in group.folds.splits]
        return Folds(splits, self.groups[0].folds.rows)

    @property
    def n_rows(self) -> int:
        """Number of rows of the folds."""
        return int(self.groups[0].folds.rows.size)

    def score(self, gamma: float, Cs: list[float]) -> NDArray[np.float64]:
        """Return the scores, (n_Cs, n_folds), with NaN for a C whose folds were cut short."""
        n_folds = sum(len(group.folds.splits) for group in self.groups)
        scores = np.full((len(Cs), n_folds), np.nan)
        limit = self.memory_limit
        memory = DEFAULT_MEMORY if limit is None else limit / 2
        fitter = FoldFitter(self.task, self.make_kernel(gamma), self.tol, memory, self.deadline)
        step = fitter.Cs_at_once(self.groups)
        for begin in range(0, len(Cs), step):
            for C, models in self._train(fitter, Cs[begin : begin + step]).items():
                scores[Cs.index(C)] = self._score_models(gamma, C, models)
        self.log.add(gamma, Cs, mean_scores(scores).tolist())
        return scores

    def _score_models(self, gamma: float, C: float, models: list[FoldModel]) -> NDArray[np.float64]:
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
                fitted, X = self.task.estimator(gamma, C, model, trained)
                found.append(self.scoring(fitted, X, model.test))
            seconds.append(time.perf_counter() - begin)
        scores = self.scoring.by_name(found)
        fit_times = np.array([model.seconds for model in models])
        self.results.add(
            gamma, C, fit_times, np.array(seconds), scores, self.log.round, self.n_rows
        )
        return self.scoring.of_search(scores)

    def _train(self, fitter: FoldFitter, Cs: list[float]) -> dict[float, list[FoldModel]]:
        """Models of the folds by C, without those that were cut short."""
        first = not self.results.gammas
        if not first and self.deadline.stop() is not None:
            return {}
        begin = time.perf_counter()
        with self.report.stage("folds", goal=self.tol):
            fits = fitter.fit(self.groups, Cs)
        seconds = time.perf_counter() - begin
        if not first and self.deadline.cut_short:  # only the first scores may be rough
            fits = {C: found for C, found in fits.items() if all(fit.finished for fit in found)}
        tests = [
            (group.scaling, group.folds.rows[test])
            for group in self.groups
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
