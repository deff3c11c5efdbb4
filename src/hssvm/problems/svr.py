"""The duals of epsilon-support vector regression, with linear, squared and mixed losses."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hssvm.comm import SERIAL, Communicator
from hssvm.kernels.base import Floats
from hssvm.problems.regression import RegressionProblem
from hssvm.problems.ridge import inverse_cost


class SVRProblem(RegressionProblem):
    """``min 1/2 z'Kz - y'z + epsilon |z|_1`` with ``|z| <= bound``, and ``sum z = 0``.

    The primal is ``1/2 |w|^2 + sum_i bound_i max(0, |y_i - f_i - b| - epsilon)``.

    Parameters
    ----------
    y : (n, k)
    bound : (n, k)
        C times the weight of the row; 0 excludes it.
    epsilon : (k,)
        Half-width of the tube without loss.
    communicator : Communicator, default=SERIAL
        See `Problem`.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.problems import SVRProblem
    >>> y = np.array([[0.5], [2.0], [-1.0]])
    >>> problem = SVRProblem(y, np.full((3, 1), 10.0), np.array([0.1]))
    >>> problem.n, problem.k
    (3, 1)
    """

    def __init__(
        self,
        y: Floats,
        bound: Floats,
        epsilon: NDArray[np.float64],
        communicator: Communicator = SERIAL,
    ) -> None:
        super().__init__(-bound, bound, y, epsilon, np.zeros(y.shape[1]), communicator)


class SquaredSVRProblem(RegressionProblem):
    """``min 1/2 z'Kz - y'z + epsilon |z|_1 + 1/2 sum_i z_i^2 / (2 cost_i)`` with ``sum z = 0``.

    The primal is ``1/2 |w|^2 + sum_i cost_i max(0, |y_i - f_i - b| - epsilon)^2``.

    Parameters
    ----------
    y, cost, epsilon, communicator
        As in `SVRProblem`; the columns of the cost are equal.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.problems import SquaredSVRProblem
    >>> y = np.array([[0.5], [2.0], [-1.0]])
    >>> SquaredSVRProblem(y, np.full((3, 1), 10.0), np.array([0.1])).ridge
    array([0.05, 0.05, 0.05])
    """

    def __init__(
        self,
        y: Floats,
        cost: Floats,
        epsilon: NDArray[np.float64],
        communicator: Communicator = SERIAL,
    ) -> None:
        bound = np.where(cost > 0, np.inf, 0).astype(cost.dtype)
        ridge, zero = inverse_cost(2 * cost), np.zeros(y.shape[1])
        super().__init__(-bound, bound, y, epsilon, zero, communicator, ridge)


class HuberProblem(RegressionProblem):
    """``min 1/2 z'Kz - y'z + 1/2 sum z_i^2 / cost_i``, ``|z_i| <= epsilon cost_i``, ``sum z = 0``.

    The primal is ``1/2 |w|^2`` plus the losses. The loss of an error e is ``cost e^2 / 2`` up to
    ``|e| = epsilon``, and ``cost (epsilon |e| - epsilon^2 / 2)`` beyond.

    Parameters
    ----------
    y, cost, communicator
        As in `SVRProblem`; the columns of the cost are equal.
    epsilon : (k,)
        Positive.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.problems import HuberProblem
    >>> problem = HuberProblem(np.array([[1.0], [-2.0]]), np.full((2, 1), 4.0), np.array([0.5]))
    >>> problem.upper[:, 0], problem.ridge
    (array([2., 2.]), array([0.25, 0.25]))
    """

    def __init__(
        self,
        y: Floats,
        cost: Floats,
        epsilon: NDArray[np.float64],
        communicator: Communicator = SERIAL,
    ) -> None:
        bound = (cost * epsilon).astype(cost.dtype)
        ridge, zero = inverse_cost(cost), np.zeros(y.shape[1])
        super().__init__(-bound, bound, y, zero, zero, communicator, ridge)
