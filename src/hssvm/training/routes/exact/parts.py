"""Solution of a problem on the exact kernel, part by part.

Parts, such as pairs of classes or cells, are independent of each other, so they are solved at the
same time, one thread each::

    one part              by the exact solver, with all threads
    parts of few rows     by the core, thousands with one call
    other parts           in a Python thread each, after parts that are too large for one thread
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import count

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from hssvm import _core, costs
from hssvm.kernels.base import CoreKernel, Floats, Rows, as_rows, core_rows
from hssvm.problems import Part, PartedProblem
from hssvm.problems.objective import Objective
from hssvm.progress import Share, emit
from hssvm.solvers import Solution, Status
from hssvm.solvers.equality import nearest_feasible
from hssvm.training.reports.monitor import Monitor
from hssvm.training.routes.exact.solver import INTERIOR_BYTES, ExactSolver
from hssvm.training.threads import call_with_threads, map_in_threads, thread_count_of

MANY_PARTS, BATCHED_STEPS, STEPS_PER_ROW = 100, 20_000, 10
"""Parts of few rows are solved by the core, in BATCHED_STEPS steps, or STEPS_PER_ROW for each row:
in Python, the overhead of a part would exceed the time of its solution. Small tolerances are an
exception, as active-set steps in Python reach them sooner, unless there are more than
MANY_PARTS."""

BATCH_ROWS = 2**17
"""Number of rows of the parts of one call, between two reports of progress."""

PARTS_PER_THREAD = 8
"""Least number of parts of one call for each thread, so that threads rarely wait for the last part
of a call."""


def solve_parts(
    problem: PartedProblem,
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
    problem : PartedProblem
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
    left, empty = np.flatnonzero(run.sizes > 0), run.columns(np.flatnonzero(run.sizes == 0))
    solution.primal[empty] = solution.dual[empty] = solution.gap[empty] = 0  # a fold lacks classes
    solution.end(empty, Status.CONVERGED)
    few = left[run.sizes[left] <= problem.core_rows]
    least = MANY_PARTS if solver.polishes and not problem.many else 0
    if isinstance(solver.kernel, CoreKernel) and few.size > least:
        enough = PARTS_PER_THREAD * _core.thread_count() * int(run.sizes[few].max())
        batch = np.cumsum(run.sizes[few]) // max(BATCH_ROWS, enough)
        for indices in np.split(few, np.flatnonzero(np.diff(batch)) + 1):
            run.solve_batch(indices)
            run.emit_share(int((solution.gap <= run.goals).sum()) // problem.width)
        stopped = np.array([status is not Status.MAX_ITER for status in solution.status])
        solution.end(np.flatnonzero(solution.gap <= run.goals), Status.CONVERGED)
        left = np.unique(np.flatnonzero((solution.gap > run.goals) & ~stopped) // problem.width)
    run.solve_one_by_one(left)
    return solution


def _solve_single(
    problem: PartedProblem, X: Rows, solver: ExactSolver, monitor: Monitor, start: Floats
) -> Solution:
    part = problem.part(0)
    solution = solver.solve(part.problem, part.take(X), part.pick(start), monitor)
    return in_whole_problem(solution, part, problem)


def in_whole_problem(solution: Solution, part: Part, problem: PartedProblem) -> Solution:
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

    problem: PartedProblem
    X: Rows
    solver: ExactSolver
    monitor: Monitor
    solution: Solution
    sizes: NDArray[np.int64]

    @property
    def goals(self) -> NDArray[np.float64]:
        """Gap of each column."""
        return self.solver.tol * np.tile(self.problem.tol_factors, self.problem.n_parts)

    def columns(self, indices: NDArray[np.int64]) -> NDArray[np.int64]:
        """Columns of parts."""
        width = self.problem.width
        return (width * indices[:, None] + np.arange(width)).ravel()

    def emit_share(self, solved: int) -> None:
        """Emit the progress."""
        total = self.problem.n_parts
        emit(Share(solved / total), "%d of %d %s", solved, total, self.problem.part_name)

    def solve_batch(self, indices: NDArray[np.int64]) -> None:
        """Solve parts by the core, or only evaluate them if the fit should stop."""
        solver, solution = self.solver, self.solution
        status = self.monitor.stop()
        batch = self.problem.batch(indices)
        z = batch.places.pick(solution.Z)
        F = np.empty_like(z)
        primal, dual, intercept = np.empty((3, indices.size, self.problem.width))
        steps = np.empty(primal.shape, np.int64)
        most = np.maximum(BATCHED_STEPS, STEPS_PER_ROW * self.sizes[indices])
        max_steps = np.minimum(most, 0 if status else solver.max_iter).astype(np.int64)
        self._solve(
            batch.offsets, batch.places.rows, batch.lower, batch.upper, batch.linear,
            batch.l1_weight, solver.tol * self.problem.tol_factors, max_steps, z, F,
            primal, dual, intercept, steps, self.monitor.stop, batch.ridge,
        )  # fmt: skip
        status = status or self.monitor.stop()
        gap = Objective(primal, dual, intercept, np.zeros(primal.shape)).gap
        finite = np.isfinite(gap).all(axis=1)  # the others are left for `solve_one_by_one`
        rows = np.repeat(finite, np.diff(batch.offsets))
        batch.places.put(np.where(rows[:, None], z, batch.places.pick(solution.Z)), solution.Z)
        if solution.F.size:
            batch.places.put(np.where(rows[:, None], F, 0), solution.F)
        solved = self.columns(indices[finite])
        for name, values in (("primal", primal), ("dual", dual), ("intercept", intercept),
                             ("gap", gap), ("n_iter", steps), ("n_rounds", steps > 0)):  # fmt: skip
            getattr(solution, name)[solved] = values[finite].ravel()
        if status is not None:
            columns = self.columns(indices)
            solution.end(columns[(solution.gap > self.goals)[columns]], status)

    @cached_property
    def _solve(self) -> Callable[..., None]:
        """Return ``_core.solve_parts`` for the kernel matrix."""
        kernel = self.solver.kernel
        assert isinstance(kernel, CoreKernel)
        if scipy.sparse.issparse(self.X):
            return self._limited(partial(_core.solve_parts, kernel.matrix(self.X)))
        return self._limited(partial(_core.solve_parts, kernel.core, core_rows(as_rows(self.X))))

    def _limited(self, solve: Callable[..., None]) -> Callable[..., None]:
        """Return a function of the core with no more threads than there is memory for."""
        if not self.problem.waits_for_memory:
            return solve
        return partial(call_with_threads, self._at_a_time(self.problem.dtype.itemsize), solve)

    def _at_a_time(self, bytes_per_value: int) -> int:
        """Number of parts that are solved at a time."""
        n_threads = thread_count_of(self.solver.kernel)
        if not self.problem.waits_for_memory:
            return n_threads
        most = self.solver.memory / (bytes_per_value * int(self.sizes.max()) ** 2)
        return max(1, int(min(n_threads, most)))

    def solve_one_by_one(self, indices: NDArray[np.int64]) -> None:
        """Solve parts at the same time, one thread each, after parts that are too large for one."""
        work = self.sizes.astype(np.float64) ** 2
        share = work / work.sum()
        n_threads = self._at_a_time(INTERIOR_BYTES)  # enough memory for every method
        counter = count(self.problem.n_parts - indices.size + 1)

        def solve(index: int, monitor: Monitor, memory: float) -> tuple[Part, Solution]:
            part = self.problem.part(index)
            limit = max(costs.MIN_PART_BUDGET, self.solver.max_work * share[index])
            max_iter = self.solver.max_iter - self.solution.n_iter[part.columns].max()
            own = replace(self.solver, memory=memory, max_work=limit, max_iter=max_iter)
            start = part.pick(self.solution.Z)
            return part, own.solve(part.problem, part.take(self.X), start, monitor)

        def keep(part: Part, solved: Solution) -> None:
            solution = self.solution
            part.put(solved.Z, solution.Z)
            if solution.F.size:
                part.put(solved.F, solution.F)
            for name in ("primal", "dual", "intercept", "gap"):
                getattr(solution, name)[part.columns] = getattr(solved, name)
            solution.n_iter[part.columns] += solved.n_iter
            solution.n_rounds[part.columns] += solved.n_rounds
            solution.status[part.columns] = solved.status
            solution.n_working = max(solution.n_working, solved.n_working)
            self.emit_share(next(counter))

        # A part with more than a thread's share of the work gets all threads.
        large = share[indices] > 1 / n_threads
        for index in indices[large].tolist():
            keep(*solve(index, self.monitor, self.solver.memory))
        others = indices[~large]
        at_once = others[np.argsort(-work[others], kind="stable")].tolist()
        solved = map_in_threads(
            lambda index, shared: solve(index, shared, self.solver.memory / n_threads),
            at_once, self.monitor, n_threads, 1,
        )  # fmt: skip
        for result in solved:
            keep(*result)
