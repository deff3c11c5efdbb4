"""Novelty detection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm.comm import SERIAL, Communicator
from hssvm.kernels.base import Floats, Kernel, Rows
from hssvm.problems import OneClassProblem
from hssvm.training.data.precision import in_precision_of_rows
from hssvm.training.tasks.base import Targets


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
