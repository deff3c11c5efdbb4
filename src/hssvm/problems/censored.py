"""The dual of regression with censored targets."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hssvm.comm import SERIAL, Communicator
from hssvm.kernels.base import Floats
from hssvm.problems.regression import RegressionProblem


class CensoredProblem(RegressionProblem):
    """The dual of `SVRProblem`, in which a row with an unknown end lacks one of its bounds.

    Only a prediction below ``low - epsilon`` or above ``high + epsilon`` has a loss. So z is not
    positive where low is unknown, and not negative where high is.

    Parameters
    ----------
    low, high : (n, k)
        Equal, or one of them infinite.
    cost : (n, k)
        C times the weight of the row; 0 excludes it.
    epsilon : (k,)
        Half-width of the tube without loss.
    communicator : Communicator, default=SERIAL
        See `Problem`.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.problems import CensoredProblem
    >>> low, high = np.array([[1.0], [2.0]]), np.array([[1.0], [np.inf]])
    >>> CensoredProblem(low, high, np.ones((2, 1)), np.zeros(1)).lower[:, 0]
    array([-1.,  0.])
    """

    def __init__(
        self,
        low: Floats,
        high: Floats,
        cost: Floats,
        epsilon: NDArray[np.float64],
        communicator: Communicator = SERIAL,
    ) -> None:
        has_low = np.isfinite(low)
        upper, lower = np.where(has_low, cost, 0), np.where(np.isfinite(high), -cost, 0)
        y, zero = np.where(has_low, low, high), np.zeros(low.shape[1])
        super().__init__(lower, upper, y, epsilon, zero, communicator)
