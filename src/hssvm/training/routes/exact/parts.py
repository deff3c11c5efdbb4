"""Solution of a problem on the exact kernel, part by part.

Parts, such as pairs of classes, are independent of each other, so they are solved at the same time,
one thread each::

    one part              by the exact solver, with all threads
    parts of few rows     by the core, thousands with one call
    other parts           in a Python thread each, after parts that are too large for one thread
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from hssvm import _core, costs
from hssvm.kernels.base import CoreKernel, Floats, Rows, as_rows, core_rows
from hssvm.problems import BaseProblem, Part
from hssvm.problems.base import Objective
from hssvm.progress import Share, emit
from hssvm.solvers import Solution, Status
from hssvm.solvers.equality import nearest_feasible
from hssvm.training.reports.monitor import Monitor
from hssvm.training.routes.exact.solver import ExactSolver
from hssvm.training.threads import map_in_threads, thread_count_of

MANY_PARTS, BATCHED_ROWS, BATCHED_STEPS = 100, 2000, 20_000
"""Parts of at most BATCHED_ROWS rows are solved by the core, in BATCHED_STEPS steps: in Python, the
overhead of a part would exceed the time of its solution. Small tolerances are an exception, as
active-set steps in Python reach them sooner, unless there are more than MANY_PARTS."""

BATCH_ROWS = 2**17
"""Number of rows of the parts of one call, between two reports of progress."""


def solve_parts(
    problem: BaseProblem,
    X: Rows,
    solver: ExactSolver,
    monitor: Monitor,
    start: Floats | None = None,
    *,
    with_F: bool = False,
) -> Solution:
    """Solve all parts of a problem.

    Parameters
    ----------
    problem : BaseProblem
    X : (n, p) array or CSR matrix
    solver : ExactSolver
        Its memory and work limits apply to all parts together.
    monitor : Monitor
    start : (n, k), optional
        Initial coefficients, which need not be feasible; else 0.
    with_F : bool
        Whether to return the decision values of the rows in their parts, without the intercepts.

    Returns
    -------
    Solution
        With Z and F, (n, k), as in the problem; F may be empty. The other arrays have an entry for
        each column.
    """
    Z: Floats = np.zeros((problem.n, problem.k), problem.dtype)
    if problem.n_parts == 1:
        return _solve_single(problem, X, solver, monitor, Z if start is None else start)
    solution = Solution.empty(np.zeros((0, problem.n_columns), problem.dtype))
    solution.Z = Z
    if with_F:
        solution.F = np.zeros_like(Z)
    if start is not None:
        for part in problem.parts():
            weights = np.ones(part.problem.n, problem.dtype)
            part.put(nearest_feasible(part.problem, part.pick(start), weights), Z)
    run = _Run(problem, X, solver, monitor, solution, problem.part_sizes)
    left, empty = np.flatnonzero(run.sizes > 0), run.sizes == 0  # as where a fold lacks classes
    solution.primal[empty] = solution.dual[empty] = solution.gap[empty] = 0
    solution.end(np.flatnonzero(empty), Status.CONVERGED)
    core = isinstance(solver.kernel, CoreKernel) and not scipy.sparse.issparse(X)
    few = left[run.sizes[left] <= BATCHED_ROWS]
    if core and few.size > (MANY_PARTS if solver.polishes else 0):
        batch = np.cumsum(run.sizes[few]) // BATCH_ROWS
        for indices in np.split(few, np.flatnonzero(np.diff(batch)) + 1):
            run.solve_batch(indices)
            _emit_share(int((solution.gap <= solver.tol).sum()), problem.n_parts)
        stopped = np.array([status is not Status.MAX_ITER for status in solution.status])
        solution.accept(solver.tol)
        left = np.flatnonzero((solution.gap > solver.tol) & ~stopped)
    run.solve_one_by_one(left)
    return solution


def _solve_single(
    problem: BaseProblem, X: Rows, solver: ExactSolver, monitor: Monitor, start: Floats
) -> Solution:
    part = problem.part(0)
    solution = solver.solve(part.problem, part.take(X), part.pick(start), monitor)
    return in_whole_problem(solution, part, problem)


def in_whole_problem(solution: Solution, part: Part, problem: BaseProblem) -> Solution:
    """Return the solution of the only part, with Z and F as in the problem, (n, k)."""
    if part.places is not None:
        for name in ("Z", "F"):
            whole: Floats = np.zeros((problem.n, problem.k), problem.dtype)
            part.put(getattr(solution, name), whole)
            setattr(solution, name, whole)
    return solution


@dataclass(eq=False)
class _Run:
    """Solves parts, given by their indices, and writes the results to `solution`."""

    problem: BaseProblem
    X: Rows
    solver: ExactSolver
    monitor: Monitor
    solution: Solution
    sizes: NDArray[np.int64]

    def solve_batch(self, indices: NDArray[np.int64]) -> None:
        """Solve parts by the core, or only evaluate them if the fit should stop."""
        solver, solution = self.solver, self.solution
        assert isinstance(solver.kernel, CoreKernel)
        status = self.monitor.stop()
        batch = self.problem.batch(indices)
        z = solution.Z[batch.rows, batch.columns]
        F = np.empty_like(z)
        primal, dual, intercept = np.empty((3, indices.size))
        steps = np.empty(indices.size, np.int64)
        max_steps = 0 if status else int(min(BATCHED_STEPS, solver.max_iter))
        _core.solve_pairs(
            solver.kernel.core, core_rows(as_rows(self.X)), batch.offsets, batch.rows, batch.bound,
            solver.tol, max_steps, z, F, primal, dual, intercept, steps, self.monitor.stop,
        )  # fmt: skip
        status = status or self.monitor.stop()
        gap = Objective(primal, dual, intercept, np.zeros(indices.size)).gap
        finite = np.isfinite(gap)  # the others are left for `solve_one_by_one`
        rows = np.repeat(finite, np.diff(batch.offsets))
        solution.Z[batch.rows[rows], batch.columns[rows]] = z[rows]
        if solution.F.size:
            solution.F[batch.rows[rows], batch.columns[rows]] = F[rows]
        solved = indices[finite]
        solution.primal[solved], solution.dual[solved] = primal[finite], dual[finite]
        solution.intercept[solved], solution.gap[solved] = intercept[finite], gap[finite]
        solution.n_iter[solved], solution.n_rounds[solved] = steps[finite], steps[finite] > 0
        if status is not None:
            solution.end(indices[solution.gap[indices] > solver.tol], status)

    def solve_one_by_one(self, indices: NDArray[np.int64]) -> None:
        """Solve parts at the same time, one thread each, after parts that are too large for one."""
        work = self.sizes.astype(np.float64) ** 2
        share = work / work.sum()
        n_threads = thread_count_of(self.solver.kernel)
        counter = count(self.problem.n_parts - indices.size + 1)

        def solve(index: int, monitor: Monitor, memory: float) -> tuple[Part, Solution]:
            part = self.problem.part(index)
            limit = max(costs.MIN_PART_BUDGET, self.solver.max_work * share[index])
            max_iter = self.solver.max_iter - self.solution.n_iter[index]
            own = replace(self.solver, memory=memory, max_work=limit, max_iter=max_iter)
            start = part.pick(self.solution.Z)
            return part, own.solve(part.problem, part.take(self.X), start, monitor)

        def keep(index: int, part: Part, solved: Solution) -> None:
            solution = self.solution
            part.put(solved.Z, solution.Z)
            if solution.F.size:
                part.put(solved.F, solution.F)
            for name in ("primal", "dual", "intercept", "gap"):
                getattr(solution, name)[index] = getattr(solved, name)[0]
            solution.n_iter[index] += solved.n_iter[0]
            solution.n_rounds[index] += solved.n_rounds[0]
            solution.status[index] = solved.status[0]
            solution.n_working = max(solution.n_working, solved.n_working)
            _emit_share(next(counter), self.problem.n_parts)

        # A part with more than a thread's share of the work gets all threads.
        large = share[indices] > 1 / n_threads
        for index in indices[large].tolist():
            keep(index, *solve(index, self.monitor, self.solver.memory))
        others = indices[~large]
        at_once = others[np.argsort(-work[others], kind="stable")].tolist()
        solved = map_in_threads(
            lambda index, shared: solve(index, shared, self.solver.memory / n_threads),
            at_once, self.monitor, n_threads, 1,
        )  # fmt: skip
        for index, result in zip(at_once, solved, strict=True):
            keep(index, *result)


def _emit_share(solved: int, total: int) -> None:
    emit(Share(solved / total), "%d of %d pairs of classes", solved, total)
