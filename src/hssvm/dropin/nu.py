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

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hssvm.dropin.exact import UnsolvedError, solve_exactly
from hssvm.dropin.expansion import libsvm_intercept
from hssvm.dropin.nu_search import Group, Point, Search
from hssvm.kernels.base import Floats, Kernel, Rows
from hssvm.problems import SVCProblem, SVRProblem

LARGEST_TOL = 0.1
"""Largest tolerance of a C-SVC."""

SAMPLED, SAMPLE_SHARE, NU_SAMPLE_TOL = 1000, 4, 1e-2
"""Number of rows from which a sample gives the first t, the ratio of all rows to its rows, and the
tolerance of its solution."""

SMALLEST_MARGIN = 1e-10
"""Smallest t of a classifier, relative to the mean of the diagonal of K times the sum of weights:
below, nu is so small that the classes cannot be separated with any margin."""

NO_MARGIN = "nu is so small that the margin is 0; raise nu"


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
        Feasible: at most twice the weight of the smaller class, divided by the weight of both.
    kernel : Kernel
    X : (n, p) array or CSR matrix
    tol : float
        LIBSVM's tolerance, which applies to the coefficients before they are divided by t.

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


def _column(z: Floats | None) -> Floats | None:
    return None if z is None else z[:, None]


def _sample(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return some of the rows, chosen at random with a fixed seed, ascending."""
    order = np.random.default_rng(0).permutation(rows)
    return np.sort(order[: max(1, rows.size // SAMPLE_SHARE)])
