"""The dual of kernel ridge regression."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hssvm.comm import SERIAL, Communicator
from hssvm.kernels.base import Floats
from hssvm.problems.objective import Objective
from hssvm.problems.regression import RegressionProblem

LARGEST_RIDGE = 1e12
"""Ridge of rows of weight 0, relative to the largest of the others: they count for nothing."""


class LeastSquaresProblem(RegressionProblem):
    """``min 1/2 z'Kz - y'z + 1/2 sum_i ridge_i z_i^2``, without bounds and without an intercept.

    The solution is ``z = (K + diag(ridge))^-1 y``. The primal is
    ``1/2 |w|^2 + sum_i (y_i - f_i)^2 / (2 ridge_i)``.

    Parameters
    ----------
    y : (n, k)
    ridge : (n,)
        Positive; infinite excludes the row.
    communicator : Communicator, default=SERIAL
        See `Problem`.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.problems import LeastSquaresProblem
    >>> problem = LeastSquaresProblem(np.array([[2.0], [4.0]]), np.ones(2))
    >>> z = np.array([[1.0], [2.0]])  # the solution for K = I
    >>> problem.evaluate(z, z).gap
    array([0.])
    """

    ridge: Floats

    def __init__(self, y: Floats, ridge: Floats, communicator: Communicator = SERIAL) -> None:
        used = np.broadcast_to(np.isfinite(ridge)[:, None], y.shape)
        bound, zero = np.where(used, np.inf, 0).astype(y.dtype), np.zeros(y.shape[1])
        super().__init__(-bound, bound, y, zero, zero, communicator, ridge)

    @property
    def used(self) -> NDArray[np.bool_]:
        """Mask (n, k) of the coefficients that are not excluded."""
        used: NDArray[np.bool_] = self.upper > 0
        return used

    @property
    def shift(self) -> Floats:
        """The ridge, (n,), with a large number in place of infinity."""
        finite = np.isfinite(self.ridge)
        largest = float(self.ridge[finite].max(initial=0)) or 1.0
        excluded = min(LARGEST_RIDGE * largest, 1e-3 * float(np.finfo(self.dtype).max))
        return np.where(finite, self.ridge, excluded).astype(self.dtype)

    def support(self, Z: Floats) -> NDArray[np.int64]:
        """Indices of the rows that are not excluded: all of them count, whatever their targets."""
        return np.flatnonzero(self.used.any(axis=1))

    def penalty(self, rows: NDArray[np.int64], Z: Floats) -> NDArray[np.float64]:
        """``1/2 ridge z^2`` at m rows, (m, k)."""
        ridge = self.shift[rows, None].astype(np.float64)
        return ridge * Z.astype(np.float64) ** 2 / 2

    def losses(
        self, rows: NDArray[np.int64], F: Floats, intercept: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Squared errors divided by twice the ridge, (m, k); 0 if a coefficient is excluded."""
        errors = self.linear[rows].astype(np.float64) - F - intercept
        losses = errors**2 / (2 * self.shift[rows, None].astype(np.float64))
        return np.where(self.upper[rows] > 0, losses, 0.0)

    def evaluate(self, Z: Floats, F: Floats) -> Objective:
        """Objective values at `Z`, with ``F = K Z``."""
        zero, rows = np.zeros(self.k), np.arange(self.n)
        z = Z.astype(np.float64)
        half_norm = np.einsum("ij,ij->j", z, F) / 2
        linear = np.einsum("ij,ij->j", self.linear, z)
        dual = linear - half_norm - self.penalty(rows, z).sum(axis=0)
        primal = half_norm + self.losses(rows, F, zero).sum(axis=0)
        return Objective(primal, dual, zero, zero)
