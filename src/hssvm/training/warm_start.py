"""What a fit may reuse from the last one: coefficients to start from, and trees to keep."""

from __future__ import annotations

import logging
from copy import deepcopy
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hssvm.kernels.base import Floats, Kernel, Rows
from hssvm.predictors import LeafwisePredictor
from hssvm.problems import BaseProblem
from hssvm.training.plan import TrainingPlan, cell_rows
from hssvm.training.reports.report import FitReport
from hssvm.training.routes.forest.forest import Forest, fingerprint

logger = logging.getLogger(__name__)

COMPLETE = {"CONVERGED", "FEWER_TREES"}
"""Statuses of forests to which trees can be added."""


@dataclass(frozen=True, eq=False)
class LastFit:
    """The model of the last fit.

    Attributes
    ----------
    report : FitReport
    support : (s,) int64
    coefficients : (s, k)
    compressed : LeafwisePredictor or None
    out_of_fold : (n, k) or None
    fingerprint, seed : int
        See `hssvm.training.routes.forest.forest.fingerprint`.
    """

    report: FitReport
    support: NDArray[np.int64]
    coefficients: Floats
    compressed: LeafwisePredictor | None
    out_of_fold: Floats | None
    fingerprint: int
    seed: int

    def start(self, problem: BaseProblem) -> Floats | None:
        """Coefficients (n, k), which may be infeasible now; None if they have another shape."""
        if (self.report.n_rows, self.coefficients.shape[1]) != (problem.n, problem.k):
            logger.info("warm start: the last fit had different rows or classes; starting at 0")
            return None
        Z: Floats = np.zeros((problem.n, problem.k), problem.dtype)
        Z[self.support] = self.coefficients
        return Z

    def forest(self, plan: TrainingPlan, n_rows: int) -> Forest | None:
        """Return the trees, to which others can be added; None if there are none.

        They can be reused only if the fingerprint of data and parameters is unchanged. The
        report is a copy: the model stays as it is if the fit fails.
        """
        if self.compressed is None or not self._is_complete(plan, n_rows):
            return None
        return Forest.of(
            self.fingerprint,
            deepcopy(self.report),
            self.compressed,
            self.support,
            self.coefficients,
            n_rows,
            self.out_of_fold,
        )

    def keep_cells(
        self, plan: TrainingPlan, problem: BaseProblem, kernel: Kernel, X: Rows
    ) -> TrainingPlan:
        """Return the plan with cells as large as those of the last fit, if this keeps its trees.

        The size that a plan chooses depends on the number of trees and on the time.
        """
        n, n_cells = problem.n, self.report.n_cells
        if n_cells == 0 or not self._is_complete(plan, n):
            return plan
        same = replace(plan, leaf_size=cell_rows(n, -(-n // n_cells)))
        identity = fingerprint(problem.part(0).problem, kernel, X, same)
        return same if identity == self.fingerprint else plan

    def _is_complete(self, plan: TrainingPlan, n_rows: int) -> bool:
        """Whether there are trees to which others can be added, if the fingerprint allows it."""
        if self.compressed is None or self.compressed.ids is None:
            return False
        lacks_folds = plan.n_folds > 0 and self.out_of_fold is None
        complete = COMPLETE.issuperset(self.report.status)
        return self.report.n_rows == n_rows and complete and not lacks_folds
