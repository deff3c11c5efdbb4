"""The alternating direction method of multipliers, on one factor, for many columns at once.

For a problem ``min 1/2 z'Kz - linear'z + h(z)``, ``sum z = total`` (see `hssvm.problems`) and
weights beta, one per row, ADMM splits z in two, x for the quadratic and z for h, with a multiplier
u for x = z. One iteration::

    x = argmin 1/2 x'Kx - linear'x + u'(x - z) + 1/2 |x - z|^2_beta    s.t. sum x = total
    v = 1.6 x - 0.6 z + u / beta
    z = argmin h(z) + 1/2 |z - v|^2_beta                               s.t. sum z = total
    u = beta (v - z)

The x-step is a solve with ``K + diag(beta)``, the same factor for every column; all else is
elementwise. A column stops when its relative duality gap is below `tol`.

**The paper** (Cipolla and Gondzio, 2021, Algorithm 3) is `PaperADMM`: a fixed number of iterations,
one beta for all rows, no over-relaxation, the constraint in the x-step only. Its listing has slips
that are corrected here: the right-hand side of the x-step is ``linear - u + beta z`` (printed with
x), and the sign of the bias. Its x carries the labels; here they are in the signs of z, so that
the factor knows none.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hssvm._threads import with_serial_blas
from hssvm.kernels.base import Floats
from hssvm.problems.base import Problem
from hssvm.solvers.iterate import Iterate, Penalised
from hssvm.solvers.penalty import reweigh, typical_scale
from hssvm.solvers.solution import Callback, Solution, Status
from hssvm.solvers.stopping import Stopping
from hssvm.systems.base import System

logger = logging.getLogger(__name__)

RELAXATION = 1.6

LOOK_EVERY = 10
"""Iterations between two looks at the gap, which cost a product each."""

FIRST_STAGE, STAGE = 40, 30
"""Iterations before the weights change: a new factor costs some 60 solves."""

TOGETHER = 100
"""Iterations that all columns make together. What is left then wants weights of its own: these
columns are finished one by one."""


@dataclass(frozen=True)
class ADMM:
    """Solver of a block of problems.

    Parameters
    ----------
    tol : float
        Relative duality gap at which a column stops.
    max_iter : int
    callback : callable, optional
        Called as ``callback(iteration, gaps)`` after every look at the gap; True ends the run, and
        so does a `Status`, with that.
    keep : callable, optional
        Called as ``keep(iteration, Z)`` after every look, with the best coefficients so far: a
        `start` for another run.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.kernels import Gaussian
    >>> from hssvm.problems import SVCProblem
    >>> from hssvm.solvers import ADMM
    >>> from hssvm.systems import DenseSystem
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 2))
    >>> y = np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0)
    >>> system = DenseSystem(Gaussian(gamma=1.0).block(X), shift=1.0)
    >>> solution = ADMM(tol=1e-3).solve(SVCProblem(y[:, None] * [0.1, 1.0, 10.0]), system)
    >>> solution.gap < 1e-3
    array([ True,  True,  True])
    """

    tol: float = 1e-3
    max_iter: int = 1000
    callback: Callback | None = None
    keep: Callable[[int, Floats], None] | None = None

    @with_serial_blas
    def solve(self, problem: Problem, system: System, start: Floats | None = None) -> Solution:
        """Solve all columns of `problem`.

        Parameters
        ----------
        problem : Problem
        system : System
            Its shift is the first beta.
        start : (n, k), optional
            Coefficients to start from, 0 if not given.

        Returns
        -------
        Solution
        """
        first = Penalised.of(require_fit(problem, system), problem.parts)
        iterate = Iterate.begin(problem, system, start)
        solution = Solution.empty(iterate.Z)
        run = _Run(self, typical_scale(problem), first, Stopping(self.tol, problem.k), solution)
        left = run.iterate(iterate, first, 0, self.max_iter if problem.k == 1 else TOGETHER)
        for j in range(left.index.size if problem.k > 1 else 0):
            run.alone(left.columns(np.array([j])))
        return solution


@dataclass(eq=False)
class _Run:
    """What stays while columns come and go."""

    solver: ADMM
    scale: float
    first: Penalised
    stopping: Stopping
    solution: Solution
    ended: Status | bool | None = None

    def iterate(self, iterate: Iterate, penalised: Penalised, begin: int, end: int) -> Iterate:
        """Iterate from iteration `begin` to `end`; return the columns that are not done."""
        end, stage = min(end, self.solver.max_iter), 1 if begin else 0
        next_factor = begin + (STAGE if begin else FIRST_STAGE)
        for iteration in range(begin + 1, end + 1):
            look = iteration % LOOK_EVERY == 0 or iteration == end
            X = iterate.x_step(penalised)
            V = iterate.relax(X, penalised.beta, RELAXATION)
            iterate.z_step(V, penalised.beta, exactly=look)
            iterate.u_step(V, penalised.beta)
            if not look:
                continue
            going = self.look(iteration, iterate, penalised)
            if not going.all():
                iterate = iterate.columns(going)
            if self.ended or not going.any():
                break
            if next_factor <= iteration < end:
                del penalised  # its factor makes room for the next
                penalised = self.reweigh(iterate, stage)
                stage, next_factor = stage + 1, iteration + STAGE
        return iterate

    def alone(self, iterate: Iterate) -> None:
        """Finish a single column with weights of its own."""
        begin = int(self.solution.n_iter[iterate.index[0]])
        if self.ended:
            self.solution.end(iterate.index, self.ended)
        elif begin < self.solver.max_iter:
            self.stopping.restart(iterate.index, begin)
            self.iterate(iterate, self.reweigh(iterate, 0), begin, self.solver.max_iter)

    def look(self, iteration: int, iterate: Iterate, penalised: Penalised) -> NDArray[np.bool_]:
        """Evaluate the gaps; return which columns go on."""
        F = penalised.system.matmul(iterate.Z)
        values = iterate.problem.evaluate(iterate.Z, F)
        self.solution.update(iterate.index, iterate.Z, F, values)
        going = self.stopping.going(iteration, iterate.index, self.solution)
        gap = self.solution.gap
        self.solution.remember(iteration)
        logger.info(
            "iteration %d: largest gap %.1e, %d of %d columns active",
            iteration, gap[iterate.index].max(), going.sum(), iterate.index.size,
            extra={"gap": float(gap[iterate.index].max())},
        )  # fmt: skip
        if self.solver.keep is not None:
            self.solver.keep(iteration, self.solution.Z)
        self.ended = self.solver.callback and self.solver.callback(iteration, gap)
        if self.ended:
            self.solution.end(iterate.index[going], self.ended)
        return going

    def reweigh(self, iterate: Iterate, stage: int) -> Penalised:
        """Make a factor with weights for the columns of `iterate`."""
        beta = self.first.beta * (self.scale / typical_scale(iterate.problem)) ** 0.5
        self.solution.n_factors += 1
        return self.first.with_beta(reweigh(iterate.problem, iterate.Z, beta, stage))


@dataclass(frozen=True)
class PaperADMM:
    """The algorithm of Cipolla and Gondzio.

    Parameters
    ----------
    max_iter : int
        Exactly so many iterations are made; they take 10, with the beta of `paper_beta`. Only the
        last z-step has the constraint on the sum, so that the gap of the result is known.
    """

    max_iter: int = 10

    @with_serial_blas
    def solve(self, problem: Problem, system: System, start: Floats | None = None) -> Solution:
        """Solve all columns of `problem`; see `ADMM.solve`."""
        penalised = Penalised.of(require_fit(problem, system), problem.parts)
        iterate = Iterate.begin(problem, system, start)
        solution = Solution.empty(iterate.Z)
        for iteration in range(1, self.max_iter + 1):
            V = iterate.relax(iterate.x_step(penalised), penalised.beta, 1.0)
            if iteration < self.max_iter:
                iterate.plain_z_step(V, penalised.beta)
            else:
                iterate.z_step(V, penalised.beta, exactly=True)
            iterate.u_step(V, penalised.beta)
        F = system.matmul(iterate.Z)
        solution.update(np.arange(problem.k), iterate.Z, F, problem.evaluate(iterate.Z, F))
        solution.n_iter[:] = self.max_iter
        solution.status = [Status.FIXED] * problem.k
        return solution


def require_fit(problem: Problem, system: System) -> System:
    """Return `system` if it has the rows and the precision of `problem`."""
    if problem.n != system.n:
        raise ValueError(f"the problem has {problem.n} rows, the system {system.n}")
    if problem.dtype != system.dtype:
        raise ValueError(f"the problem is {problem.dtype}, the system {system.dtype}")
    return system
