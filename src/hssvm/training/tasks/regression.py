"""Learning tasks: small objects that turn targets into problems.

They are the same on one machine and on a cluster, where they are sent to the workers, which create
the problem of each part from its rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from hssvm.comm import SERIAL, Communicator
from hssvm.kernels.base import Floats, Kernel, Rows
from hssvm.problems import (
    BaseProblem,
    OneClassProblem,
    PairsProblem,
    QuantileProblem,
    SVCProblem,
    SVRProblem,
)
from hssvm.training.data.precision import in_precision_of_rows


class Targets(NamedTuple):
    """Targets of a regression that stands in for a task.

    Attributes
    ----------
    Y : (n, k)
        The targets, or a column of 0 and 1 for each class; one column for two classes.
    classes : bool
        Whether they are classes.
    """

    Y: Floats
    classes: bool


def class_targets(codes: NDArray[np.int64], n_classes: int) -> Targets:
    """Return the targets of classes, given their indices (n,)."""
    columns = np.arange(n_classes)[1 if n_classes == 2 else 0 :]
    return Targets((codes[:, None] == columns).astype(np.float64), classes=True)


def value_targets(y: NDArray[Any] | None) -> Targets:
    """Return the targets of a regression, given its values, (n,) or (n, t).

    Several columns have the same variance, so that all of them count.
    """
    assert y is not None
    Y = y.reshape(len(y), -1).astype(np.float64)
    spread = Y.std(axis=0)
    return Targets(Y / np.where(spread > 0, spread, 1) if Y.shape[1] > 1 else Y, classes=False)


class Task(Protocol):
    """Creates a problem from rows and targets."""

    def problem(
        self,
        X: Rows,
        y: NDArray[Any] | None,
        weight: Floats,
        kernel: Kernel,
        communicator: Communicator = SERIAL,
        *,
        exact: bool = False,
    ) -> BaseProblem:
        """Return the problem for rows (n, p), targets (n,) and sample weights (n,).

        If the solution is `exact`, each pair of classes can be a problem on its own rows only.
        """
        ...

    def of_sample(self, y: NDArray[Any] | None) -> tuple[Task, NDArray[Any] | None]:
        """Return the task and the targets for a sample of the rows, which may lack classes."""
        ...

    def targets(self, y: NDArray[Any] | None) -> Targets:
        """Return the targets from which scales are learned."""
        ...


@dataclass(frozen=True, eq=False)
class Classification:
    """Classification of two or more classes, also for several values of C.

    Attributes
    ----------
    class_weight : (n_classes,)
        Factors on C.
    Cs : (m,)
        The columns of the first value come first.
    multi_class : {'auto', 'ovo', 'ovr'}
        Whether the columns of more than two classes are one-vs-rest, or the pairs, in which the
        rows of the other classes are excluded and the first class is positive. 'auto' means pairs
        if the solution is exact.
    """

    class_weight: NDArray[np.float64]
    Cs: NDArray[np.float64]
    multi_class: Literal["auto", "ovo", "ovr"] = "ovr"

    def bound(
        self, y: NDArray[np.int64], weight: Floats, dtype: Any, *, one_vs_one: bool = False
    ) -> Floats:
        """Signed bounds of the coefficients, (n, k), for class indices `y`."""
        classes = np.arange(self.class_weight.size)
        if one_vs_one:
            first, second = np.triu_indices(classes.size, 1)
            signs = (y[:, None] == first) * 1.0 - (y[:, None] == second)
        else:
            positive = classes[1:] if classes.size == 2 else classes
            signs = np.where(y[:, None] == positive, 1.0, -1.0)
        cost = weight * self.class_weight[y]
        bound = signs[:, None, :] * cost[:, None, None] * self.Cs[:, None]
        return in_precision_of_rows(bound.reshape(y.size, -1), dtype, "C")

    def pairs(self, y: NDArray[np.int64], weight: Floats, dtype: Any) -> PairsProblem:
        """Return a problem for every pair of classes, for class indices `y` and a single C."""
        cost = in_precision_of_rows(weight * self.class_weight[y] * self.Cs[0], dtype, "C")
        return PairsProblem(y, cost, self.class_weight.size)

    def problem(
        self,
        X: Rows,
        y: NDArray[Any] | None,
        weight: Floats,
        kernel: Kernel,
        communicator: Communicator = SERIAL,
        *,
        exact: bool = False,
    ) -> SVCProblem | PairsProblem:
        """Return the problem for class indices `y`."""
        assert y is not None
        asked = self.multi_class == "ovo" or (self.multi_class == "auto" and exact)
        one_vs_one = asked and self.class_weight.size > 2
        if one_vs_one and exact:
            return self.pairs(y, weight, X.dtype)
        return SVCProblem(self.bound(y, weight, X.dtype, one_vs_one=one_vs_one), communicator)

    def of_sample(self, y: NDArray[Any] | None) -> tuple[Classification, NDArray[Any] | None]:
        """Return the task and the class indices for the classes that occur in a sample."""
        assert y is not None
        present, codes = np.unique(y, return_inverse=True)
        return replace(self, class_weight=self.class_weight[present]), codes

    def targets(self, y: NDArray[Any] | None) -> Targets:
        """Return a column for each class."""
        assert y is not None
        return class_targets(y, self.class_weight.size)


@dataclass(frozen=True, eq=False)
class Regression:
    """Regression of one or several targets, which are the columns.

    Attributes
    ----------
    C, epsilon : float
    center : float or (t,) array
        Subtracted from y, as values far from 0 would lose digits in float32. It must be added to
        the intercept of the solution.
    """

    C: float
    epsilon: float
    center: Any = 0.0

    def problem(
        self,
        X: Rows,
        y: NDArray[Any] | None,
        weight: Floats,
        kernel: Kernel,
        communicator: Communicator = SERIAL,
        *,
        exact: bool = False,
    ) -> SVRProblem:
        """Return the problem for target values `y`, (n,) or (n, t)."""
        assert y is not None
        cost = in_precision_of_rows(self.C * weight, X.dtype, "C")
        Y = in_precision_of_rows(y - self.center, X.dtype, "y").reshape(len(y), -1)
        return self._dual(Y, np.repeat(cost[:, None], Y.shape[1], axis=1), communicator)

    def _dual(self, Y: Floats, cost: Floats, communicator: Communicator) -> SVRProblem:
        """Return the problem for targets and costs, (n, t) each."""
        return SVRProblem(Y, cost, np.full(Y.shape[1], self.epsilon, np.float64), communicator)

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
class NoveltyDetection:
    """Novelty detection.

    Attributes
    ----------
    nu : float
    """

    nu: float

    def problem(
        self,
        X: Rows,
        y: NDArray[Any] | None,
        weight: Floats,
        kernel: Kernel,
        communicator: Communicator = SERIAL,
        *,
        exact: bool = False,
    ) -> OneClassProblem:
        """Return the problem; `y` is ignored."""
        diagonal = kernel.diag(X).astype(np.float64)
        bound = in_precision_of_rows(weight, X.dtype, "sample_weight")
        nu = np.array([self.nu], np.float64)
        return OneClassProblem(bound[:, None], nu, communicator, diagonal)

    def of_sample(self, y: NDArray[Any] | None) -> tuple[NoveltyDetection, NDArray[Any] | None]:
        """Return the task and the targets for a sample of the rows."""
        return self, y

    def targets(self, y: NDArray[Any] | None) -> Targets:
        """Raise ValueError: there are none."""
        raise ValueError("novelty detection has no targets to learn scales from")


def raised_intercept(intercept: NDArray[np.float64], dtype: Any) -> NDArray[np.float64]:
    """Raise the intercept of a one-class model by the rounding error.

    Support vectors on the boundary, with a decision value of 0, then count as inside.
    """
    return intercept + np.finfo(dtype).eps ** 0.5 * np.abs(intercept)
