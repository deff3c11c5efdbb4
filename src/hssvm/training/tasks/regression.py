"""Regression of values, quantiles, and values that may be censored."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from hssvm.comm import SERIAL, Communicator
from hssvm.kernels.base import Floats, Kernel, Rows
from hssvm.problems import (
    CensoredProblem,
    HuberProblem,
    LeastSquaresProblem,
    Problem,
    QuantileProblem,
    RegressionProblem,
    SquaredSVRProblem,
    SVRProblem,
)
from hssvm.training.data.censoring import gehan_scores, known_ends
from hssvm.training.data.checks import at_bound, check_target
from hssvm.training.data.precision import in_precision_of_rows
from hssvm.training.tasks.base import Targets, value_targets

LOSSES: dict[str, type[SVRProblem | SquaredSVRProblem | HuberProblem]] = {
    "epsilon_insensitive": SVRProblem,
    "squared_epsilon_insensitive": SquaredSVRProblem,
    "huber": HuberProblem,
}
"""The problems of the losses of regressions with an epsilon."""


@dataclass(frozen=True, eq=False)
class Regression:
    """Regression of one or several targets, which are the columns.

    Attributes
    ----------
    C, epsilon : float
    center : float or (t,) array
        Subtracted from y, as values far from 0 would lose digits in float32. It must be added to
        the intercept of the solution.
    loss : {'epsilon_insensitive', 'squared_epsilon_insensitive', 'huber'}
    """

    cost_name: ClassVar[str] = "C"
    """The parameter that determines the costs of rows, in messages."""

    C: float
    epsilon: float
    center: Any = 0.0
    loss: Literal["epsilon_insensitive", "squared_epsilon_insensitive", "huber"] = (
        "epsilon_insensitive"
    )

    def problem(
        self,
        X: Rows,
        y: NDArray[Any] | None,
        weight: Floats,
        kernel: Kernel,
        communicator: Communicator = SERIAL,
        *,
        exact: bool = False,
    ) -> RegressionProblem:
        """Return the problem for target values `y`, (n,) or (n, t)."""
        assert y is not None
        cost = in_precision_of_rows(self.C * weight, X.dtype, self.cost_name)
        Y = in_precision_of_rows(y - self.center, X.dtype, "y").reshape(len(y), -1)
        return self._dual(Y, np.repeat(cost[:, None], Y.shape[1], axis=1), communicator)

    def _dual(self, Y: Floats, cost: Floats, communicator: Communicator) -> RegressionProblem:
        """Return the problem for targets and costs, (n, t) each."""
        epsilon = np.full(Y.shape[1], self.epsilon, np.float64)
        return LOSSES[self.loss](Y, cost, epsilon, communicator)

    def advice(self, y: Floats, problem: Problem, Z: Floats) -> Iterator[str | None]:
        """Yield advice on C and epsilon, given the solution of each of the targets."""
        if self.loss == "huber":  # it has no tube
            return
        Y = y.reshape(len(y), -1)
        bound = np.where(Z >= 0, problem.upper, problem.lower)
        by_target = (np.split(part, Y.shape[1], axis=1) for part in (Z, bound))
        for own, *coefficients in zip(Y.T, *by_target, strict=True):
            yield check_target(own, self.C, self.epsilon, at_bound(*coefficients))

    def of_sample(self, y: NDArray[Any] | None) -> tuple[Regression, NDArray[Any] | None]:
        """Return the task and the targets for a sample of the rows."""
        return self, y

    def targets(self, y: NDArray[Any] | None) -> Targets:
        """Return the target values as a column."""
        return value_targets(y)


@dataclass(frozen=True, eq=False)
class QuantileRegression(Regression):
    """Regression of several quantiles; it has no tube.

    Attributes
    ----------
    quantiles : tuple of float
        Of the columns, between 0 and 1.
    """

    epsilon: float = 0.0
    quantiles: tuple[float, ...] = (0.5,)

    def _dual(self, Y: Floats, cost: Floats, communicator: Communicator) -> QuantileProblem:
        k = len(self.quantiles)
        Y, cost = np.repeat(Y, k, axis=1), np.repeat(cost, k, axis=1)
        return QuantileProblem(Y, cost, np.array(self.quantiles), communicator)


@dataclass(frozen=True, eq=False)
class RidgeRegression(Regression):
    """Kernel ridge regression with the ridge 1 / C; it has no tube."""

    cost_name: ClassVar[str] = "1 / alpha"

    epsilon: float = 0.0

    def _dual(self, Y: Floats, cost: Floats, communicator: Communicator) -> LeastSquaresProblem:
        with np.errstate(divide="ignore", over="ignore"):
            return LeastSquaresProblem(Y, 1 / cost[:, 0], communicator)

    def advice(self, y: Floats, problem: Problem, Z: Floats) -> Iterator[str | None]:
        """Yield nothing: there are no bounds."""
        yield from ()


@dataclass(frozen=True, eq=False)
class CensoredRegression(Regression):
    """Regression of a target of which only one end may be known, (n, 2)."""

    def problem(
        self,
        X: Rows,
        y: NDArray[Any] | None,
        weight: Floats,
        kernel: Kernel,
        communicator: Communicator = SERIAL,
        *,
        exact: bool = False,
    ) -> CensoredProblem:
        """Return the problem for the ends of the targets."""
        assert y is not None
        cost = in_precision_of_rows(self.C * weight, X.dtype, "C")[:, None]
        known = in_precision_of_rows(known_ends(y) - self.center, X.dtype, "y")[:, None]
        low, high = (np.where(np.isinf(end), end, known) for end in np.split(y, 2, axis=1))
        epsilon = np.array([self.epsilon], np.float64)
        return CensoredProblem(
            low.astype(X.dtype), high.astype(X.dtype), cost, epsilon, communicator
        )

    def advice(self, y: Floats, problem: Problem, Z: Floats) -> Iterator[str | None]:
        """Yield advice on C and epsilon, from the rows whose targets are known."""
        known = np.flatnonzero(np.isfinite(y).all(axis=1))
        if known.size:
            yield from super().advice(y[known, 0], problem.rows(known), Z[known])

    def targets(self, y: NDArray[Any] | None) -> Targets:
        """Return the ranks of the targets as a column."""
        assert y is not None
        return value_targets(gehan_scores(y))
