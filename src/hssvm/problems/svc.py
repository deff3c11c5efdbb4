"""The duals of the C-support vector classifier, with linear and squared losses."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hssvm.comm import SERIAL, Communicator
from hssvm.kernels.base import Floats
from hssvm.problems.base import Problem
from hssvm.problems.ridge import inverse_cost


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
        lower, upper = np.minimum(bound, 0), np.maximum(bound, 0)
        super().__init__(lower, upper, np.sign(bound), zero, zero, communicator)

    @property
    def strata(self) -> NDArray[np.int64]:
        """Rows with the same labels in all columns, (n,)."""
        keys = np.random.default_rng(0).integers(2**40, size=self.k)  # sums differ if labels do
        return np.unique(self.linear.astype(np.int64) @ keys, return_inverse=True)[1]


class SquaredHingeProblem(SVCProblem):
    """``min 1/2 z'Kz - |z|_1 + 1/2 sum_i z_i^2 / (2 cost_i)`` with z of the sign of the label.

    The primal is ``1/2 |w|^2 + sum_i cost_i max(0, 1 - sign_i (f_i + b))^2``.

    Parameters
    ----------
    cost : (n, k)
        As the `bound` of `SVCProblem`. All columns that do not exclude a row agree on its size.
    communicator : Communicator, default=SERIAL
        See `Problem`.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.problems import SquaredHingeProblem
    >>> problem = SquaredHingeProblem(np.array([[1.0], [-2.0]]))
    >>> problem.upper[:, 0], problem.ridge
    (array([inf,  0.]), array([0.5 , 0.25]))
    """

    def __init__(self, cost: Floats, communicator: Communicator = SERIAL) -> None:
        super().__init__(np.where(cost == 0, cost, np.copysign(np.inf, cost)), communicator)
        self.ridge = inverse_cost(2 * np.abs(cost))
