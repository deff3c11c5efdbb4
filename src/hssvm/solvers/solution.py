"""Solutions, and the reasons why solvers stop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm.kernels.base import Floats
from hssvm.problems.base import Problem
from hssvm.problems.objective import Objective


class Status(Enum):
    """Why a column stopped; the value is a message with advice."""

    CONVERGED = "The duality gap is below tol."
    MAX_ITER = (
        "Reached max_iter with the gap above tol; raise max_iter, or raise tol if the gap is "
        "acceptable."
    )
    MAX_TIME = (
        "Reached max_time with the gap above tol; raise max_time, or raise tol if the gap is "
        "acceptable."
    )
    STOPPED = (
        "Stopped by Ctrl-C or a callback with the gap above tol; resume the fit with "
        "warm_start=True."
    )
    FEWER_TREES = (
        "Reached max_time, or was stopped, before all trees were trained; raise max_time, or fit "
        "again with warm_start=True, if there is one, to add the others."
    )
    MAX_WORK = (
        "Refinement reached the work limit of refine='auto' with the gap above tol; set "
        "refine=True to let it finish, or raise tol if the gap is acceptable."
    )
    PRECISION = (
        "The gap no longer decreases because of rounding in float32; raise tol, or pass X in "
        "float64."
    )
    STALLED = (
        "The gap no longer decreases; raise tol, scale the features, or lower C (raise alpha)."
    )
    MEMORY_LIMIT = (
        "The gap no longer decreases because the kernel matrix of the free support vectors does "
        "not fit in memory_limit (2 GB by default); raise memory_limit or tol."
    )
    FIXED = "Ran for max_iter iterations without a stopping test, as in the paper."

    @classmethod
    def stalled(cls, dtype: np.dtype[Any]) -> Status:
        """Return the status of a gap that no longer decreases in this precision."""
        return cls.PRECISION if dtype == np.float32 else cls.STALLED


Checkpoint = Callable[[int, Floats], None]
Stop = Callable[[], Status | bool | None]


@dataclass(eq=False)
class Solution:
    """The best feasible point of every column that a solver has found.

    Attributes
    ----------
    Z : (n, k)
        Signed coefficients.
    F : (n, k)
        ``K Z``: decision values at the rows, without the intercept.
    primal, dual, intercept, gap : (k,) float64
        `gap` is relative; see `hssvm.problems.Objective`.
    n_iter : (k,) int
        Number of iterations of ADMM or an interior-point method, of SMO steps, or of active-set
        steps.
    n_rounds : (k,) int
        Number of rounds of the working-set solver, or of checks of the gap between steps of SMO.
    status : list of k Status
    n_factors, factor_bytes, factor_seconds : int, int, float
        Number of factorizations of ``K + diag(beta)``, size of the largest, and their total time.
    n_working : int
        Number of rows of the working set, if the solver has one.
    history : list of (int, (k,) float64)
        Iteration and gaps of every check.
    """

    Z: Floats
    F: Floats
    primal: NDArray[np.float64]
    dual: NDArray[np.float64]
    intercept: NDArray[np.float64]
    gap: NDArray[np.float64]
    n_iter: NDArray[np.int64]
    status: list[Status]
    n_rounds: NDArray[np.int64]
    n_factors: int = 0
    factor_bytes: int = 0
    factor_seconds: float = 0.0
    n_working: int = 0
    history: list[tuple[int, NDArray[np.float64]]] = field(default_factory=list)

    @classmethod
    def empty(cls, Z: Floats) -> Solution:
        """Return a solution without objective values, for k columns that start at `Z`."""
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
            np.zeros(k, np.int64),
        )

    @classmethod
    def at(cls, problem: Problem, Z: Floats, F: Floats) -> Solution:
        """Return the solution at a feasible point, with ``F = K Z``."""
        solution = cls.empty(Z)
        solution.update(np.arange(problem.k), Z, F, problem.evaluate(Z, F))
        return solution

    def update(self, columns: NDArray[np.int64], Z: Floats, F: Floats, values: Objective) -> None:
        """Update the given columns whose gap has decreased."""
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
    def stopped(self) -> Status | None:
        """STOPPED or MAX_TIME if a callback or the time limit stopped the run, else None."""
        return next((s for s in self.status if s in (Status.STOPPED, Status.MAX_TIME)), None)

    def columns(self, index: NDArray[np.int64]) -> Solution:
        """Return the given columns, without their history."""
        return Solution(
            self.Z[:, index],
            self.F[:, index],
            self.primal[index],
            self.dual[index],
            self.intercept[index],
            self.gap[index],
            self.n_iter[index],
            [self.status[j] for j in index],
            self.n_rounds[index],
        )

    def improve(self, columns: NDArray[np.int64], other: Solution) -> None:
        """Replace the given columns by the columns of `other` that have a smaller gap.

        If `other` was stopped early, the columns get its status in any case.
        """
        better = np.flatnonzero(other.gap < self.gap[columns])
        for name in ("Z", "F", "primal", "dual", "intercept", "gap"):
            getattr(self, name)[..., columns[better]] = getattr(other, name)[..., better]
        for j, status in enumerate(other.status):
            if j in better or status in (Status.STOPPED, Status.MAX_TIME):
                self.status[columns[j]] = status

    def end(self, columns: NDArray[np.int64], answer: Status | bool) -> None:
        """Set the status of columns; True means STOPPED."""
        for j in columns:
            self.status[j] = answer if isinstance(answer, Status) else Status.STOPPED

    def accept(self, tol: float) -> None:
        """Mark columns with a gap of at most `tol` as converged."""
        self.end(np.flatnonzero(self.gap <= tol), Status.CONVERGED)
