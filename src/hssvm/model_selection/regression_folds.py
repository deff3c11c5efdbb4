"""The problems of a search for a regression on the rows of a fold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm.kernels.base import Floats
from hssvm.model_selection.families import Candidate
from hssvm.model_selection.fold_estimators import FoldModel, FoldQuantileSVR, FoldSVR
from hssvm.model_selection.fold_models import NO_WEIGHT, FoldTask
from hssvm.problems import QuantileProblem, RegressionProblem, SVRProblem
from hssvm.training.tasks import Targets, value_targets


@dataclass(frozen=True, eq=False)
class RegressionFolds(FoldTask):
    """Regressions.

    Attributes
    ----------
    y : (n,)
        Targets around their center.
    center : float
    epsilon : float
    searched : bool
        Whether the best epsilon is searched.
    """

    y: Floats
    center: float
    epsilon: float
    searched: bool

    @property
    def tube(self) -> float:
        """Half-width of the tube."""
        return self.epsilon

    @property
    def searches_tube(self) -> bool:
        """Whether the best half-width is searched."""
        return self.searched

    def with_tube(self, epsilon: float) -> RegressionFolds:
        """Return the same task with another epsilon."""
        return replace(self, epsilon=epsilon)

    def why_untrainable(self, rows: NDArray[np.int64]) -> str | None:
        """Return what keeps a model from being trained on some rows, or None."""
        return None if (self.weight[rows] > 0).any() else NO_WEIGHT

    def targets(self, rows: NDArray[np.int64]) -> Targets:
        """Return the target values as a column."""
        return value_targets(self.y[rows])

    def problem(self, rows: NDArray[np.int64], Cs: list[float]) -> RegressionProblem:
        """Return the problem on some rows, with a column for each C."""
        bound = self.weight[rows, None] * np.array(Cs, self.weight.dtype)
        y = np.repeat(self.y[rows, None], len(Cs), axis=1)
        return SVRProblem(y, bound, np.full(len(Cs), self.epsilon))

    def estimator(
        self, candidate: Candidate, model: FoldModel, models: list[FoldModel]
    ) -> tuple[FoldSVR, Any]:
        """Return a fitted estimator for scorers, and its test rows as the user has given them."""
        intercept = model.result.intercept + self.center
        return self._fitted(
            FoldSVR, candidate, model, epsilon=candidate.epsilon, intercept_=intercept
        )


@dataclass(frozen=True, eq=False)
class QuantileFolds(RegressionFolds):
    """Regressions of quantiles, which are the columns of each C.

    Attributes
    ----------
    quantile : float or tuple of float
    """

    quantile: float | tuple[float, ...]

    @property
    def k(self) -> int:
        """Number of quantiles."""
        return np.atleast_1d(self.quantile).size

    def problem(self, rows: NDArray[np.int64], Cs: list[float]) -> QuantileProblem:
        """Return the problem on some rows, with a column for each quantile and C."""
        cost = self.weight[rows, None] * np.repeat(np.array(Cs, self.weight.dtype), self.k)
        y = np.repeat(self.y[rows, None], cost.shape[1], axis=1)
        return QuantileProblem(y, cost, np.tile(np.atleast_1d(self.quantile), len(Cs)))

    def estimator(
        self, candidate: Candidate, model: FoldModel, models: list[FoldModel]
    ) -> tuple[FoldQuantileSVR, Any]:
        """Return a fitted estimator for scorers, and its test rows as the user has given them."""
        intercept = model.result.intercept + self.center
        return self._fitted(
            FoldQuantileSVR, candidate, model, quantile_=self.quantile, intercept_=intercept
        )
