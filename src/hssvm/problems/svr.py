"""The dual of epsilon-support vector regression."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hssvm.comm import SERIAL, Communicator
from hssvm.kernels.base import Floats
from hssvm.problems.regression import RegressionProblem


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
