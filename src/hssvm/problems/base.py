"""What solvers may know of a problem."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm.kernels.base import Floats


@dataclass(frozen=True, eq=False)
class Values:
    """Objective values at a feasible z, one per column.

    Attributes
    ----------
    primal, dual, intercept : (k,) float64
    """

    primal: NDArray[np.float64]
    dual: NDArray[np.float64]
    intercept: NDArray[np.float64]

    @property
    def gap(self) -> NDArray[np.float64]:
        """Duality gap relative to the primal value, (k,); 0 where both are 0."""
        scale = np.where(self.primal > 0, self.primal, 1.0)
        return (self.primal - self.dual) / scale


@dataclass(frozen=True, eq=False)
class Sums:
    """Of the columns of a prox, (k,) each: of z, of abs(z), and of 1 / beta where z is free."""

    total: NDArray[np.float64]
    size: NDArray[np.float64]
    slope: NDArray[np.float64]


class Problem(ABC):
    """A block of k duals over the same n rows; see `hssvm.problems`."""

    linear: Floats
    """(n, k), the linear part."""

    total: NDArray[np.float64]
    """(k,), what z must sum to."""

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.linear.shape[0])

    @property
    def k(self) -> int:
        """Number of columns."""
        return int(self.linear.shape[1])

    @property
    def dtype(self) -> np.dtype[Any]:
        """Precision of z."""
        return self.linear.dtype

    @abstractmethod
    def columns(self, index: NDArray[Any]) -> Problem:
        """Return the problem of some of the columns."""

    @abstractmethod
    def prox(self, V: Floats, beta: Floats, tau: NDArray[np.float64]) -> tuple[Floats, Sums]:
        """Return ``z = argmin h(z) + 1/2 |z - (v - tau / beta)|^2_beta``, and its sums.

        V is (n, k), beta (n,), tau (k,).
        """

    @abstractmethod
    def free(self, Z: Floats) -> NDArray[np.bool_]:
        """Where h is smooth at Z, so that z may move either way; (n, k) like Z."""

    @abstractmethod
    def box(self, rows: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Least and largest z that h allows at m rows, (m, k) each."""

    @abstractmethod
    def scale(self) -> NDArray[np.float64]:
        """Largest |z| that h allows, (k,)."""

    @abstractmethod
    def losses(
        self, rows: NDArray[np.int64], F: Floats, intercept: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Loss of m rows at decision values ``F + intercept``, as in the primal value; (m, k)."""

    @abstractmethod
    def evaluate(self, Z: Floats, F: Floats) -> Values:
        """Objective values at a feasible `Z`, with ``F = K Z``; the intercept is the best one."""
