"""What a fit may reuse from the last one: coefficients to start from, and trees to keep."""

from __future__ import annotations

import logging
from copy import deepcopy
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hssvm.kernels.base import Floats
from hssvm.predictors import LeafwisePredictor
from hssvm.problems import BaseProblem
from hssvm.training.plan import TrainingPlan
from hssvm.training.reports.report import FitReport
from hssvm.training.routes.forest.forest import Forest

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
        lacks_folds = plan.n_folds > 0 and self.out_of_fold is None
        if self.compressed is None or self.compressed.ids is None or lacks_folds:
            return None
        if self.report.n_rows != n_rows or not COMPLETE.issuperset(self.report.status):
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
