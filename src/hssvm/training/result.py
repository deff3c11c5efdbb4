"""The result of training."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hssvm.kernels.base import Floats, Kernel, Rows
from hssvm.predictors import ExpansionPredictor, LeafwisePredictor, expansion_predictor
from hssvm.problems import BaseProblem
from hssvm.training.reports.report import FitReport


@dataclass(frozen=True, eq=False)
class TrainingResult:
    """A trained model.

    Attributes
    ----------
    problem : BaseProblem
    kernel : Kernel
    X : (n, p) array or CSR matrix
        The training rows.
    Z : (n, k)
        Signed coefficients of the solution on the exact kernel if `report.exact_kernel`, else the
        mean of the solutions on the compressed kernels. Packed for a `PairsProblem`.
    intercept : (k,) float64
    compressed : LeafwisePredictor or None
        Predicts with the compressed kernels; None if the fit was exact, or the compressor does
        not extend to new points.
    report : FitReport
    first_Z : (n, k) or None
        Coefficients of the first tree, for checks: the mean of several has more support vectors,
        and fewer at the bounds. None if it was trained in an earlier fit.
    out_of_fold : (n, k) or None
        Mean out-of-fold decision values at the training rows.
    fingerprint : int
        Identifies the data and the parameters; see `hssvm.training.routes.forest.forest`.
    seed : int
        Seed of the plan.
    """

    problem: BaseProblem
    kernel: Kernel
    X: Rows
    Z: Floats
    intercept: NDArray[np.float64]
    compressed: LeafwisePredictor | None
    report: FitReport
    first_Z: Floats | None = None
    out_of_fold: Floats | None = None
    fingerprint: int = 0
    seed: int = 0

    @cached_property
    def support(self) -> NDArray[np.int64]:
        """Indices of the support vectors, (s,), by class for a `PairsProblem`."""
        return self.problem.support(self.Z)

    @cached_property
    def support_vectors(self) -> Rows:
        """Rows with nonzero coefficients, (s, p)."""
        return self.X[self.support]

    @cached_property
    def coefficients(self) -> Floats:
        """Signed coefficients of the support vectors, (s, k)."""
        return self.Z[self.support]

    @property
    def exact(self) -> ExpansionPredictor:
        """Predictor with the exact kernel."""
        counts = self.problem.class_counts(self.support)
        return expansion_predictor(self.kernel, self.support_vectors, self.coefficients, counts)

    def decisions(self, X: Rows) -> Floats:
        """Decision values on the exact kernel, (m, k); (m, n_classes) for a `PairsProblem`."""
        return self.exact.decisions(X, self.intercept)
