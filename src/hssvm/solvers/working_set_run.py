"""A run of the working-set solver: its state, and a round; see `hssvm.solvers.working_set`."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hssvm.kernels.base import Floats
from hssvm.kernels.cached import CachedKernelMatrix, keep_rows
from hssvm.kernels.lazy import LazyKernelMatrix
from hssvm.problems.base import Problem
from hssvm.progress import Gap, Violation, emit
from hssvm.solvers.lazy_product import LazyProduct
from hssvm.solvers.optimality import optimal_scale, violations
from hssvm.solvers.rounding import evaluate
from hssvm.solvers.solution import Solution, Status
from hssvm.solvers.start import choose_start
from hssvm.solvers.subproblem import make_subproblems, put
from hssvm.solvers.working_kernel import INNER_SHARE, WorkingKernel, highest
from hssvm.solvers.working_set_state import WorkingSetState

WATCH = 0.2
"""Rows are watched if their violation, relative to the size of the decision values, exceeds minus
this value."""

MAX_SMO_STEPS = 200_000
"""Maximum number of SMO steps per round."""

MAX_STAGNANT_ROUNDS = 50
"""Number of rounds without a smaller violation after which a column has stagnated."""

BLUR = 4.0
"""Violations below this multiple of the precision of the largest coefficient may be rounding."""

if TYPE_CHECKING:
    from hssvm.solvers.working_set import WorkingSet


class WorkingSetRun:
    """The state of a run. Columns are removed when they are done."""

    def __init__(
        self, solver: WorkingSet, problem: Problem, K: LazyKernelMatrix, solution: Solution
    ) -> None:
        self.solver = solver
        self.problem = problem
        self.solution = solution
        self.open = np.arange(problem.k)
        self.size = problem.decision_size()
        self.violation_goal = solver.first_violation * self.size
        self.least_violation = np.full(problem.k, np.inf)
        self.least_at = np.zeros(problem.k, np.int64)
        self.max_iter = np.broadcast_to(solver.max_iter, (problem.k,))
        self.n_steps = np.zeros(problem.k, np.int64)
        self.rounds = 0
        self.began = time.perf_counter()
        self.ended = False
        self.communicator = problem.communicator
        self.n_rows = int(self.communicator.allreduce(np.array([problem.n]))[0])
        memory = -float(self.communicator.allreduce(np.array([-solver.memory]), "max")[0])
        if self.communicator.size == 1:
            K, memory = keep_rows(K, memory)
        self.watch_all = isinstance(K, CachedKernelMatrix)
        self.n_values_before = K.n_values
        capacity = max(int((memory / K.dtype.itemsize) ** 0.5), 2 * problem.k)
        self.working_set = WorkingKernel(K, min(capacity, self.n_rows))
        self.shuffle = np.random.default_rng(self.communicator.rank)
        self.shuffle_all = np.random.default_rng(0)

    def begin(self, start: Solution, rows: NDArray[np.int64] | None) -> None:
        """Compute F at the start, and fill the working set."""
        problem, kernel_matrix = self.problem, self.working_set.kernel_matrix
        self.start_iter, self.start_factors = start.n_iter, start.n_factors
        Z, watched = choose_start(problem, kernel_matrix, start, self.shuffle)
        if self.watch_all or rows is not None:
            watched = np.arange(problem.n)
        if rows is not None:
            first = kernel_matrix.columns_of(rows)
            self.working_set.admit(first[: self.working_set.capacity], np.empty(0, np.int64))
        self.product = LazyProduct.at(kernel_matrix, Z, watched)
        self.product.scale(optimal_scale(problem, watched, Z[watched], self.product.F[watched]))
        self.save()

    def resume(self, state: WorkingSetState) -> None:
        """Continue an interrupted run."""
        K = self.working_set.kernel_matrix
        self.start_iter, self.start_factors = state.start_iter, state.start_factors
        K.share_again(state.shared)
        for rows, evict in state.admissions:
            self.working_set.admit(rows, evict)
        self.working_set.work = state.work
        self.n_values_before = K.n_values - state.n_values
        self.product = LazyProduct(K, state.Z, state.F, state.watched, state.seen, state.variance)
        self.problem, self.size = self.problem.columns(state.open), self.size[state.open]
        self.rounds, self.open, self.violation_goal = state.rounds, state.open, state.violation_goal
        self.least_violation, self.least_at = state.least_violation, state.least_at
        self.max_iter, self.n_steps = self.max_iter[state.open], state.n_steps
        self.shuffle, self.shuffle_all = state.shuffle, state.shuffle_all

    def save(self) -> None:
        """Pass the state to the checkpoint, if there is one."""
        if self.solver.checkpoint is not None:
            self.solver.checkpoint(self.rounds, WorkingSetState.of(self))

    def round(self) -> None:
        """Select rows, minimize over them, and update the gradient."""
        watched, product = self.product.watched, self.product
        Z = product.Z[watched]
        gradient = self.problem.gradient(Z, product.F[watched], watched)
        _, inside = self.inside(watched)
        violation, max_violation, pair = violations(self.problem, watched, Z, gradient, inside)
        todo = max_violation > self.violation_goal
        self.detect_stagnation(max_violation, todo)
        if not todo.any():
            self.check()
            return
        self.rounds += 1
        relative = np.where(todo, violation / np.where(todo, max_violation, 1), -np.inf)
        priority = relative.max(axis=1)
        priority[pair[todo[pair[:, 1]], 0]] = np.inf
        self.exchange(watched, priority)
        places, at = self.inside(watched)
        (lower, upper), ridge = self.problem.box(watched[at]), self.problem.ridge_at(watched[at])
        places, *state = self.communicator.allgather(
            [places, Z[at], gradient[at].astype(Z.dtype), lower, upper, ridge, relative[at]]
        )
        old, slope, lower, upper, ridge, inner = (values[np.argsort(places)] for values in state)
        goal = np.maximum(INNER_SHARE * max_violation, self.violation_goal / 2)
        steps, new, change = self.minimize(old, slope, lower, upper, ridge, inner, goal)
        self.n_steps += steps
        blurred = max_violation <= BLUR * np.finfo(Z.dtype).eps * np.abs(old).max(axis=0)
        aimless = blurred & (steps >= MAX_SMO_STEPS)  # their steps follow the rounding errors
        self.least_violation[aimless] = 0
        self.least_at[aimless] = -MAX_STAGNANT_ROUNDS * self.n_rows
        noise = steps * (np.finfo(Z.dtype).eps * np.abs(slope).max(axis=0)) ** 2
        product.move(self.working_set.rows, old, new, change, noise)
        self.save()
        self.log_round(max_violation, int(steps.sum()))

    def inside(self, watched: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Positions of this rank's working-set rows, in the working set and in `watched`."""
        K = self.working_set.kernel_matrix
        places, rows = K.own(self.working_set.rows)
        return places, np.searchsorted(watched, rows)

    def exchange(self, watched: NDArray[np.int64], priority: NDArray[np.float64]) -> None:
        """Admit the watched rows of highest priority to the working set."""
        working_set, K = self.working_set, self.working_set.kernel_matrix
        position = np.full(watched.size, -1)
        places, inside = self.inside(watched)
        position[inside] = places
        new = np.flatnonzero((position < 0) & (priority > INNER_SHARE))
        new = highest(new, priority, self.shuffle)[: working_set.most_admitted]
        mine = np.concatenate([inside, new])
        counts, priority, position = self.communicator.allgather(
            [np.array([mine.size]), priority[mine], position[mine]]
        )
        new, evict = working_set.choose(priority, position, self.shuffle_all)
        if new.size:
            begin = int(counts[: self.communicator.rank].sum())
            here = new[(new >= begin) & (new < begin + mine.size)] - begin
            working_set.admit(K.columns_of(watched[mine[here]]), evict)

    def minimize(
        self,
        Z: Floats,
        gradient: Floats,
        lower: Floats,
        upper: Floats,
        ridge: Floats,
        relative: NDArray[np.float64],
        goal: NDArray[np.float64],
    ) -> tuple[NDArray[np.int64], Floats, Floats]:
        """Return the steps, (k,), the new Z, and its `change` for `LazyProduct.move`."""
        steps, new, change = np.empty(0, np.int64), Z[:0], Z[:0]
        if self.communicator.rank == 0:
            subproblems = make_subproblems(
                Z, gradient, lower, upper, ridge, relative, self.problem.l1_weight, goal
            )
            most = int(min(MAX_SMO_STEPS, (self.max_iter - self.n_steps).min()))
            z, changes, steps = self.working_set.descend(subproblems, most, self.should_stop)
            new = put(z, subproblems, Z.copy())
            change = put(changes, subproblems, np.full_like(Z, np.nan))
        steps, new, change = self.communicator.allgather([steps, new, change])
        return steps, new, change

    def detect_stagnation(self, largest: NDArray[np.float64], todo: NDArray[np.bool_]) -> None:
        """Stop columns whose violation has stagnated."""
        fell = largest < 0.9 * self.least_violation
        self.least_violation[fell] = largest[fell]
        self.least_at[fell | ~todo] = self.rounds  # columns that wait for others have not stagnated
        todo &= ~self.stalled()

    def stalled(self) -> NDArray[np.bool_]:
        """Mask of columns whose violation has stagnated; a small working set gets more rounds."""
        patience = MAX_STAGNANT_ROUNDS * self.n_rows / self.working_set.capacity
        return self.rounds - self.least_at >= patience

    @property
    def exhausted(self) -> NDArray[np.bool_]:
        """Mask of columns that have made max_iter steps."""
        exhausted: NDArray[np.bool_] = self.n_steps >= self.max_iter
        return exhausted

    def why_stalled(self, j: int) -> Status:
        """Distinguish rounding errors from a working set too small for the free rows."""
        n_free = self.problem.free(self.product.Z)[:, j].sum(keepdims=True)
        if self.communicator.allreduce(n_free)[0] > self.working_set.capacity:
            return Status.MEMORY_LIMIT
        return Status.stalled(self.product.Z.dtype)

    def check(self) -> None:
        """Evaluate the gap on all rows, remove finished columns, and update the watched rows."""
        self.check_limits()
        product, solver = self.product, self.solver
        last = self.ended | self.stalled() | self.exhausted
        values = evaluate(self.problem, product, solver.tol, last)
        self.solution.update(self.open, product.Z, product.F, values)
        self.solution.n_iter[self.open] = self.n_steps
        self.solution.n_rounds[self.open] = self.rounds
        self.solution.remember(self.rounds)
        gap = values.gap
        largest = float(gap.max())
        emit(
            Gap(self.rounds, largest),
            "round %d: largest gap on the exact kernel %.1e", self.rounds, largest,
        )  # fmt: skip
        every_row, gradient = np.arange(self.problem.n), self.problem.gradient(product.Z, product.F)
        _, inside = self.inside(every_row)
        violation, max_violation, pair = violations(
            self.problem, every_row, product.Z, gradient, inside
        )
        stalled = self.stalled() | (max_violation <= 0)  # 0: optimal up to rounding errors
        active = (gap > solver.tol) & ~stalled & ~self.exhausted
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
            near = (violation / self.size)[:, active].max(axis=1) > -WATCH
            near[inside] = near[pair[active[pair[:, 1]], 0]] = True
            product.watched = np.flatnonzero(near)
        self.keep_columns(active)

    def keep_columns(self, active: NDArray[np.bool_]) -> None:
        """Remove all but the active columns."""
        self.open, self.size = self.open[active], self.size[active]
        self.max_iter, self.n_steps = self.max_iter[active], self.n_steps[active]
        self.violation_goal = self.violation_goal[active]
        self.least_violation, self.least_at = self.least_violation[active], self.least_at[active]
        self.problem = self.problem.columns(np.flatnonzero(active))
        self.product = self.product.columns(active)

    def log_round(self, max_violation: NDArray[np.float64], steps: int) -> None:
        """Emit a round, and stop the run if necessary."""
        largest = float(max_violation.max())
        emit(
            Violation(self.rounds, largest),
            "round %d: largest violation %.1e, %d steps on %d rows, %d watched",
            self.rounds, largest, steps, self.working_set.rows.size, self.product.watched.size,
        )  # fmt: skip
        self.check_limits()
        self.end(self.solver.stop and self.solver.stop())

    @property
    def late(self) -> bool:
        """Whether max_time has passed."""
        return time.perf_counter() - self.began > self.solver.max_time

    def should_stop(self) -> Status | bool | None:
        """Whether to end a round."""
        return self.late or (self.solver.stop is not None and self.solver.stop())

    def check_limits(self) -> None:
        """Stop the run after max_time or max_work."""
        kernel_matrix = self.working_set.kernel_matrix
        n_values = kernel_matrix.n_values - self.n_values_before
        late = self.late
        work = n_values * kernel_matrix.value_cost + self.working_set.work
        late, work = self.communicator.allreduce(np.array([late, work]))
        if late:
            self.end(Status.MAX_TIME)
        if work > self.solver.max_work:
            self.end(Status.MAX_WORK)

    def end(self, answer: Status | bool | None) -> None:
        """Stop the run if `stop` returns true or a status."""
        if answer and not self.ended:
            self.solution.end(self.open, answer)
            self.ended = True
