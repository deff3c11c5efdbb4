"""The dual of quantile regression."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hssvm.comm import SERIAL, Communicator
from hssvm.kernels.base import Floats
from hssvm.problems.regression import RegressionProblem


class QuantileProblem(RegressionProblem):
    """``min 1/2 z'Kz - y'z`` with ``-(1 - q) cost <= z <= q cost``, and ``sum z = 0``.

    The primal is ``1/2 |w|^2 + sum_i cost_i max(q e_i, (q - 1) e_i)``, ``e_i = y_i - f_i - b``: the
    pinball loss. A fraction q of the errors is not positive.

    Parameters
    ----------
    y : (n, k)
    cost : (n, k)
        C times the weight of the row.
    quantile : (k,)
        Between 0 and 1, for each column.
    communicator : Communicator, default=SERIAL
        See `Problem`.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.problems import QuantileProblem
    >>> y = np.array([[0.5], [2.0], [-1.0]])
    >>> QuantileProblem(y, np.ones((3, 1)), np.array([0.75])).upper[:, 0]
    array([0.75, 0.75, 0.75])
    """

    def __init__(
        self,
        y: Floats,
        cost: Floats,
        quantile: NDArray[np.float64],
        communicator: Communicator = SERIAL,
    ) -> None:
        upper = (cost * quantile).astype(cost.dtype)
        zero = np.zeros(y.shape[1])
        super().__init__(upper - cost, upper, y, zero, zero, communicator)
