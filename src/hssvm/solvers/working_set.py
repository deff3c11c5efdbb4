"""Working-set solver on the exact kernel, from 0 or a solution on the compressed kernel.

This is a decomposition method. It keeps the dense kernel matrix of a *working set* U of rows in
memory. Sequential minimal optimization solves the problem restricted to U, which requires the
gradient on U only. Then ``F = K Z`` is updated by ``K[:, U] D``, where D is the change of Z, and
rows that violate the optimality conditions enter U. Three things make this fast:

- A good start: most rows are already at their final bound, and U needs only the others.
- Rows that the gradient holds at a bound by a margin are not watched: their F is refreshed only
  for a *check*, which evaluates the gap on all rows and selects the watched rows again.
- The core computes most kernel values faster than memory delivers stored ones, so U is the only
  cache. Where values cost more, as with hundreds of features, and all fit in memory, the
  rows of K that were computed are kept, and all rows are watched.

The columns of a problem share U, its kernel matrix, and all products.

The solvers of LIBSVM and its successors accept neither a start nor several columns, and are slower.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hssvm._threads import with_serial_blas
from hssvm.kernels.kept import KeptKernelMatrix, keep_rows
from hssvm.kernels.lazy import LazyKernelMatrix
from hssvm.problems.base import Problem
from hssvm.solvers.lazy_product import LazyProduct
from hssvm.solvers.optimality import optimal_scale, violations
from hssvm.solvers.rounding import evaluate
from hssvm.solvers.solution import Callback, Solution, Status
from hssvm.solvers.start import choose_start
from hssvm.solvers.working_kernel import INNER, Subproblem, WorkingKernel

logger = logging.getLogger(__name__)

WATCH = 0.2
"""Rows are watched if their violation exceeds minus this value."""

FIRST_VIOLATION = 0.1
"""Largest violation at which the first check is made."""

MAX_STEPS = 200_000
"""Maximum number of SMO steps per round: a few seconds between tests for Ctrl-C and max_time."""

PATIENCE = 50
"""Number of rounds without a smaller violation after which a column has stagnated."""


@dataclass(frozen=True)
class WorkingSet:
    """Working-set solver for a block of problems on the exact kernel.

    Parameters
    ----------
    tol : float
        Relative duality gap, on the exact kernel, at which a column stops.
    memory : float
        Bytes for the kernel matrix of the working set. If the free support vectors do not all fit,
        the solver needs more rounds.
    max_time : float
        Time limit in seconds, after which the best point so far is returned.
    callback : callable, optional
        Called as ``callback(round, violations)`` after every round. A true value stops the run; a
        `Status` becomes that of the unfinished columns.
    max_work : float
        Work limit in nominal seconds: counted operations times their cost on the two cores of the
        benchmarks. Unlike `max_time`, it does not depend on the load of the machine.
    first_violation : float
        Largest violation at which the gap is evaluated for the first time.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.kernels import Gaussian
    >>> from hssvm.kernels.lazy import LazyKernelMatrix
    >>> from hssvm.problems import SVCProblem
    >>> from hssvm.solvers import Solution, WorkingSet
    >>> X = np.random.default_rng(0).standard_normal((300, 2))
    >>> problem = SVCProblem(np.where(X[:, :1] * X[:, 1:] > 0, 10.0, -10.0))
    >>> start = Solution.empty(np.zeros((300, 1)))
    >>> solution = WorkingSet(1e-6).solve(problem, LazyKernelMatrix(Gaussian(1.0), X), start)
    >>> bool(solution.gap[0] < 1e-6)
    True
    """

    tol: float
    memory: float = 2e9
    max_time: float = np.inf
    callback: Callback | None = None
    max_work: float = np.inf
    first_violation: float = FIRST_VIOLATION

    @with_serial_blas
    def solve(
        self,
        problem: Problem,
        kernel_matrix: LazyKernelMatrix,
        start: Solution,
        rows: NDArray[np.int64] | None = None,
    ) -> Solution:
        """Solve all columns of `problem`.

        Parameters
        ----------
        problem : Problem
        kernel_matrix : LazyKernelMatrix
        start : Solution
            Feasible, with F and intercept on a kernel close to the exact one.
        rows : (q,) int64, optional
            Rows with which the working set begins, as many as fit; else it is empty at first.

        Returns
        -------
        Solution
            F, objectives and gap refer to the exact kernel; `n_iter` counts rounds.
        """
        solution = Solution.empty(start.Z)
        run = _Run(self, problem, kernel_matrix, solution)
        run.begin(start, rows)
        while run.open.size and not run.ended:
            run.round()
        if run.open.size:
            run.check()
        solution.n_working = run.working_set.rows.size
        return solution


class _Run:
    """The state of a run. Columns are removed when they are done."""

    def __init__(
        self, solver: WorkingSet, problem: Problem, K: LazyKernelMatrix, solution: Solution
    ) -> None:
        self.solver = solver
        self.problem = problem
        self.solution = solution
        self.open = np.arange(problem.k)
        self.violation_goal = np.full(problem.k, solver.first_violation)
        self.least_violation = np.full(problem.k, np.inf)
        self.least_at = np.zeros(problem.k, np.int64)
        self.rounds = 0
        self.began = time.perf_counter()
        self.ended = False
        K, memory = keep_rows(K, solver.memory)
        self.watch_all = isinstance(K, KeptKernelMatrix)
        self.n_values_before = K.n_values
        capacity = max(int((memory / K.dtype.itemsize) ** 0.5), 2 * problem.k)
        self.working_set = WorkingKernel(K, min(capacity, K.n))
        self.shuffle = np.random.default_rng(0)

    def begin(self, start: Solution, rows: NDArray[np.int64] | None) -> None:
        """Compute F at the start, and fill the working set."""
        problem, kernel_matrix = self.problem, self.working_set.kernel_matrix
        Z, watched = choose_start(problem, kernel_matrix, start, self.shuffle)
        if self.watch_all or rows is not None:
            watched = np.arange(problem.n)
        if rows is not None:
            self.working_set.admit(rows[: self.working_set.capacity], np.empty(0, np.int64))
        self.product = LazyProduct.at(kernel_matrix, Z, watched)
        self.product.scale(optimal_scale(problem, watched, Z[watched], self.product.F[watched]))

    def round(self) -> None:
        """Select rows, minimize over them, and update the gradient."""
        watched, product = self.product.watched, self.product
        Z = product.Z[watched]
        gradient = product.F[watched] - self.problem.linear[watched]
        inside = np.searchsorted(watched, self.working_set.rows)
        violation, max_violation, pair = violations(self.problem, watched, Z, gradient, inside)
        todo = max_violation > self.violation_goal
        self.detect_stagnation(max_violation, todo)
        if not todo.any():
            self.check()
            return
        self.rounds += 1
        relative = np.where(todo, violation / np.where(todo, max_violation, 1), -np.inf)
        priority = relative.max(axis=1)
        priority[pair[:, todo]] = np.inf
        self.working_set.exchange(watched, priority, self.shuffle)
        rows = self.working_set.rows
        at = np.searchsorted(watched, rows)
        lower, upper = self.problem.box(rows)
        subproblems = []
        for j in range(self.open.size):
            members = np.flatnonzero(relative[at, j] > -1)
            if members.size > rows.size / 2:
                members = np.arange(rows.size)  # using all of K is faster than copying a part
            subproblems.append(
                Subproblem(
                    members,
                    Z[at[members], j],
                    gradient[at[members], j].astype(Z.dtype),
                    lower[members, j],
                    upper[members, j],
                    float(self.problem.l1_weight[j]),
                    max(INNER * max_violation[j], self.violation_goal[j] / 2),
                )
            )
        solved, steps = self.working_set.descend(subproblems, MAX_STEPS)
        new = Z[at]
        for j, (subproblem, z) in enumerate(zip(subproblems, solved, strict=True)):
            new[subproblem.members, j] = z
        product.move(rows, new)
        self.log_round(max_violation, int(steps.sum()))

    def detect_stagnation(self, largest: NDArray[np.float64], todo: NDArray[np.bool_]) -> None:
        """Stop columns whose violation has stagnated."""
        fell = largest < 0.9 * self.least_violation
        self.least_violation[fell] = largest[fell]
        self.least_at[fell | ~todo] = self.rounds  # columns that wait for others have not stagnated
        todo &= ~self.stalled()

    def stalled(self) -> NDArray[np.bool_]:
        """Mask of columns whose violation has stagnated; a small working set gets more rounds."""
        patience = PATIENCE * self.problem.n / self.working_set.capacity
        return self.rounds - self.least_at >= patience

    def why_stalled(self, j: int) -> Status:
        """Tell apart a working set that is too small for the free rows, and rounding errors."""
        n_free = int(self.problem.free(self.product.Z)[:, j].sum())
        if n_free > self.working_set.capacity:
            return Status.MEMORY_LIMIT
        return Status.stalled(self.product.Z.dtype)

    def check(self) -> None:
        """Evaluate the gap on all rows, remove finished columns, and update the watched rows."""
        self.check_limits()
        product, solver = self.product, self.solver
        last = self.ended | self.stalled()
        values = evaluate(self.problem, product, solver.tol, last)
        self.solution.update(self.open, product.Z, product.F, values)
        self.solution.n_iter[self.open] = self.rounds
        self.solution.remember(self.rounds)
        gap = values.gap
        logger.info(
            "round %d: largest gap on the exact kernel %.1e", self.rounds, gap.max(),
            extra={"gap": float(gap.max())},
        )  # fmt: skip
        every_row, gradient = np.arange(self.problem.n), product.F - self.problem.linear
        violation, max_violation, pair = violations(
            self.problem, every_row, product.Z, gradient, self.working_set.rows
        )
        stalled = self.stalled() | (max_violation <= 0)  # 0: optimal up to rounding errors
        active = (gap > solver.tol) & ~stalled
        for j, column in enumerate(self.open):
            if gap[j] <= solver.tol:
                self.solution.status[column] = Status.CONVERGED
            elif stalled[j] and not self.ended:
                self.solution.status[column] = self.why_stalled(j)
        reached = max_violation <= self.violation_goal
        # The gap is roughly proportional to the violation.
        nearer = np.clip(0.7 * solver.tol / np.where(active, gap, 1), 0.02, 0.5)
        self.violation_goal = np.where(reached, nearer, 1) * self.violation_goal
        self.least_violation[:], self.least_at[:] = np.inf, self.rounds
        if active.any() and not self.watch_all:
            near = violation[:, active].max(axis=1) > -WATCH
            near[self.working_set.rows] = near[pair[:, active]] = True
            product.watched = np.flatnonzero(near)
        self.keep_columns(active)

    def keep_columns(self, active: NDArray[np.bool_]) -> None:
        """Remove all but the active columns."""
        self.open, self.violation_goal = self.open[active], self.violation_goal[active]
        self.least_violation, self.least_at = self.least_violation[active], self.least_at[active]
        self.problem = self.problem.columns(np.flatnonzero(active))
        self.product = self.product.columns(active)

    def log_round(self, max_violation: NDArray[np.float64], steps: int) -> None:
        """Log a round, and call the callback."""
        logger.info(
            "round %d: largest violation %.1e, %d steps on %d rows, %d watched",
            self.rounds, max_violation.max(), steps, self.working_set.rows.size,
            self.product.watched.size,
        )  # fmt: skip
        self.check_limits()
        self.end(self.solver.callback and self.solver.callback(self.rounds, max_violation))

    def check_limits(self) -> None:
        """Stop the run after max_time or max_work."""
        if time.perf_counter() - self.began > self.solver.max_time:
            self.end(Status.MAX_TIME)
        kernel_matrix = self.working_set.kernel_matrix
        n_values = kernel_matrix.n_values - self.n_values_before
        if n_values * kernel_matrix.value_cost + self.working_set.work > self.solver.max_work:
            self.end(Status.MAX_WORK)

    def end(self, answer: Status | bool | None) -> None:
        """Stop the run if the answer of a callback is true, or a status."""
        if answer and not self.ended:
            self.solution.end(self.open, answer)
            self.ended = True
