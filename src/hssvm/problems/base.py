"""The dual that all problems are instances of, as solvers see it."""

from __future__ import annotations

from copy import copy
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from hssvm import _core
from hssvm.comm import SERIAL, Communicator
from hssvm.kernels.base import Floats
from hssvm.problems.intercepts import optimal_intercepts
from hssvm.problems.objective import Objective
from hssvm.problems.parts import BaseProblem, Part
from hssvm.problems.shift import ProxSums

LOSS_BLOCK = 2**18
"""Number of losses that are computed at a time."""


class Problem(BaseProblem):
    """A block of k duals over the same n rows.

    ::

        min  1/2 z'Kz - linear'z + l1_weight |z|_1 + 1/2 sum_i ridge_i z_i^2

             lower <= z <= upper,  sum z = equality_rhs

    The primal is ``1/2 |w|^2 + b equality_rhs + sum of the losses``. The loss of a row at ``t = f +
    b`` is the largest value that its coefficient could add to the dual. Without a ridge, it is
    ``max(0, upper (linear - l1_weight - t), lower (linear + l1_weight - t))``; with one, it starts
    like ``(linear - l1_weight - t)^2 / (2 ridge)``, and becomes linear where z reaches its bound.

    Parameters
    ----------
    lower, upper : (n, k)
        ``lower <= 0 <= upper``. If both are 0, the row is excluded, as in cross-validation. They
        may be infinite if there is a ridge.
    linear : (n, k)
    l1_weight : (k,)
        Weight of abs(z).
    equality_rhs : (k,)
        Required sum of z, over the rows of all ranks.
    communicator : Communicator, default=SERIAL
        Connects the ranks that hold the rows. Sums and objective values are over all rows.
    ridge : (n,), optional
        Positive; None means 0.

    Examples
    --------
    The median of the targets 1, 2 and 4, with K = 0:

    >>> import numpy as np
    >>> from hssvm.problems import Problem
    >>> one = np.ones((3, 1))
    >>> problem = Problem(-one, one, np.array([[1.0], [2.0], [4.0]]), np.zeros(1), np.zeros(1))
    >>> problem.evaluate(0 * one, 0 * one).intercept
    array([2.])
    """

    sparse_solution: ClassVar[bool] = False
    """Whether most coefficients of a solution may be 0, which makes 0 a good start."""

    local: ClassVar[bool] = True
    """Whether decision values of models on different rows can be compared and averaged."""

    clip: ClassVar[float] = np.inf
    """Decision values of models on different rows are clipped to [-clip, clip] before they are
    averaged, as larger ones say nothing more."""

    def __init__(
        self,
        lower: Floats,
        upper: Floats,
        linear: Floats,
        l1_weight: NDArray[np.float64],
        equality_rhs: NDArray[np.float64],
        communicator: Communicator = SERIAL,
        ridge: Floats | None = None,
    ) -> None:
        self.communicator = communicator
        self.lower = np.ascontiguousarray(lower)
        self.upper = np.ascontiguousarray(upper)
        self.linear = np.ascontiguousarray(linear)
        self.l1_weight = l1_weight
        self.equality_rhs = equality_rhs
        self.ridge = ridge

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

    @property
    def arrays(self) -> tuple[Floats, ...]:
        """Everything that determines the problem."""
        ridge = () if self.ridge is None else (self.ridge,)
        return self.lower, self.upper, self.linear, self.l1_weight, self.equality_rhs, *ridge

    @property
    def reach(self) -> Floats:
        """Largest ``|z|`` in the box, (n, k)."""
        return np.maximum(-self.lower, self.upper)

    @property
    def bound(self) -> Floats:
        """Bounds of a classifier with the signs of the labels, (n, k): one of both ends is 0."""
        return self.lower + self.upper

    def columns(self, index: NDArray[Any]) -> Self:
        """Return the problem restricted to the given columns."""
        part = self._at((slice(None), index))
        part.l1_weight, part.equality_rhs = self.l1_weight[index], self.equality_rhs[index]
        return part

    def rows(self, index: NDArray[Any]) -> Self:
        """Return the problem restricted to the given rows."""
        return self._at(index)

    def _at(self, index: Any) -> Self:
        part = copy(self)
        for name in ("lower", "upper", "linear"):
            setattr(part, name, np.ascontiguousarray(getattr(self, name)[index]))
        if self.ridge is not None and not isinstance(index, tuple):  # rows, not columns
            part.ridge = self.ridge[index]
        return part

    def part(self, index: int) -> Part:
        """Return the only part."""
        return Part(self, slice(None))

    @property
    def strata(self) -> NDArray[np.int64]:
        """Groups of similar rows, (n,), of which every fold of a cross-validation needs some."""
        return np.zeros(self.n, np.int64)

    def using(self, used: NDArray[np.bool_]) -> Self:
        """Return the problem in which only the coefficients of a mask (n, k) may differ from 0."""
        restricted = copy(self)
        zero = self.dtype.type(0)
        restricted.lower = np.where(used, self.lower, zero)
        restricted.upper = np.where(used, self.upper, zero)
        return restricted

    def excluding(self, excluded: NDArray[np.bool_]) -> Self:
        """Return m copies of the columns, each without the rows of a column of `excluded`, (n, m).

        Column ``i k + j`` of the result is column j without the rows ``excluded[:, i]``.
        """
        copies = self.columns(np.tile(np.arange(self.k), excluded.shape[1]))
        return copies.using(~np.repeat(excluded, self.k, axis=1))

    def ridge_at(self, rows: NDArray[np.int64]) -> Floats:
        """Ridge of m rows, (m,)."""
        return np.zeros(rows.size, self.dtype) if self.ridge is None else self.ridge[rows]

    def penalty(self, rows: NDArray[np.int64], Z: Floats) -> NDArray[np.float64]:
        """h(z) at m rows and their feasible coefficients, (m, k)."""
        penalty: NDArray[np.float64] = self.l1_weight * np.abs(Z)
        if self.ridge is not None:
            penalty += self.ridge[rows, None] * Z.astype(np.float64) ** 2 / 2
        return penalty

    def gradient(self, Z: Floats, F: Floats, rows: Any = slice(None)) -> Floats:
        """``K Z + ridge Z - linear`` at some rows, (m, k), given Z and ``F = K Z`` there."""
        if self.ridge is None:
            return F - self.linear[rows]
        return F + self.ridge[rows, None] * Z - self.linear[rows]

    def losses(
        self, rows: NDArray[np.int64], F: Floats, intercept: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Losses of m rows at decision values ``F + intercept``; (m, k)."""
        above = F + intercept - self.linear[rows]
        rise = self._gain(rows, -(above + self.l1_weight), self.upper[rows])
        fall = self._gain(rows, above - self.l1_weight, -self.lower[rows])
        return np.maximum(np.maximum(rise, fall), 0)

    def _gain(
        self, rows: NDArray[np.int64], slope: NDArray[np.float64], bound: Floats
    ) -> NDArray[np.float64]:
        """Largest ``z slope - ridge z^2 / 2`` for z between 0 and a bound, if slope > 0; (m, k)."""
        if self.ridge is None:
            return bound * slope
        ridge = self.ridge[rows, None].astype(np.float64)
        z = np.clip(slope / ridge, 0, bound)
        return z * (slope - ridge * z / 2)

    def scale(self) -> NDArray[np.float64]:
        """Largest ``|z|`` in the box, relative to the size of the decision values, (k,)."""
        return self._largest()

    def _unit(self) -> NDArray[np.float64]:
        """Size of the decision values, (k,)."""
        return np.ones(self.k)

    def _largest(self) -> NDArray[np.float64]:
        largest = np.maximum(-self.lower.min(axis=0), self.upper.max(axis=0)).astype(np.float64)
        if self.ridge is not None:  # a larger z would reduce the dual at f = 0
            largest = np.minimum(largest, self._unit() / self.ridge.min())
        return self.communicator.allreduce(largest, "max")

    def decision_size(self) -> NDArray[np.float64]:
        """Size of the decision values, (k,): 1 for classifiers, the size of y for regressions."""
        scale = self.scale()
        return self._largest() / np.where(scale > 0, scale, 1) + (scale == 0)

    def floor(self, j: int, z: NDArray[np.float64]) -> float:
        """Contribution of these rows to the smallest scale of the gap of column j.

        It is 0 unless the optimal value can be 0 by cancellation, which would make the relative gap
        meaningless.
        """
        return 0.0

    def prox(self, V: Floats, beta: Floats, tau: NDArray[np.float64]) -> tuple[Floats, ProxSums]:
        """Return ``z = argmin h(z) + 1/2 |z - (v - tau / beta)|^2_beta``, and its sums.

        V is (n, k), beta (n,), tau (k,).
        """
        if self.ridge is not None:  # complete the square
            V, beta = V * (beta / (beta + self.ridge))[:, None], beta + self.ridge
        return self.plain_prox(V, beta, tau)

    def plain_prox(
        self, V: Floats, beta: Floats, tau: NDArray[np.float64]
    ) -> tuple[Floats, ProxSums]:
        """Return the prox of h without its ridge."""
        Z, sums = np.empty_like(V), np.empty((3, self.k))
        _core.shifted_prox(V, beta, tau, self.lower, self.upper, self.l1_weight, Z, sums)
        return Z, ProxSums(*self.communicator.allreduce(sums))

    def prox_start(self, Z: Floats, beta: Floats) -> Floats:
        """Return the V whose prox, for tau = 0, is Z, if Z is in the box."""
        V: Floats = Z + (self.l1_weight * np.sign(Z) / beta[:, None]).astype(Z.dtype)
        return V if self.ridge is None else V + (self.ridge / beta)[:, None] * Z

    def free(self, Z: Floats) -> NDArray[np.bool_]:
        """Mask (n, k) of the entries of Z at which h is smooth, so that z can move both ways."""
        return (Z != 0) & (self.lower != Z) & (self.upper != Z)

    def box(self, rows: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Lower and upper bounds of z at m rows, (m, k) each."""
        return self.lower[rows], self.upper[rows]

    def evaluate(self, Z: Floats, F: Floats) -> Objective:
        """Objective values at a feasible `Z`, with ``F = K Z`` and the optimal intercept."""
        sums = np.empty((3, self.k))
        for j in range(self.k):
            z, f = Z[:, j].astype(np.float64), F[:, j].astype(np.float64)
            linear = self.linear[:, j].astype(np.float64) @ z
            linear -= self.l1_weight[j] * np.abs(z).sum()
            if self.ridge is not None:
                linear -= self.ridge @ z**2 / 2
            sums[:, j] = z @ f / 2, linear, self.floor(j, z)
        intercept = optimal_intercepts(self, F)
        loss = np.zeros(self.k)
        step = max(1, LOSS_BLOCK // self.k)
        for begin in range(0, self.n, step):
            rows = np.arange(begin, min(begin + step, self.n))
            loss += self.losses(rows, F[rows], intercept).sum(axis=0)
        half_norm, linear, floor, loss = self.communicator.allreduce(np.stack([*sums, loss]))
        primal = half_norm + intercept * self.equality_rhs + loss
        return Objective(primal, linear - half_norm, intercept, floor)
