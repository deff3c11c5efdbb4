"""An interior-point method for few rows.

SMO needs millions of steps if C is large, or if features with large values are not scaled. This
method needs 10 to 40 factorizations, whatever the scale of K and C.

Split ``z = p - m`` into ``0 <= p <= upper`` and ``0 <= m <= -lower``, so that the l1 term is
linear. Call an entry of p or m a side. A side a has a multiplier s for a >= 0, and t for the slack
w = width - a >= 0. With the sign of the side, the optimality conditions are::

    sign (K z - linear + b) + l1_weight - s + t = 0,    sum z = r,    a s = 0,    w t = 0.

Newton's method on these, with a small mu instead of the zeros, keeps a, w, s and t positive.
Eliminating all but dz and db leaves a linear system of the size of K::

    (K + D) dz + db = h,    sum dz = r - sum z,    1 / D = sum of 1 / (s / a + t / w) over sides.

A ridge is a part of K here, and an infinite bound is replaced by one that no solution reaches.

This is the predictor-corrector method of Mehrotra (1992). Its iterates approach a vertex: most
coefficients are 0 or at their bounds. This vertex is computed from every iterate and returned.
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import scipy.linalg

from hssvm._threads import with_serial_blas
from hssvm.kernels.base import Floats
from hssvm.kernels.lazy import LazyKernelMatrix
from hssvm.problems.base import Problem
from hssvm.problems.objective import Objective
from hssvm.progress import Gap, emit
from hssvm.solvers.equality import nearest_feasible
from hssvm.solvers.polish import solve_with_sum
from hssvm.solvers.solution import Solution, Status, Stop

MAX_INTERIOR_ITER, INTERIOR_PATIENCE = 100, 10
"""Maximum number of iterations, and of iterations without a smaller gap."""

SOLVED = 1e-2
"""Gap of an iterate up to which only rounding errors can have stopped the iterations."""

TO_BOUNDARY = 0.99
"""Fraction of the longest step that keeps all variables positive."""


@with_serial_blas
def solve_interior(
    problem: Problem,
    kernel_matrix: LazyKernelMatrix,
    solution: Solution,
    tol: float,
    stop: Stop | None = None,
    max_iter: float = np.inf,
) -> bool:
    """Improve the columns of `solution` with a gap above `tol`, in place, one by one.

    Parameters
    ----------
    problem : Problem
    kernel_matrix : LazyKernelMatrix
    solution : Solution
        A feasible point with its gap. Its `n_iter` increases by the number of iterations.
    tol : float
        Relative duality gap.
    stop
        See `WorkingSet`.
    max_iter : float
        Maximum `n_iter` of a column.

    Returns
    -------
    bool
        Whether every column is solved to the precision of K, although rounding its coefficients to
        the precision of the problem may have left a larger gap. False if K is not positive
        semidefinite.
    """
    left = np.flatnonzero((solution.gap > tol) & (solution.n_iter < max_iter))
    solved = True
    if left.size == 0:
        return solved
    K = np.asarray(kernel_matrix.kernel.block(kernel_matrix.X.astype(np.float64)), np.float64)
    if problem.ridge is not None:
        K[np.diag_indices(problem.n)] += problem.ridge
    for j in left.tolist():
        run = _Run(problem.columns(np.array([j])), K)
        best, best_at = np.inf, 0
        status: Status | bool | None = None
        for iteration in range(MAX_INTERIOR_ITER):
            run.update(solution, j)
            gap, mu = float(solution.gap[j]), run.mu()
            emit(Gap(iteration, gap), "interior point %d: gap %.1e", iteration, gap)
            status = stop and stop()
            if mu < 0.9 * best:
                best, best_at = mu, iteration
            stuck = iteration - best_at >= INTERIOR_PATIENCE
            if solution.n_iter[j] >= max_iter:
                status = status or Status.MAX_ITER
            if status or gap <= tol or stuck or not run.step():
                break
            solution.n_iter[j] += 1
        if solution.gap[j] > tol:  # rounding errors, or no single vertex
            solution.update(np.array([j]), *run.inside)
        solved &= run.least_gap <= max(tol, SOLVED)
        solution.end(np.array([j]), status or Status.stalled(problem.dtype))
    solution.accept(tol)
    return solved


class _Run:
    """The variables of a column, which is a problem with k = 1."""

    def __init__(self, problem: Problem, K: Floats) -> None:
        lower, upper = (side[:, 0].astype(np.float64) for side in problem.box(np.arange(problem.n)))
        linear = problem.linear[:, 0].astype(np.float64)
        if problem.ridge is not None:  # z'Kz + sum ridge z^2 <= linear'z at a solution
            ridge = problem.ridge.astype(np.float64)
            most = np.sqrt((linear**2 / ridge).sum() / ridge)
            lower, upper = np.maximum(lower, -2 * most), np.minimum(upper, 2 * most)
        self.problem, self.K = problem, K
        self.linear, self.l1_weight = linear, float(problem.l1_weight[0])
        self.rows = np.concatenate([np.flatnonzero(upper > 0), np.flatnonzero(lower < 0)])
        self.sign = np.repeat([1.0, -1.0], [(upper > 0).sum(), (lower < 0).sum()])
        width = np.where(self.sign > 0, upper[self.rows], -lower[self.rows])
        self.total = float(problem.equality_rhs[0])
        self.cost = self.l1_weight - self.sign * linear[self.rows]
        self.a, self.w, self.b = width / 2, width / 2, 0.0
        scale = max(1.0, float(np.abs(self.slope()).max(initial=0)))
        self.s, self.t = np.full(width.size, scale), np.full(width.size, scale)
        self.to_zero = self.to_width = np.zeros(width.size, np.bool_)
        self.least_gap = np.inf  # over the iterates, in float64
        self.inside = self.evaluate(np.zeros(problem.n))  # the iterate with the smallest gap

    def sums(self, values: Floats) -> Floats:
        """Sum over the sides of each row, (n,)."""
        sums: Floats = np.bincount(self.rows, values, self.K.shape[0]).astype(np.float64)
        return sums

    def slope(self) -> Floats:
        """Derivative of the Lagrangian without s and t."""
        gradient = self.K @ self.sums(self.sign * self.a) + self.b
        slope: Floats = self.sign * gradient[self.rows] + self.cost
        return slope

    def mu(self) -> float:
        """Mean of the products that are 0 at the solution."""
        return float(self.a @ self.s + self.w @ self.t) / (2 * max(1, self.a.size))

    def update(self, solution: Solution, j: int) -> None:
        """Update column j by the vertex that the iterates approach."""
        solution.update(np.array([j]), *self.evaluate(self.vertex()))
        z = self.sums(self.sign * self.a)
        unrounded = self.problem.evaluate(z[:, None], self.values(z)[:, None])
        self.least_gap = min(self.least_gap, abs(float(unrounded.gap[0])))
        inside = self.evaluate(z)
        if inside[2].gap[0] < self.inside[2].gap[0]:
            self.inside = inside

    def evaluate(self, z: Floats) -> tuple[Floats, Floats, Objective]:
        """Z, F and the objectives at the feasible point nearest to z."""
        weights = np.ones(z.size, self.problem.dtype)
        Z = nearest_feasible(self.problem, z[:, None].astype(weights.dtype), weights)
        F = self.values(Z.astype(np.float64))
        return Z, F, self.problem.evaluate(Z, F)

    def values(self, Z: Floats) -> Floats:
        """Decision values without the intercept, (n,) or (n, 1)."""
        F: Floats = self.K @ Z
        return F if self.problem.ridge is None else F - (self.problem.ridge * Z.T).T

    def vertex(self) -> Floats:
        """Return z with sides that approach a bound set to it, and the others optimal."""
        a = np.where(self.to_zero, 0, np.where(self.to_width, self.a + self.w, self.a))
        z = self.sums(self.sign * a)
        free = np.unique(self.rows[~(self.to_zero | self.to_width)])
        if free.size:
            slope = (self.K @ z + self.b - self.linear)[free] + self.l1_weight * np.sign(z[free])
            K = self.K[np.ix_(free, free)]
            with suppress(np.linalg.LinAlgError):
                z[free] += solve_with_sum(K, -slope, self.total - z.sum())
        return z

    def step(self) -> bool:
        """Make an iteration; False if rounding errors prevent it."""
        a, w, s, t = self.a, self.w, self.s, self.t
        residual = self.slope() - s + t
        missing = self.total - float(self.sign @ a)
        theta = s / a + t / w
        inverse = self.sums(1 / theta)
        used = np.flatnonzero(inverse)
        H = self.K[np.ix_(used, used)]
        H[np.diag_indices(used.size)] += 1 / inverse[used]
        try:
            factor = scipy.linalg.cho_factor(H, lower=True, overwrite_a=True)
        except (np.linalg.LinAlgError, ValueError):  # ValueError: not finite
            return False
        unit = scipy.linalg.cho_solve(factor, np.ones(used.size))

        def direction(to_s: Floats, to_t: Floats) -> tuple[Floats, Floats, Floats, float]:
            """Newton step that changes a s by `to_s` and w t by `to_t`, to first order."""
            q = to_s / a - to_t / w - residual
            h = (self.sums(self.sign * q / theta)[used]) / inverse[used]
            dz = scipy.linalg.cho_solve(factor, h)
            db = float((dz.sum() - missing) / unit.sum())
            dz -= db * unit
            change = np.zeros_like(inverse)
            change[used] = h - dz / inverse[used]  # K dz + db
            da = (q - self.sign * change[self.rows]) / theta
            return da, (to_s - s * da) / a, (to_t + t * da) / w, db

        def length(da: Floats, ds: Floats, dt: Floats) -> float:
            """Longest step, up to 1, that keeps all variables positive."""
            ratios = [(-d / x).max() for x, d in ((a, da), (w, -da), (s, ds), (t, dt))]
            return 1 / max(1.0, *ratios)

        mu = self.mu()
        da, ds, dt, _ = direction(-a * s, -w * t)
        # A variable that approaches 0 does so at once, while its multiplier hardly changes.
        self.to_zero, self.to_width = da < -a / 2, da > w / 2
        along = length(da, ds, dt)
        ahead = (a + along * da) @ (s + along * ds) + (w - along * da) @ (t + along * dt)
        center = mu * (ahead / (2 * a.size * mu)) ** 3
        da, ds, dt, db = direction(center - a * s - da * ds, center - w * t + da * dt)
        along = TO_BOUNDARY * length(da, ds, dt)
        self.a, self.w, self.b = a + along * da, w - along * da, self.b + along * db
        self.s, self.t = s + along * ds, t + along * dt
        return bool(np.isfinite(self.b) and min(self.a.min(), self.w.min()) > 0)
