"""Classification of two or more classes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hssvm.comm import SERIAL, Communicator
from hssvm.kernels.base import Floats, Kernel, Rows
from hssvm.problems import PairsProblem, SquaredHingeProblem, SVCProblem
from hssvm.training.data.precision import in_precision_of_rows
from hssvm.training.tasks.base import Targets, class_targets


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
    loss : {'hinge', 'squared_hinge'}
        The squared hinge is for a single value of C.
    """

    class_weight: NDArray[np.float64]
    Cs: NDArray[np.float64]
    multi_class: Literal["auto", "ovo", "ovr"] = "ovr"
    loss: Literal["hinge", "squared_hinge"] = "hinge"

    @property
    def _problem_type(self) -> type[SVCProblem]:
        return SVCProblem if self.loss == "hinge" else SquaredHingeProblem

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
        return PairsProblem(y, cost, self.class_weight.size, problem_type=self._problem_type)

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
        bound = self.bound(y, weight, X.dtype, one_vs_one=one_vs_one)
        return self._problem_type(bound, communicator)

    def of_sample(self, y: NDArray[Any] | None) -> tuple[Classification, NDArray[Any] | None]:
        """Return the task and the class indices for the classes that occur in a sample."""
        assert y is not None
        present, codes = np.unique(y, return_inverse=True)
        return replace(self, class_weight=self.class_weight[present]), codes

    def targets(self, y: NDArray[Any] | None) -> Targets:
        """Return a column for each class."""
        assert y is not None
        return class_targets(y, self.class_weight.size)
