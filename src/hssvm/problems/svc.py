"""The dual of the C-support vector classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm.comm import SERIAL, Communicator
from hssvm.kernels.base import Floats
from hssvm.problems.base import Problem


class SVCProblem(Problem):
    """``min 1/2 z'Kz - |z|_1`` with z between 0 and ``bound``, and ``sum z = 0``.

    The primal is ``1/2 |w|^2 + sum_i |bound_i| max(0, 1 - sign(bound_i) (f_i + b))``.

    Parameters
    ----------
    bound : (n, k)
        The sign is the label of the row, the absolute value its C times its weights. 0 excludes a
        row, as in cross-validation: its z stays 0.
    communicator : Communicator, default=SERIAL
        See `Problem`.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.problems import SVCProblem
    >>> y = np.array([1.0, -1.0, -1.0])
    >>> problem = SVCProblem(y[:, None] * [0.1, 10.0])  # two values of C
    >>> problem.n, problem.k
    (3, 2)
    """

    sparse_solution = True
    clip = 3.0

    def __init__(self, bound: Floats, communicator: Communicator = SERIAL) -> None:
        zero = np.zeros(bound.shape[1])
        super().__init__(bound, np.sign(bound), zero, zero, communicator)

    def columns(self, index: NDArray[Any]) -> SVCProblem:
        """Return the problem restricted to the given columns."""
        return SVCProblem(self.bound[:, index], self.communicator)

    def rows(self, index: NDArray[Any]) -> SVCProblem:
        """Return the problem restricted to the given rows."""
        return SVCProblem(self.bound[index], self.communicator)

    @property
    def strata(self) -> NDArray[np.int64]:
        """Rows with the same labels in all columns, (n,)."""
        keys = np.random.default_rng(0).integers(2**40, size=self.k)  # sums differ if labels do
        return np.unique(self.linear.astype(np.int64) @ keys, return_inverse=True)[1]

    def scale(self) -> NDArray[np.float64]:
        """Largest ``|bound|``, (k,)."""
        return self.communicator.allreduce(np.abs(self.bound).max(axis=0).astype(np.float64), "max")

    def losses(
        self, rows: NDArray[np.int64], F: Floats, intercept: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Cost times hinge loss."""
        cost = np.abs(self.bound[rows].astype(np.float64))
        return cost * np.maximum(0, 1 - self.linear[rows] * (F + intercept))

    def breakpoints(
        self, j: int, f: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
        """The slope increases by the cost of a row at the b for which f + b is its label."""
        cost, sign = np.abs(self.bound[:, j].astype(np.float64)), self.linear[:, j]
        return sign - f, cost, float(cost[sign > 0].sum())
