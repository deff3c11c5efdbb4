"""What solvers may know of a problem."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hssvm import _core
from hssvm.kernels.base import Floats
from hssvm.problems.parts import ALONE, Parts
from hssvm.problems.quantile import ROUNDING, weighted_quantiles

AT_ONCE = 2**18
"""Numbers of a block of losses that are computed at once."""


@dataclass(frozen=True, eq=False)
class Values:
    """Objective values at a feasible z, one per column.

    Attributes
    ----------
    primal, dual, intercept : (k,) float64
    floor : (k,) float64
        Size of the terms that cancel where the values are close to 0; see `Problem.floor`.
    """

    primal: NDArray[np.float64]
    dual: NDArray[np.float64]
    intercept: NDArray[np.float64]
    floor: NDArray[np.float64]

    @property
    def size(self) -> NDArray[np.float64]:
        """What a gap is relative to, (k,): the largest of values and floor, or 1 if all are 0."""
        size = np.maximum(np.maximum(np.abs(self.primal), np.abs(self.dual)), self.floor)
        return np.where(size > 0, size, 1.0)

    @property
    def gap(self) -> NDArray[np.float64]:
        """Relative duality gap, (k,)."""
        return (self.primal - self.dual) / self.size


@dataclass(frozen=True, eq=False)
class Sums:
    """Of the columns of a prox, (k,) each: of z, of abs(z), and of 1 / beta where z is free."""

    total: NDArray[np.float64]
    size: NDArray[np.float64]
    slope: NDArray[np.float64]


class Problem(ABC):
    """A block of k duals over the same n rows; see `hssvm.problems`.

    Parameters
    ----------
    bound : (n, k)
        z lies between 0 and this, or on both sides of 0 if the class is `symmetric`. 0 takes a row
        out (as for cross-validation), and its z stays 0.
    linear : (n, k)
    kink : (k,)
        Factor on abs(z).
    total : (k,)
        What z must sum to.
    parts : Parts, default=ALONE
        Where the n rows are a part of all: how to reach the others. Sums and values are of all.
    """

    symmetric: ClassVar[bool] = False

    def __init__(
        self,
        bound: Floats,
        linear: Floats,
        kink: NDArray[np.float64],
        total: NDArray[np.float64],
        parts: Parts = ALONE,
    ) -> None:
        self.parts = parts
        self.bound = np.ascontiguousarray(bound)
        self.linear = np.ascontiguousarray(linear)
        self.kink = kink
        self.total = total

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
    def losses(
        self, rows: NDArray[np.int64], F: Floats, intercept: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Loss of m rows at decision values ``F + intercept``, as in the primal value; (m, k)."""

    @abstractmethod
    def bends(
        self, j: int, f: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
        """Where the slope of ``b total + loss(f + b)`` in b rises, in column j; f is (n,).

        Returns
        -------
        points, weight : (m,)
            The slope rises by the weight at the point.
        mass : float
            The share of these rows in minus the slope on the far left.
        """

    @abstractmethod
    def scale(self) -> NDArray[np.float64]:
        """Largest ``|z|`` that h allows, in units of the decision values, (k,)."""

    def floor(self, j: int, z: NDArray[np.float64]) -> float:
        """The share of these rows in the least size that a gap of column j is relative to.

        0, unless the optimal value can be 0 by cancellation: no gap is a small share of that.
        """
        return 0.0

    def prox(self, V: Floats, beta: Floats, tau: NDArray[np.float64]) -> tuple[Floats, Sums]:
        """Return ``z = argmin h(z) + 1/2 |z - (v - tau / beta)|^2_beta``, and its sums.

        V is (n, k), beta (n,), tau (k,).
        """
        Z, sums = np.empty_like(V), np.empty((3, self.k))
        _core.shifted_prox(V, beta, tau, self.bound, self.symmetric, self.kink, Z, sums)
        return Z, Sums(*self.parts.sum(sums))

    def free(self, Z: Floats) -> NDArray[np.bool_]:
        """Where h is smooth at Z, so that z may move either way; (n, k) like Z."""
        size = np.abs(Z) if self.symmetric else Z
        return (Z != 0) & (size != self.bound)

    def box(self, rows: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Least and largest z that h allows at m rows, (m, k) each."""
        bound = self.bound[rows]
        if self.symmetric:
            return -bound, bound
        return np.minimum(bound, 0), np.maximum(bound, 0)

    def evaluate(self, Z: Floats, F: Floats) -> Values:
        """Objective values at a feasible `Z`, with ``F = K Z``; the intercept is the best one."""
        sums, intercept = np.empty((3, self.k)), np.empty(self.k)
        for begin in range(0, self.k, self.parts.columns_at_once):
            columns = range(begin, min(begin + self.parts.columns_at_once, self.k))
            bends = []
            for j in columns:
                z, f = Z[:, j].astype(np.float64), F[:, j].astype(np.float64)
                linear = self.linear[:, j].astype(np.float64) @ z
                linear -= self.kink[j] * np.abs(z).sum()
                sums[:, j] = z @ f / 2, linear, self.floor(j, z)
                bends.append(self.bends(j, f))
            points, weights, mass = zip(*bends, strict=True)
            all_mass = self.parts.sum(np.array(mass))
            # costs that are rounded to float32 hide a flat minimum from sums in float64
            rtol = max(ROUNDING, 4 * float(np.finfo(self.bound.dtype).eps))
            found = weighted_quantiles(points, weights, all_mass, self.parts, rtol)
            intercept[list(columns)] = found
        loss = np.zeros(self.k)
        step = max(1, AT_ONCE // self.k)
        for begin in range(0, self.n, step):
            rows = np.arange(begin, min(begin + step, self.n))
            loss += self.losses(rows, F[rows], intercept).sum(axis=0)
        half_norm, linear, floor, loss = self.parts.sum(np.stack([*sums, loss]))
        primal = half_norm + intercept * self.total + loss
        return Values(primal, linear - half_norm, intercept, floor)
