"""What a solver returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm.kernels.base import Floats
from hssvm.problems.base import Problem, Values


class Status(Enum):
    """Why a column stopped; the value is the advice."""

    CONVERGED = "The duality gap is below tol."
    MAX_ITER = "Reached max_iter with the gap above tol; raise max_iter, or tol if the gap will do."
    MAX_TIME = "Reached max_time with the gap above tol; raise max_time, or tol if the gap will do."
    STOPPED = (
        "Stopped by Ctrl-C or a callback with the gap above tol; warm_start=True resumes the fit."
    )
    MAX_WORK = (
        "Refinement has used up what refine='auto' allows, with the gap above tol; set refine=True "
        "to let it finish, or raise tol if the gap will do."
    )
    PRECISION = (
        "The gap no longer falls: rounding errors of float32 are in the way. Raise tol, or give X "
        "in float64."
    )
    STALLED = "The gap no longer falls; raise tol, scale the features, or lower C."
    CACHE_SIZE = (
        "The gap no longer falls: more rows have coefficients between the bounds than the cache "
        "holds. Raise cache_size, or tol."
    )
    FIXED = "Ran for max_iter iterations, as the paper does: no stopping test was asked for."

    @classmethod
    def stalled(cls, dtype: np.dtype[Any]) -> Status:
        """Of a gap that no longer falls in this precision."""
        return cls.PRECISION if dtype == np.float32 else cls.STALLED


Callback = Callable[[int, Floats], Status | bool | None]


@dataclass(eq=False)
class Solution:
    """The best feasible point of every column that a solver has seen.

    Attributes
    ----------
    Z : (n, k)
        Signed coefficients.
    F : (n, k)
        ``K Z``: decision values at the rows, without intercept.
    primal, dual, intercept, gap : (k,) float64
        `gap` is relative, see `hssvm.problems.base.Values`.
    n_iter : (k,) int
    status : list of Status, k of them
    n_factors : int
        Factors of ``K + diag(beta)`` that were made.
    n_working : int
        Rows of the working set, where the solver has one.
    history : list of (int, (k,) float64)
        Iteration and gaps of every look.
    """

    Z: Floats
    F: Floats
    primal: NDArray[np.float64]
    dual: NDArray[np.float64]
    intercept: NDArray[np.float64]
    gap: NDArray[np.float64]
    n_iter: NDArray[np.int64]
    status: list[Status]
    n_factors: int
    n_working: int = 0
    history: list[tuple[int, NDArray[np.float64]]] = field(default_factory=list)

    @classmethod
    def empty(cls, Z: Floats) -> Solution:
        """Nothing known yet of k columns that start at `Z`."""
        k = Z.shape[1]
        infinite = np.full(k, np.inf)
        return cls(
            Z.copy(),
            np.zeros_like(Z),
            infinite,
            -infinite,
            np.zeros(k),
            infinite.copy(),
            np.zeros(k, np.int64),
            [Status.MAX_ITER] * k,
            n_factors=1,
        )

    @classmethod
    def at(cls, problem: Problem, Z: Floats, F: Floats) -> Solution:
        """A feasible point, with ``F = K Z``, as it is."""
        solution = cls.empty(Z)
        solution.update(np.arange(problem.k), Z, F, problem.evaluate(Z, F))
        return solution

    def update(self, columns: NDArray[np.int64], Z: Floats, F: Floats, values: Values) -> None:
        """Take over those of the given columns whose gap is smaller than before."""
        gap = values.gap
        better = np.flatnonzero(gap < self.gap[columns])
        to = columns[better]
        self.Z[:, to], self.F[:, to] = Z[:, better], F[:, better]
        self.primal[to], self.dual[to] = values.primal[better], values.dual[better]
        self.intercept[to], self.gap[to] = values.intercept[better], gap[better]

    def remember(self, iteration: int) -> None:
        """Add the gaps to the history."""
        self.history.append((iteration, self.gap.copy()))

    @property
    def ended(self) -> Status | None:
        """What ended the run before all columns were done: a callback or the clock, or neither."""
        return next((s for s in self.status if s in (Status.STOPPED, Status.MAX_TIME)), None)

    def columns(self, index: NDArray[np.int64]) -> Solution:
        """Return some of the columns, without their history."""
        return Solution(
            self.Z[:, index],
            self.F[:, index],
            self.primal[index],
            self.dual[index],
            self.intercept[index],
            self.gap[index],
            self.n_iter[index],
            [self.status[j] for j in index],
            self.n_factors,
        )

    def improve(self, columns: NDArray[np.int64], other: Solution) -> None:
        """Take over what `other` has of the given columns where its gap is smaller.

        If something ended `other`, that is the status of the rest too.
        """
        better = np.flatnonzero(other.gap < self.gap[columns])
        for name in ("Z", "F", "primal", "dual", "intercept", "gap"):
            getattr(self, name)[..., columns[better]] = getattr(other, name)[..., better]
        for j, status in enumerate(other.status):
            if j in better or status in (Status.STOPPED, Status.MAX_TIME):
                self.status[columns[j]] = status

    def end(self, columns: NDArray[np.int64], answer: Status | bool) -> None:
        """Give columns that a callback has ended its status, or STOPPED if it only said True."""
        for j in columns:
            self.status[j] = answer if isinstance(answer, Status) else Status.STOPPED

    def accept(self, tol: float) -> None:
        """Count columns with a gap of at most `tol` as converged."""
        for j in np.flatnonzero(self.gap <= tol):
            self.status[j] = Status.CONVERGED
