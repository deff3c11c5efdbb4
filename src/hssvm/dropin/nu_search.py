"""The search for the multiplier of sum |z| in duals with nu; see `hssvm.dropin.nu`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hssvm.dropin.exact import UnsolvedError, snap
from hssvm.dropin.expansion import between
from hssvm.kernels.base import Floats
from hssvm.problems import Problem

MAX_SECANT_STEPS = 30
"""Number of values of t that are tried."""

SOLVE_SHARE, FIRST_SHARE = 0.1, 10.0
"""Tolerance of the solutions at both ends of the bracket, and of the solutions before there is a
bracket, relative to the tolerance of the point between the ends."""

OVERSHOOT = 0.05
"""By how much a step aims beyond the required sum, relative to the distance of the nearer end, so
that it replaces the farther end; four times as much each time that it fails to."""

NOT_FOUND = "hssvm found no solution for this nu"


class Point:
    """The solution for a value of t.

    Attributes
    ----------
    t : float
    z, F : (n,)
        Coefficients, and ``K z``.
    total : float
        Sum of abs(z).
    """

    def __init__(self, t: float, z: Floats, F: Floats) -> None:
        self.t, self.z, self.F = t, z, F
        self.total = float(np.abs(z).sum())

    def toward(self, other: Point, share: float) -> Point:
        """Return the point at a share of the way to another point."""
        t = (1 - share) * self.t + share * other.t
        z = (1 - share) * self.z + share * other.z
        F = (1 - share) * self.F + share * other.F
        return Point(t, np.where(self.z == other.z, self.z, z), F)  # bounds stay exact


@dataclass(frozen=True, eq=False)
class Group:
    """Variables whose sum is fixed: the absolute values of the coefficients of one sign.

    Attributes
    ----------
    slope, value, bound : (m,)
        Gradient of the objective, without t; the variable, and its largest value.
    """

    slope: NDArray[np.floating]
    value: NDArray[np.floating]
    bound: NDArray[np.floating]

    def violation(self) -> float:
        """Largest decrease of the objective per unit moved from one variable to another."""
        rise = self.slope[self.value < self.bound].min(initial=np.inf)
        fall = self.slope[self.value > 0].max(initial=-np.inf)
        return float(fall - rise)

    def level(self, tol: float) -> float:
        """Slope of the free variables, as LIBSVM computes it: their mean, or between the others."""
        free = (self.value > 0) & (self.value < self.bound)
        if free.any():
            return float(self.slope[free].mean())
        above = self.slope[self.value == 0].min(initial=np.inf)
        return between(self.slope[self.value > 0].max(initial=-np.inf), above, tol)


@dataclass(eq=False)
class Search:
    """A bracketing secant method for the t at which sum |z| has the required value.

    Attributes
    ----------
    problem : Problem
        Has the bounds of z.
    required : float
        Sum of abs(z).
    tol : float
    solve : callable
        Returns the point for t, from initial coefficients or None, with a tolerance.
    groups : callable
        Returns the groups of variables of a point.
    largest : float
        Largest t, for which the sum may be smaller than required.
    low, high : Point or None
        The ends of the bracket.
    n_steps : int
    """

    problem: Problem
    required: float
    tol: float
    solve: Callable[[float, Floats | None, float], Point]
    groups: Callable[[Point], list[Group]]
    largest: float = np.inf
    low: Point | None = None
    high: Point | None = None
    n_steps: int = 0

    def run(self, t: float, move: Callable[[float, float], float]) -> Point:
        """Return the solution, from a first t.

        While an end of the bracket is missing, ``move(t, ratio)`` changes t so that the sum changes
        by about the ratio, if t is large.
        """
        start: Floats | None = None
        power, overshoot, was_low = 2.0, OVERSHOOT, None
        for self.n_steps in range(1, MAX_SECANT_STEPS + 1):
            bracketed = self.low is not None and self.high is not None
            point = self.solve(t, start, (SOLVE_SHARE if bracketed else FIRST_SHARE) * self.tol)
            is_low = point.total <= self.required
            self.low, self.high = (point, self.high) if is_low else (self.low, point)
            if is_low and t >= self.largest:
                return self.solve(t, point.z, SOLVE_SHARE * self.tol)
            if self.low is None or self.high is None:
                ratio = self.required / max(point.total, 0.1 * self.required)
                t = move(t, float(np.clip(ratio**power, 0.1, 10)) * (1.02 if is_low else 0.98))
                start, power = point.z, 2 * power
                continue
            low, high = self.low, self.high
            between = low.toward(high, (self.required - low.total) / (high.total - low.total))
            snap(self.problem, between.z[:, None])
            if max(group.violation() for group in self.groups(between)) <= self.tol:
                return between
            overshoot = 4 * overshoot if was_low == is_low else OVERSHOOT
            was_low = is_low
            below, above = self.required - low.total, high.total - self.required
            beyond = overshoot * (below if below < above else -above)
            share = float(np.clip((below + beyond) / (below + above), 1e-3, 1 - 1e-3))
            t, start = low.t + share * (high.t - low.t), low.toward(high, share).z
            if not low.t < t < high.t:
                break
        raise UnsolvedError(NOT_FOUND)
