"""The duals with nu instead of C (classification) or epsilon (regression).

Both fix the sum of abs(z)::

    classification    min 1/2 z'Kz           0 <= y z <= w,   sum z = 0,   sum |z| = nu sum w
    regression        min 1/2 z'Kz - y'z     |z| <= C w,      sum z = 0,   sum |z| = nu C sum w

With the multiplier t of this sum, they are a C-SVC for ``C = 1 / t``, whose coefficients are
``z / t``, and an epsilon-SVR for ``epsilon = -t``. Their solutions are piecewise linear in t, and
sum |z| increases with t. So a few steps of a bracketing secant method find t; each of them starts
from the line through both ends of the bracket. The point on this line that has the required sum is
feasible, and optimal as soon as most coefficients are on the same piece at both ends. A sample of
the rows gives the first t.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hssvm.dropin.exact import UnsolvedError, snap, solve_exactly
from hssvm.dropin.expansion import between, libsvm_intercept
from hssvm.kernels.base import Floats, Kernel, Rows
from hssvm.problems import Problem, SVCProblem, SVRProblem

MAX_SECANT_STEPS = 30
"""Number of values of t that are tried."""

SOLVE_SHARE, FIRST_SHARE = 0.1, 10.0
"""Tolerance of the solutions at both ends, relative to that of the point between them, and of those
that are found before there is a bracket."""

LARGEST_TOL = 0.1
"""Largest tolerance of a C-SVC."""

OVERSHOOT = 0.05
"""By how much a step aims beyond the required sum, relative to the distance of the nearer end, so
that it replaces the farther end; four times as much each time that it fails to."""

SAMPLED, SAMPLE_SHARE, NU_SAMPLE_TOL = 1000, 4, 1e-2
"""Number of rows from which on a sample gives the first t, one row in how many it has, and the
tolerance of its solution."""

SMALLEST_MARGIN = 1e-10
"""Smallest t of a classifier, relative to the mean of the diagonal of K times the sum of weights:
below, nu is so small that the classes cannot be separated with any margin."""

NO_MARGIN = "nu is so small that the margin is 0; raise nu"
NOT_FOUND = "hssvm found no solution for this nu"


@dataclass(frozen=True, eq=False)
class NuSolution:
    """The solution of a dual with nu.

    Attributes
    ----------
    z : (n,)
        Coefficients of the equivalent C-SVC or epsilon-SVR.
    intercept : float
    t : float
        1 / C, or -epsilon.
    n_iter : int
    """

    z: Floats
    intercept: float
    t: float
    n_iter: int


def solve_nu_svc(weight: Floats, nu: float, kernel: Kernel, X: Rows, tol: float) -> NuSolution:
    """Solve the dual of nu-classification.

    Parameters
    ----------
    weight : (n,)
        The sign is the label of the row, the absolute value its weight.
    nu : float
        Feasible: at most twice the weight of the smaller class, divided by that of both.
    kernel : Kernel
    X : (n, p) array or CSR matrix
    tol : float
        Of LIBSVM, which applies it to the coefficients before they are divided by t.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.dropin.nu import solve_nu_svc
    >>> from hssvm.kernels import Gaussian
    >>> X = np.random.default_rng(0).standard_normal((200, 2))
    >>> solution = solve_nu_svc(np.where(X[:, 0] > 0, 1.0, -1.0), 0.3, Gaussian(1.0), X, 1e-3)
    >>> round(float(np.abs(solution.z).sum() * solution.t / 200), 3)
    0.3
    """
    bound = np.abs(weight)
    mass = float(bound.sum())
    smallest = SMALLEST_MARGIN * mass * float(kernel.diag(X).mean())

    def solve(t: float, start: Floats | None, tol: float) -> Point:
        if not t > smallest:
            raise UnsolvedError(NO_MARGIN)
        Z = None if start is None else start[:, None] / t
        scaled_tol = min(tol / t, LARGEST_TOL)
        found = solve_exactly(SVCProblem(weight[:, None] / t), kernel, X, scaled_tol, Z)
        at_bound = np.abs(found.Z[:, 0]) == bound / t
        return Point(t, np.where(at_bound, weight, t * found.Z[:, 0]), t * found.F[:, 0])

    def groups(point: Point) -> list[Group]:
        return [
            Group(sign * point.F[own], np.abs(point.z[own]), bound[own])
            for sign, own in ((1, weight > 0), (-1, weight < 0))
        ]

    first = 1.0
    if weight.size >= SAMPLED:
        rows = np.concatenate([_sample(np.flatnonzero(own)) for own in (weight > 0, weight < 0)])
        try:
            sample = solve_nu_svc(weight[rows], nu, kernel, X[rows], NU_SAMPLE_TOL)
            first = sample.t * mass / float(bound[rows].sum())
        except UnsolvedError:  # nu may be feasible for all rows only
            pass
    search = Search(SVCProblem(weight[:, None]), nu * mass, tol, solve, groups)
    point = search.run(first, lambda t, ratio: t * ratio)
    one, other = (group.level(tol) for group in groups(point))
    margin = (one + other) / 2
    if not margin > smallest:
        raise UnsolvedError(NO_MARGIN)
    return NuSolution(point.z / margin, (other - one) / (2 * margin), margin, search.n_steps)


def solve_nu_svr(
    y: Floats, bound: Floats, nu: float, kernel: Kernel, X: Rows, tol: float
) -> NuSolution:
    """Solve the dual of nu-regression.

    Parameters
    ----------
    y, bound : (n,)
        `bound` is C times the weights.
    nu, kernel, X, tol
        See `solve_nu_svc`.
    """
    widest = float(np.ptp(y)) / 2
    if not widest > 0:
        raise UnsolvedError("y is constant")

    def solve(t: float, start: Floats | None, tol: float) -> Point:
        problem = SVRProblem(y[:, None], bound[:, None], np.array([-t]))
        found = solve_exactly(problem, kernel, X, tol, _column(start))
        return Point(t, found.Z[:, 0], found.F[:, 0])

    def groups(point: Point) -> list[Group]:
        slope = point.F - y
        return [Group(sign * slope, np.maximum(sign * point.z, 0), bound) for sign in (1, -1)]

    def move(t: float, ratio: float) -> float:
        epsilon = min(-t / ratio, widest)  # where all rows are in the tube
        return -epsilon if epsilon > 1e-3 * widest else 0.0

    first = -widest / 4
    if y.size >= SAMPLED:
        rows = _sample(np.arange(y.size))
        try:
            sample = solve_nu_svr(y[rows], bound[rows], nu, kernel, X[rows], NU_SAMPLE_TOL)
            first = min(sample.t, 0.0)
        except UnsolvedError:
            pass
    tubeless = SVRProblem(y[:, None], bound[:, None], np.zeros(1))
    search = Search(tubeless, nu * float(bound.sum()), tol, solve, groups, largest=0.0)
    point = search.run(max(first, -widest / 2), move)
    if point.t == 0:  # alpha and alpha* overlap, so that free ones are in both groups
        intercept = libsvm_intercept(tubeless, point.z[:, None], point.F[:, None], tol)
        return NuSolution(point.z, intercept, 0.0, search.n_steps)
    one, other = (group.level(tol) for group in groups(point))
    return NuSolution(point.z, (other - one) / 2, (one + other) / 2, search.n_steps)


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
        """Return the point at a share of the way to another one."""
        t = (1 - share) * self.t + share * other.t
        z = (1 - share) * self.z + share * other.z
        F = (1 - share) * self.F + share * other.F
        return Point(t, np.where(self.z == other.z, self.z, z), F)  # bounds stay exact


@dataclass(frozen=True, eq=False)
class Group:
    """Variables whose sum is fixed: the coefficients of one sign, without it.

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


def _column(z: Floats | None) -> Floats | None:
    return None if z is None else z[:, None]


def _sample(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return some of the rows, chosen at random with a fixed seed, ascending."""
    order = np.random.default_rng(0).permutation(rows)
    return np.sort(order[: max(1, rows.size // SAMPLE_SHARE)])
