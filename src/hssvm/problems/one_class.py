"""The dual of the one-class support vector machine."""

from __future__ import annotations

from typing import Any, Self

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
        zero = np.zeros_like(bound)
        super().__init__(zero, bound, zero, np.zeros(nu.size), np.zeros(nu.size), communicator)
        self._require_mass()

    def _require_mass(self) -> None:
        mass = self.communicator.allreduce(self.upper.sum(axis=0, dtype=np.float64))
        self.equality_rhs = self.nu * mass

    def columns(self, index: NDArray[Any]) -> Self:
        """Return the problem restricted to the given columns."""
        part = super().columns(index)
        part.nu = self.nu[index]
        return part

    def rows(self, index: NDArray[Any]) -> Self:
        """Return the problem restricted to the given rows; the required sums change."""
        part = super().rows(index)
        part.diagonal = None if self.diagonal is None else self.diagonal[index]
        part._require_mass()  # noqa: SLF001
        return part

    def excluding(self, excluded: NDArray[np.bool_]) -> Self:
        """Return copies without some rows; the required sums change."""
        copies = super().excluding(excluded)
        copies._require_mass()  # noqa: SLF001
        return copies

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
        return super().scale() / self.equality_rhs
