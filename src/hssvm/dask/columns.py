"""What is to be learned, as something small that travels to the workers and makes the problem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hssvm.estimators.precision import in_precision_of_rows
from hssvm.hss import HSSMatrix
from hssvm.kernels.base import Floats
from hssvm.problems import OneClassProblem, Problem, SVCProblem, SVRProblem
from hssvm.problems.parts import Parts


class Columns(Protocol):
    """Makes the problem of a part from its rows."""

    def problem(
        self, y: NDArray[Any] | None, weight: Floats, matrix: HSSMatrix, parts: Parts
    ) -> Problem:
        """Return the problem for targets (n,), weights (n,) and the kernel matrix of a part."""
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
        self, y: NDArray[Any] | None, weight: Floats, matrix: HSSMatrix, parts: Parts
    ) -> SVCProblem:
        """Return the problem; y are numbers of classes."""
        assert y is not None
        classes = np.arange(self.class_weight.size)
        signs = np.where(y[:, None] == (classes[1:] if classes.size == 2 else classes), 1.0, -1.0)
        cost = weight * self.class_weight[y]
        bound = in_precision_of_rows(signs * cost[:, None] * self.Cs, matrix.dtype, "C")
        return SVCProblem(bound, parts)


@dataclass(frozen=True, eq=False)
class ValueColumn:
    """A function of the rows."""

    C: float
    epsilon: float

    def problem(
        self, y: NDArray[Any] | None, weight: Floats, matrix: HSSMatrix, parts: Parts
    ) -> SVRProblem:
        """Return the problem; y are the values."""
        assert y is not None
        bound = in_precision_of_rows(self.C * weight, matrix.dtype, "C")
        y = in_precision_of_rows(y, matrix.dtype, "y")
        return SVRProblem(y[:, None], bound[:, None], np.array([self.epsilon]), parts)


@dataclass(frozen=True, eq=False)
class NoveltyColumn:
    """Where the rows are."""

    nu: float

    def problem(
        self, y: NDArray[Any] | None, weight: Floats, matrix: HSSMatrix, parts: Parts
    ) -> OneClassProblem:
        """Return the problem."""
        diagonal = matrix.kernel.diag(matrix.X).astype(np.float64)
        bound = in_precision_of_rows(weight, matrix.dtype, "sample_weight")
        return OneClassProblem(bound[:, None], np.array([self.nu]), parts, diagonal)
