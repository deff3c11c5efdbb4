"""From a solution on the compressed kernel to the solution on the true kernel.

A decomposition method with the solution on K~ as its start. A *working set* U of rows has its dense
kernel matrix in memory; the problem restricted to U is solved by sequential minimal optimisation,
which knows the gradient only on U. Then the gradient ``F = K Z`` changes by ``K[:, U] D``, and new
rows that violate optimality come into U. Three things make this fast:

- The start: most rows already are where they end, at a bound, and U needs only the others.
- Rows at a bound whose gradient keeps them there by a margin are not watched: their F is brought up
  to date only for a *check*, which measures the gap on all rows and chooses the watched rows anew.
- Kernel values come from the core faster than from a cache in memory, so U is the only store.

The columns of a problem share U, its kernel matrix, and all products.

Written here because the solvers of LIBSVM and its successors take neither a start nor several
columns, and are slower.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hssvm._threads import with_serial_blas
from hssvm.kernels.base import Floats
from hssvm.kernels.rows import KernelRows
from hssvm.problems.base import Problem
from hssvm.solvers.lazy_product import LazyProduct
from hssvm.solvers.solution import Callback, Solution, Status
from hssvm.solvers.working_set import Part, WorkingSet

logger = logging.getLogger(__name__)

WATCH_FIRST, WATCH = 0.3, 0.2
"""Rows are watched if their gradient is within so much of letting them move: at first, when it
comes from K~, and later."""

MISLED, TRIAL_ROWS = 0.5, 512
"""A column whose best multiple of the start is below this starts at 0: K~ is too far from K. So
many rows are enough to know."""

MIN_WATCH, SHARE = 5000, 5
"""A start at 0 watches so many rows, or one in so many, until the first check."""

FIRST_SPREAD = 0.1
"""Spread of gradients at which the first check is made."""

INNER = 0.05
"""Share of the spread that a round leaves on the working set."""

GROWTH, MIN_GROWTH = 0.5, 1000
"""Rows that a round adds, at most: this share of the working set, or so many."""

MAX_STEPS = 200_000
"""Of SMO in one round: some seconds, after which Ctrl-C and max_time are heard."""

PATIENCE = 50
"""Rounds without a smaller spread after which a column has no more digits to gain."""


@dataclass(frozen=True)
class Refine:
    """Solver of a block of problems on the true kernel.

    Parameters
    ----------
    tol : float
        Relative duality gap, on the true kernel, at which a column stops.
    memory : float
        Bytes for the kernel matrix of the working set. Best if all rows with a coefficient between
        the bounds fit; with fewer it takes more rounds.
    max_time : float
        Seconds; the best point so far is returned then.
    callback : callable, optional
        Called as ``callback(round, spreads)`` after every round; True ends the run, and so does a
        `Status`, with that.
    max_work : float
        Nominal seconds: counted operations times what they take on two cores of the benchmarks.
        Unlike `max_time` it ends a run at the same point however busy the machine is.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.kernels import Gaussian
    >>> from hssvm.kernels.rows import KernelRows
    >>> from hssvm.problems import SVCProblem
    >>> from hssvm.solvers import Refine, Solution
    >>> X = np.random.default_rng(0).standard_normal((300, 2))
    >>> problem = SVCProblem(np.where(X[:, :1] * X[:, 1:] > 0, 10.0, -10.0))
    >>> start = Solution.empty(np.zeros((300, 1)))
    >>> solution = Refine(1e-6).solve(problem, KernelRows(Gaussian(1.0), X), start)
    >>> bool(solution.gap[0] < 1e-6)
    True
    """

    tol: float
    memory: float = 2e9
    max_time: float = np.inf
    callback: Callback | None = None
    max_work: float = np.inf

    @with_serial_blas
    def solve(self, problem: Problem, kernel_rows: KernelRows, start: Solution) -> Solution:
        """Solve all columns of `problem`.

        Parameters
        ----------
        problem : Problem
        kernel_rows : KernelRows
        start : Solution
            Feasible, with F and intercept on any kernel like the true one.

        Returns
        -------
        Solution
            F, objectives and gap are those of the true kernel; `n_iter` are rounds.
        """
        solution = Solution.empty(start.Z)
        solution.n_factors = 0
        run = _Run(self, problem, kernel_rows, solution)
        run.begin(start)
        while run.open.size and not run.ended:
            run.round()
        if run.open.size:
            run.check()
        solution.n_working = run.working_set.rows.size
        return solution


class _Run:
    """What stays between rounds. Columns leave when they are done."""

    def __init__(
        self, solver: Refine, problem: Problem, kernel_rows: KernelRows, solution: Solution
    ) -> None:
        self.solver = solver
        self.problem = problem
        self.solution = solution
        self.open = np.arange(problem.k)
        self.spread_goal = np.full(problem.k, FIRST_SPREAD)
        self.least_spread = np.full(problem.k, np.inf)
        self.least_at = np.zeros(problem.k, np.int64)
        self.rounds = 0
        self.began = time.perf_counter()
        self.n_values_before = kernel_rows.n_values
        self.ended = False
        capacity = max(int((solver.memory / kernel_rows.dtype.itemsize) ** 0.5), 2 * problem.k)
        self.working_set = WorkingSet(kernel_rows, min(capacity, kernel_rows.n))
        self.shuffle = np.random.default_rng(0)

    def begin(self, start: Solution) -> None:
        """Compute F at the start; columns that K~ has misled begin at 0."""
        problem, kernel_rows = self.problem, self.working_set.kernel_rows
        Z = start.Z.copy()
        support = np.flatnonzero(Z.any(axis=1))
        some = self.shuffle.permutation(support)[:TRIAL_ROWS]
        trial = kernel_rows.product(some, support, Z[support])
        misled = best_multiple(problem, some, Z[some], trial) < MISLED
        Z[:, misled] = 0
        gradient = start.F + start.intercept - problem.linear
        urgency, _, _ = violation(problem, np.arange(problem.n), start.Z, gradient)
        near = urgency[:, ~misled].max(axis=1, initial=-np.inf) > -WATCH_FIRST
        near[Z.any(axis=1)] = True
        if misled.any():
            near[self.shuffle.permutation(problem.n)[: max(MIN_WATCH, problem.n // SHARE)]] = True
        watched = np.flatnonzero(near)
        self.product = LazyProduct.at(kernel_rows, Z, watched)
        self.product.scale(best_multiple(problem, watched, Z[watched], self.product.F[watched]))

    def round(self) -> None:
        """Choose rows, descend on them, and bring the gradient up to date."""
        watched, product = self.product.watched, self.product
        Z = product.Z[watched]
        gradient = product.F[watched] - self.problem.linear[watched]
        urgency, spread, pair = violation(self.problem, watched, Z, gradient)
        todo = spread > self.spread_goal
        self.notice_stall(spread, todo)
        if not todo.any():
            self.check()
            return
        self.rounds += 1
        relative = np.where(todo, urgency / np.where(todo, spread, 1), -np.inf)
        priority = relative.max(axis=1)
        priority[pair[:, todo]] = np.inf
        self.choose(watched, priority)
        rows = self.working_set.rows
        at = np.searchsorted(watched, rows)
        lower, upper = self.problem.box(rows)
        parts = []
        for j in range(self.open.size):
            members = np.flatnonzero(relative[at, j] > -1)
            if members.size > rows.size / 2:
                members = np.arange(rows.size)  # a matrix in place is faster than a part copied
            parts.append(
                Part(
                    members,
                    Z[at[members], j],
                    gradient[at[members], j].astype(Z.dtype),
                    lower[members, j],
                    upper[members, j],
                    float(self.problem.kink[j]),
                    max(INNER * spread[j], self.spread_goal[j] / 2),
                )
            )
        solved, steps = self.working_set.descend(parts, MAX_STEPS)
        new = Z[at]
        for j, (part, z) in enumerate(zip(parts, solved, strict=True)):
            new[part.members, j] = z
        product.move(rows, new)
        self.tell(spread, int(steps.sum()))

    def choose(self, watched: NDArray[np.int64], priority: NDArray[np.float64]) -> None:
        """Let the most urgent of the watched rows into the working set, for the least urgent."""
        working_set = self.working_set
        position = np.full(self.problem.n, -1)
        position[working_set.rows] = np.arange(working_set.rows.size)
        inside = position[watched] >= 0
        new = self.shuffle.permutation(np.flatnonzero(~inside & (priority > INNER)))
        limit = min(max(MIN_GROWTH, int(GROWTH * working_set.rows.size)), working_set.capacity)
        new = new[np.argsort(-priority[new], kind="stable")][:limit]
        old = np.flatnonzero(inside)
        old = old[np.argsort(priority[old], kind="stable")]
        room = working_set.capacity - old.size
        rivals = new[room : room + old.size]
        n_evicted = int((priority[rivals] > priority[old[: rivals.size]]).sum())
        new = new[: room + n_evicted]
        if new.size:
            working_set.admit(watched[new], position[watched[old[:n_evicted]]])

    def notice_stall(self, spread: NDArray[np.float64], todo: NDArray[np.bool_]) -> None:
        """Content ourselves with the spread of columns where it no longer falls."""
        fell = spread < 0.9 * self.least_spread
        self.least_spread[fell] = spread[fell]
        self.least_at[fell | ~todo] = self.rounds  # columns that wait for others do not stall
        todo &= ~self.stalled()

    def stalled(self) -> NDArray[np.bool_]:
        """Columns whose spread no longer falls; a small working set must be given more rounds."""
        patience = PATIENCE * self.problem.n / self.working_set.capacity
        return self.rounds - self.least_at >= patience

    def why_stalled(self, j: int) -> Status:
        """Tell a working set that is too small for the free rows of a column from rounding."""
        n_free = int(self.problem.free(self.product.Z)[:, j].sum())
        if n_free > self.working_set.capacity:
            return Status.CACHE_SIZE
        return Status.stalled(self.product.Z.dtype)

    def check(self) -> None:
        """Measure the gap on all rows; close the columns that are done; watch other rows."""
        self.look_at_the_limits()
        product, solver = self.product, self.solver
        product.catch_up()
        values = self.problem.evaluate(product.Z, product.F)
        self.solution.update(self.open, product.Z, product.F, values)
        self.solution.n_iter[self.open] = self.rounds
        self.solution.remember(self.rounds)
        gap = values.gap
        logger.info(
            "round %d: largest gap on the true kernel %.1e", self.rounds, gap.max(),
            extra={"gap": float(gap.max())},
        )  # fmt: skip
        urgency, spread, _ = violation(
            self.problem, np.arange(self.problem.n), product.Z, product.F - self.problem.linear
        )
        stalled = self.stalled() | (spread <= 0)  # 0: nothing moves, only rounding is left
        going = (gap > solver.tol) & ~stalled
        for j, column in enumerate(self.open):
            if gap[j] <= solver.tol:
                self.solution.status[column] = Status.CONVERGED
            elif stalled[j] and not self.ended:
                self.solution.status[column] = self.why_stalled(j)
        reached = spread <= self.spread_goal
        # The gap is about in proportion to the spread.
        nearer = np.clip(0.7 * solver.tol / np.where(going, gap, 1), 0.02, 0.5)
        self.spread_goal = np.where(reached, nearer, 1) * self.spread_goal
        self.least_spread[:], self.least_at[:] = np.inf, self.rounds
        if going.any():
            near = urgency[:, going].max(axis=1) > -WATCH
            near[self.working_set.rows] = True
            product.watched = np.flatnonzero(near)
        self.keep(going)

    def keep(self, going: NDArray[np.bool_]) -> None:
        """Go on with some of the columns."""
        self.open, self.spread_goal = self.open[going], self.spread_goal[going]
        self.least_spread, self.least_at = self.least_spread[going], self.least_at[going]
        self.problem = self.problem.columns(np.flatnonzero(going))
        self.product = self.product.columns(going)

    def tell(self, spread: NDArray[np.float64], steps: int) -> None:
        """Log a round, call the callback."""
        logger.info(
            "round %d: spread of gradients %.1e, %d steps on %d rows, %d watched",
            self.rounds, spread.max(), steps, self.working_set.rows.size, self.product.watched.size,
        )  # fmt: skip
        self.look_at_the_limits()
        self.end(self.solver.callback and self.solver.callback(self.rounds, spread))

    def look_at_the_limits(self) -> None:
        """End after max_time or max_work."""
        if time.perf_counter() - self.began > self.solver.max_time:
            self.end(Status.MAX_TIME)
        kernel_rows = self.working_set.kernel_rows
        n_values = kernel_rows.n_values - self.n_values_before
        if n_values * kernel_rows.value_cost + self.working_set.work > self.solver.max_work:
            self.end(Status.MAX_WORK)

    def end(self, answer: Status | bool | None) -> None:
        """End the run if there is an answer."""
        if answer and not self.ended:
            self.solution.end(self.open, answer)
            self.ended = True


def violation(
    problem: Problem, rows: NDArray[np.int64], Z: Floats, gradient: Floats
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """How far rows are from optimal.

    At a solution there is one b per column with ``gradient = -b`` where z is inside the box, above
    it at the lower end, below it at the upper end; the kink of abs(z) adds to the gradient.

    Parameters
    ----------
    problem : Problem
    rows : (m,) int64
    Z, gradient : (m, k)
        At these rows; ``gradient = K Z - linear``.

    Returns
    -------
    urgency : (m, k)
        By how much the gradient of a row makes it move; below 0: keeps it where it is.
    spread : (k,)
        The largest difference of gradients along which weight can move from row to row; at most 0
        at a solution, -inf where nothing can move.
    pair : (2, k) int64
        The two rows of that difference.
    """
    lower, upper = problem.box(rows)
    rise = np.where(upper > Z, -gradient - np.where(Z >= 0, 1, -1) * problem.kink, -np.inf)
    fall = np.where(lower < Z, gradient - np.where(Z <= 0, 1, -1) * problem.kink, -np.inf)
    most_rise, most_fall = rise.max(axis=0), fall.max(axis=0)
    spread = most_rise + most_fall
    b = np.subtract(most_rise, most_fall, out=np.zeros_like(spread), where=np.isfinite(spread)) / 2
    pair = np.stack([rise.argmax(axis=0), fall.argmax(axis=0)])
    return np.maximum(rise - b, fall + b), spread, pair


def best_multiple(
    problem: Problem, rows: NDArray[np.int64], Z: Floats, F: Floats
) -> NDArray[np.float64]:
    """The factor between 0 and 1 on each column with the best dual value; 1 if sum z > 0."""
    linear = np.einsum("ij,ij->j", problem.linear[rows], Z, dtype=np.float64)
    linear -= problem.kink * np.abs(Z).sum(axis=0, dtype=np.float64)
    quadratic = np.einsum("ij,ij->j", Z, F, dtype=np.float64)
    factor = np.clip(linear / np.where(quadratic > 0, quadratic, 1), 0, 1)
    return np.where(problem.total == 0, factor, 1.0)
