"""What is to be learned, as something small that travels to the workers and makes the problem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hssvm.kernels.base import Floats
from hssvm.problems import OneClassProblem, Problem, SVCProblem, SVRProblem
from hssvm.problems.parts import Parts


class Columns(Protocol):
    """Makes the problem of a part from its rows."""

    def problem(
        self, y: NDArray[Any] | None, weight: Floats, dtype: np.dtype[Any], parts: Parts
    ) -> Problem:
        """Return the problem for targets (n,) and weights (n,) of a part."""
        ...


@dataclass(frozen=True, eq=False)
class ClassColumns:
    """Classes, one against the rest, or two classes for several C.

    Attributes
    ----------
    class_weight : (n_classes,)
    Cs : (k,)
    """

    class_weight: NDArray[np.float64]
    Cs: NDArray[np.float64]

    def problem(
        self, y: NDArray[Any] | None, weight: Floats, dtype: np.dtype[Any], parts: Parts
    ) -> SVCProblem:
        """Return the problem; y are numbers of classes."""
        assert y is not None
        classes = np.arange(self.class_weight.size)
        signs = np.where(y[:, None] == (classes[1:] if classes.size == 2 else classes), 1.0, -1.0)
        cost = weight * self.class_weight[y]
        return SVCProblem((signs * cost[:, None] * self.Cs).astype(dtype), parts)


@dataclass(frozen=True, eq=False)
class ValueColumn:
    """A function of the rows."""

    C: float
    epsilon: float

    def problem(
        self, y: NDArray[Any] | None, weight: Floats, dtype: np.dtype[Any], parts: Parts
    ) -> SVRProblem:
        """Return the problem; y are the values."""
        assert y is not None
        bound = (self.C * weight).astype(dtype)[:, None]
        return SVRProblem(y.astype(dtype)[:, None], bound, np.array([self.epsilon]), parts)


@dataclass(frozen=True, eq=False)
class NoveltyColumn:
    """Where the rows are."""

    nu: float

    def problem(
        self, y: NDArray[Any] | None, weight: Floats, dtype: np.dtype[Any], parts: Parts
    ) -> OneClassProblem:
        """Return the problem."""
        return OneClassProblem(weight.astype(dtype)[:, None], np.array([self.nu]), parts)
