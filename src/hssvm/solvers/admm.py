"""The alternating direction method of multipliers (ADMM), for many columns with one factor.

For a problem ``min 1/2 z'Kz - linear'z + h(z)`` subject to ``sum z = r`` (see `hssvm.problems`;
r is the `equality_rhs`) and weights beta, one per row, ADMM splits z into x for the quadratic term
and z for h, with a multiplier u for x = z. One iteration is::

    x = argmin 1/2 x'Kx - linear'x + u'(x - z) + 1/2 |x - z|^2_beta    s.t. sum x = r
    v = 1.6 x - 0.6 z + u / beta
    z = argmin h(z) + 1/2 |z - v|^2_beta                               s.t. sum z = r
    u = beta (v - z)

The x-step is a solve with ``K + diag(beta)``, the same factor for every column; everything else is
elementwise. A column stops when its relative duality gap is below `tol`.

`FixedIterationADMM` is the method of the paper (Cipolla and Gondzio, 2021, Algorithm 3): a fixed
number of iterations, one beta for all rows, no over-relaxation, the constraint in the x-step only.
Two typos of its listing are corrected here: the right-hand side of the x-step is
``linear - u + beta z`` (printed with x), and the sign of the bias. In the paper the labels are part
of the matrix; here they are the signs of z, so that the factor does not depend on them.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hssvm._threads import with_serial_blas
from hssvm.kernels.base import Floats
from hssvm.operators.base import Operator
from hssvm.problems.base import Problem
from hssvm.progress import Gap, emit
from hssvm.solvers.iterate import ADMMFactor, Iterate
from hssvm.solvers.penalty import initial_beta, paper_beta, reweigh, typical_scale
from hssvm.solvers.solution import Checkpoint, Solution, Status, Stop
from hssvm.solvers.stopping import Stopping

RELAXATION = 1.6

CHECK_INTERVAL = 10
"""Number of iterations between two checks of the gap; a check costs a product."""

FIRST_STAGE, STAGE = 40, 30
"""Number of iterations until the weights change, at first and later: a new factor costs between 20
and 60 solves."""

EARLY_STAGE, FAR = 20, 0.5
"""The weights change as early as iteration EARLY_STAGE if all gaps are still above FAR: the initial
weights will not suffice."""

SHARED_ITERATIONS = 100
"""Number of iterations with all columns together. Columns that have not converged by then need
their own weights, and are finished one by one."""


@dataclass(frozen=True)
class ADMM:
    """ADMM for a block of problems.

    Parameters
    ----------
    tol : float or (k,) array
        Relative duality gap at which a column stops.
    max_iter : int
    beta : float, optional
        Initial weight of the quadratic penalty, by default from `initial_beta`.
    stop : callable, optional
        Called without arguments after every check of the gap. A true value stops the run; a
        `Status` becomes the status of the unfinished columns.
    checkpoint : callable, optional
        Called as ``checkpoint(iteration, Z)`` after every check, with the best coefficients so far,
        from which another run can `start`.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.kernels import Gaussian
    >>> from hssvm.operators import DenseOperator
    >>> from hssvm.problems import SVCProblem
    >>> from hssvm.solvers import ADMM
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 2))
    >>> y = np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0)
    >>> operator = DenseOperator(Gaussian(gamma=1.0).block(X))
    >>> solution = ADMM(tol=1e-3).solve(SVCProblem(y[:, None] * [0.1, 1.0, 10.0]), operator)
    >>> solution.gap < 1e-3
    array([ True,  True,  True])
    """

    tol: float | NDArray[np.float64] = 1e-3
    max_iter: int = 1000
    beta: float | None = None
    stop: Stop | None = None
    checkpoint: Checkpoint | None = None

    @with_serial_blas
    def solve(self, problem: Problem, operator: Operator, start: Floats | None = None) -> Solution:
        """Solve all columns of `problem`.

        Parameters
        ----------
        problem : Problem
        operator : Operator
        start : (n, k), optional
            Initial coefficients, 0 by default.

        Returns
        -------
        Solution
        """
        require_fit(problem, operator)
        beta = self.beta
        if beta is None:
            beta = initial_beta(problem, operator.mean_diagonal())
        run = _Run(self, problem, operator, beta)
        run.make_factor(beta)
        left = Iterate.begin(problem, operator, start)
        run.solution = Solution.empty(left.Z)
        left = run.iterate(left, 0, self.max_iter if problem.k == 1 else SHARED_ITERATIONS)
        for j in range(left.index.size if problem.k > 1 else 0):
            run.solve_single(left.columns(np.array([j])))
        return run.finish()


@dataclass(eq=False)
class _Run:
    """The state of a run. It holds one factor at a time."""

    solver: ADMM
    problem: Problem
    operator: Operator
    beta: float
    factor: ADMMFactor | None = None
    n_factors: int = 0
    factor_bytes: int = 0
    factor_seconds: float = 0.0
    ended: Status | bool | None = None
    solution: Solution = field(init=False)

    def __post_init__(self) -> None:
        self.scale = typical_scale(self.problem)
        self.stopping = Stopping(self.solver.tol, self.problem.k)

    def iterate(self, iterate: Iterate, begin: int, end: int) -> Iterate:
        """Iterate from iteration `begin` to `end`; return the unfinished columns."""
        end, stage = min(end, self.solver.max_iter), 1 if begin else 0
        next_factor = begin + (STAGE if begin else FIRST_STAGE)
        for iteration in range(begin + 1, end + 1):
            factor = self.current
            check = iteration % CHECK_INTERVAL == 0 or iteration == end
            X = iterate.x_step(factor)
            V = iterate.relax(X, factor.beta, RELAXATION)
            iterate.z_step(V, factor.beta, exactly=check)
            iterate.u_step(V, factor.beta)
            del factor  # release it before the next one is made
            if not check:
                continue
            active = self.check_gap(iteration, iterate)
            if not active.all():
                iterate = iterate.columns(active)
            if self.ended or not active.any():
                break
            if iteration == EARLY_STAGE and self.solution.gap[iterate.index].min() > FAR:
                next_factor = iteration
            if next_factor <= iteration < end:
                self.reweigh(iterate, stage)
                stage, next_factor = stage + 1, iteration + STAGE
        return iterate

    def solve_single(self, iterate: Iterate) -> None:
        """Finish a single column with its own weights."""
        begin = int(self.solution.n_iter[iterate.index[0]])
        if self.ended:
            self.solution.end(iterate.index, self.ended)
        elif begin < self.solver.max_iter:
            self.stopping.restart(iterate.index, begin)
            self.reweigh(iterate, 0)
            self.iterate(iterate, begin, self.solver.max_iter)

    def check_gap(self, iteration: int, iterate: Iterate) -> NDArray[np.bool_]:
        """Evaluate the gaps; return which columns are still active."""
        F = self.operator.matmul(iterate.Z)
        self.solution.update(iterate.index, iterate.Z, F, iterate.problem.evaluate(iterate.Z, F))
        active = self.stopping.active(iteration, iterate.index, self.solution)
        gap = self.solution.gap
        self.solution.remember(iteration)
        largest = float(gap[iterate.index].max())
        emit(
            Gap(iteration, largest),
            "iteration %d: largest gap %.1e, %d of %d columns active",
            iteration, largest, active.sum(), iterate.index.size,
        )  # fmt: skip
        if self.solver.checkpoint is not None:
            self.solver.checkpoint(iteration, self.solution.Z)
        self.ended = self.solver.stop and self.solver.stop()
        if self.ended:
            self.solution.end(iterate.index[active], self.ended)
        return active

    @property
    def current(self) -> ADMMFactor:
        """The factor to solve with."""
        assert self.factor is not None
        return self.factor

    def reweigh(self, iterate: Iterate, stage: int) -> None:
        """Make a factor with new weights for the columns of `iterate`."""
        beta = self.beta * (self.scale / typical_scale(iterate.problem)) ** 0.5
        self.make_factor(reweigh(iterate.problem, iterate.Z, beta, stage))

    def make_factor(self, beta: float | Floats) -> None:
        """Release the factor, and make a new one."""
        self.factor = None
        start = time.perf_counter()
        self.factor = ADMMFactor.make(self.operator, beta, self.problem.communicator)
        self.factor_seconds += time.perf_counter() - start
        self.n_factors += 1
        self.factor_bytes = max(self.factor_bytes, self.factor.factor.nbytes)

    def finish(self) -> Solution:
        """Return the solution, with the statistics of the factors."""
        self.solution.n_factors, self.solution.factor_bytes = self.n_factors, self.factor_bytes
        self.solution.factor_seconds = self.factor_seconds
        return self.solution


@dataclass(frozen=True)
class FixedIterationADMM:
    """The algorithm of Cipolla and Gondzio (2021).

    Parameters
    ----------
    max_iter : int
        Number of iterations, regardless of the gap; 10 in the paper. Only the last z-step enforces
        the constraint on the sum, so that the result is feasible and its gap can be computed.
    beta : float, optional
        Weight of the quadratic penalty, by default from `paper_beta`.
    """

    max_iter: int = 10
    beta: float | None = None

    @with_serial_blas
    def solve(self, problem: Problem, operator: Operator, start: Floats | None = None) -> Solution:
        """Solve all columns of `problem`; see `ADMM.solve`."""
        require_fit(problem, operator)
        n_rows = int(problem.communicator.allreduce(np.array(problem.n)))
        beta = paper_beta(n_rows) if self.beta is None else self.beta
        begin = time.perf_counter()
        factor = ADMMFactor.make(operator, beta, problem.communicator)
        seconds = time.perf_counter() - begin
        iterate = Iterate.begin(problem, operator, start)
        solution = Solution.empty(iterate.Z)
        for iteration in range(1, self.max_iter + 1):
            V = iterate.relax(iterate.x_step(factor), factor.beta, 1.0)
            if iteration < self.max_iter:
                iterate.plain_z_step(V, factor.beta)
            else:
                iterate.z_step(V, factor.beta, exactly=True)
            iterate.u_step(V, factor.beta)
        F = operator.matmul(iterate.Z)
        solution.update(np.arange(problem.k), iterate.Z, F, problem.evaluate(iterate.Z, F))
        solution.n_iter[:] = self.max_iter
        solution.status = [Status.FIXED] * problem.k
        solution.n_factors, solution.factor_bytes = 1, factor.factor.nbytes
        solution.factor_seconds = seconds
        return solution


def require_fit(problem: Problem, operator: Operator) -> None:
    """Raise ValueError unless `operator` has the rows and the precision of `problem`."""
    if problem.n != operator.n:
        raise ValueError(f"the problem has {problem.n} rows, but the operator has {operator.n}")
    if problem.dtype != operator.dtype:
        raise ValueError(f"the problem is {problem.dtype}, but the operator is {operator.dtype}")
