"""The kernel of the L1 distance."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hssvm import _core, costs
from hssvm.kernels.base import Floats, Rows, value_cost
from hssvm.kernels.gradients import sum_signs
from hssvm.kernels.radial import RadialKernel


class Laplacian(RadialKernel):
    """``exp(-gamma |x - y|_1)``, scikit-learn's ``laplacian_kernel``.

    A product of kernels of one feature each: few relevant features among many hide less in it
    than in a kernel of the Euclidean distance.

    Parameters
    ----------
    gamma : float

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.kernels import Laplacian
    >>> Laplacian(gamma=0.5).block(np.array([[0.0, 0.0], [2.0, 1.0]])).round(4)
    array([[1.    , 0.2231],
           [0.2231, 1.    ]])
    """

    @property
    def core(self) -> _core.Kernel:
        """The kernel as an object of the core."""
        return _core.Kernel("gaussian", self.gamma, similarity="overlaps")

    def value_cost(self, X: Rows) -> float:
        """Nominal seconds per kernel value; see `Kernel.value_cost`."""
        return value_cost(X, costs.SECONDS_PER_L1_FEATURE, costs.SECONDS_PER_L1_NONZERO)

    def slopes(self, X: Rows, Y: Rows) -> Floats:
        """``-gamma k(d)``, (m, n)."""
        return -self.gamma * self.block(X, Y)

    def weighted_directions(self, V: Floats, X: Rows, Y: Rows) -> NDArray[np.float64]:
        """``sum_i V[x, i] sign(x - y_i)`` for every row x of `X`, (m, p)."""
        return sum_signs(V, X, Y)
