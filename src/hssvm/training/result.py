"""The result of training."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hssvm.kernels.base import Floats, Kernel, Rows
from hssvm.predictors import ExpansionPredictor, LeafwisePredictor, PairwisePredictor
from hssvm.predictors.votes import PAIR_VALUES, values_by_class
from hssvm.problems import PairsProblem, Problem
from hssvm.training.report import FitReport


@dataclass(frozen=True, eq=False)
class TrainingResult:
    """A trained model.

    Attributes
    ----------
    problem : Problem or PairsProblem
    kernel : Kernel
    X : (n, p) array or CSR matrix
        The training rows.
    Z : (n, k)
        Signed coefficients: of the solution on the exact kernel if `report.exact_kernel`, else the
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
        Identifies the data and the parameters; see `hssvm.training.forest.fingerprint`.
    """

    problem: Problem | PairsProblem
    kernel: Kernel
    X: Rows
    Z: Floats
    intercept: NDArray[np.float64]
    compressed: LeafwisePredictor | None
    report: FitReport
    first_Z: Floats | None = None
    out_of_fold: Floats | None = None
    fingerprint: int = 0

    @cached_property
    def support(self) -> NDArray[np.int64]:
        """Indices of the support vectors, (s,), by class for a `PairsProblem`."""
        support = np.flatnonzero(self.Z.any(axis=1))
        if isinstance(self.problem, PairsProblem):
            support = support[np.argsort(self.problem.codes[support], kind="stable")]
        return support

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
        if isinstance(self.problem, PairsProblem):
            codes, n_classes = self.problem.codes[self.support], self.problem.n_classes
            counts = np.bincount(codes, minlength=n_classes)
            return PairwisePredictor(self.kernel, self.support_vectors, self.coefficients, counts)
        return ExpansionPredictor(self.kernel, self.support_vectors, self.coefficients)

    def decisions(self, X: Rows) -> Floats:
        """Decision values on the exact kernel, (m, k); (m, n_classes) for a `PairsProblem`.

        The values of pairs are computed for some rows at a time.
        """
        predictor, intercept = self.exact, self.intercept.astype(self.problem.dtype)
        if not isinstance(self.problem, PairsProblem):
            return predictor(X) + intercept
        n_classes = self.problem.n_classes
        values: Floats = np.empty((X.shape[0], n_classes), self.problem.dtype)
        step = max(1, PAIR_VALUES // self.problem.n_pairs)
        for begin in range(0, X.shape[0], step):
            chunk = slice(begin, begin + step)
            values[chunk] = values_by_class(predictor(X[chunk]) + intercept, n_classes)
        return values
