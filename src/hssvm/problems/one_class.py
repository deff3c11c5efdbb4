"""The dual of the one-class support vector machine."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm.kernels.base import Floats
from hssvm.problems.base import Problem
from hssvm.problems.parts import ALONE, Parts


class OneClassProblem(Problem):
    """``min 1/2 z'Kz`` with z between 0 and ``bound``, and ``sum z = nu sum bound``.

    The primal is ``1/2 |w|^2 + b nu sum bound + sum_i bound_i max(0, -(f_i + b))``: a share nu of
    the rows, at most, has a negative decision value. (-b is the rho of Schoelkopf et al., 2001.)

    Parameters
    ----------
    bound : (n, k)
        Weight of the row.
    nu : (k,)
    parts : Parts, default=ALONE
        See `Problem`.
    diagonal : (n,), optional
        Of K, for kernels that can be negative; see `floor`.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.problems import OneClassProblem
    >>> OneClassProblem(np.ones((4, 2)), np.array([0.25, 0.5])).total
    array([1., 2.])
    """

    def __init__(
        self,
        bound: Floats,
        nu: NDArray[np.float64],
        parts: Parts = ALONE,
        diagonal: NDArray[np.float64] | None = None,
    ) -> None:
        self.nu = nu
        self.diagonal = diagonal
        total = nu * parts.sum(bound.sum(axis=0, dtype=np.float64))
        super().__init__(bound, np.zeros_like(bound), np.zeros(bound.shape[1]), total, parts)

    def columns(self, index: NDArray[Any]) -> OneClassProblem:
        """Return the problem of some of the columns."""
        return OneClassProblem(self.bound[:, index], self.nu[index], self.parts, self.diagonal)

    def floor(self, j: int, z: NDArray[np.float64]) -> float:
        """``1/2 sum K_ii z_i^2``, the optimal value if the rows were orthogonal to each other.

        A kernel without negative values has an optimum above this. With others, such as the
        linear kernel on centered rows, the terms of ``z'Kz`` may cancel down to 0; LIBSVM then
        stops by differences of gradients below tol, a gap of about ``tol sum z``, which is this
        floor for a kernel with ones on its diagonal.
        """
        return 0.0 if self.diagonal is None else float(self.diagonal @ z**2) / 2

    def scale(self) -> NDArray[np.float64]:
        """Largest bound over the total, (k,): decision values are of the size of the total."""
        return self.parts.max(self.bound.max(axis=0).astype(np.float64)) / self.total

    def losses(
        self, rows: NDArray[np.int64], F: Floats, intercept: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Distance below 0 times weight."""
        return self.bound[rows].astype(np.float64) * np.maximum(0, -(F + intercept))

    def bends(
        self, j: int, f: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
        """The slope, the total minus the weights on the far left, rises by them at -f."""
        weight = self.bound[:, j].astype(np.float64)
        return -f, weight, float((1 - self.nu[j]) * weight.sum())
