"""The dual of the one-class support vector machine."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm.comm import SERIAL, Communicator
from hssvm.kernels.base import Floats
from hssvm.problems.base import Problem


class OneClassProblem(Problem):
    """``min 1/2 z'Kz`` with z between 0 and ``bound``, and ``sum z = nu sum bound``.

    The primal is ``1/2 |w|^2 + b nu sum bound + sum_i bound_i max(0, -(f_i + b))``. At most a
    fraction nu of the rows has a negative decision value. (-b is rho in Schoelkopf et al., 2001.)

    Parameters
    ----------
    bound : (n, k)
        Weights of the rows.
    nu : (k,)
    communicator : Communicator, default=SERIAL
        See `Problem`.
    diagonal : (n,), optional
        Diagonal of K, needed for kernels with negative values; see `floor`.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.problems import OneClassProblem
    >>> OneClassProblem(np.ones((4, 2)), np.array([0.25, 0.5])).equality_rhs
    array([1., 2.])
    """

    local = False  # a fraction nu of the rows of every model is outside

    def __init__(
        self,
        bound: Floats,
        nu: NDArray[np.float64],
        communicator: Communicator = SERIAL,
        diagonal: NDArray[np.float64] | None = None,
    ) -> None:
        self.nu = nu
        self.diagonal = diagonal
        mass = nu * communicator.allreduce(bound.sum(axis=0, dtype=np.float64))
        super().__init__(bound, np.zeros_like(bound), np.zeros(bound.shape[1]), mass, communicator)

    def columns(self, index: NDArray[Any]) -> OneClassProblem:
        """Return the problem restricted to the given columns."""
        return OneClassProblem(
            self.bound[:, index], self.nu[index], self.communicator, self.diagonal
        )

    def rows(self, index: NDArray[Any]) -> OneClassProblem:
        """Return the problem restricted to the given rows."""
        diagonal = None if self.diagonal is None else self.diagonal[index]
        return OneClassProblem(self.bound[index], self.nu, self.communicator, diagonal)

    def excluding(self, excluded: NDArray[np.bool_]) -> OneClassProblem:
        """Return copies without some rows; the required sums change with the bounds."""
        copies = super().excluding(excluded)
        nu = np.tile(self.nu, excluded.shape[1])
        return OneClassProblem(copies.bound, nu, self.communicator, self.diagonal)

    def floor(self, j: int, z: NDArray[np.float64]) -> float:
        """``1/2 sum K_ii z_i^2``, the optimal value if K were diagonal.

        The optimal value of a nonnegative kernel is not below this. With other kernels, such as the
        linear kernel on centered rows, the terms of ``z'Kz`` may cancel down to 0. LIBSVM then
        stops when the gradients differ by less than tol, which is a gap of about ``tol sum z``, or
        `tol` times this floor for a kernel with a unit diagonal.
        """
        return 0.0 if self.diagonal is None else float(self.diagonal @ z**2) / 2

    def scale(self) -> NDArray[np.float64]:
        """Largest bound divided by the sum of z, the size of the decision values; (k,)."""
        return (
            self.communicator.allreduce(self.bound.max(axis=0).astype(np.float64), "max")
            / self.equality_rhs
        )

    def losses(
        self, rows: NDArray[np.int64], F: Floats, intercept: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Weight times the distance of negative decision values to 0."""
        return self.bound[rows].astype(np.float64) * np.maximum(0, -(F + intercept))

    def breakpoints(
        self, j: int, f: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
        """The slope increases by the weight of a row at -f, from sum z minus the sum of weights."""
        weight = self.bound[:, j].astype(np.float64)
        return -f, weight, float((1 - self.nu[j]) * weight.sum())
