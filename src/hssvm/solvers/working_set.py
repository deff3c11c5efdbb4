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

If several ranks hold the rows, each keeps Z and F at its own rows, and proposes the rows that
violate the conditions most. The first rank solves the problem restricted to U; the others receive
the new coefficients, and the rows that entered U. All ranks make the same decisions.

The solvers of LIBSVM and its successors accept neither a start nor several columns, and are slower.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hssvm._threads import with_serial_blas
from hssvm.kernels.base import Floats
from hssvm.kernels.lazy import LazyKernelMatrix
from hssvm.problems.base import Problem
from hssvm.solvers.solution import Solution, Stop
from hssvm.solvers.working_set_run import WorkingSetRun
from hssvm.solvers.working_set_state import WorkingSetState

FIRST_VIOLATION = 0.1
"""Largest violation at which the first check is made, relative to the size of the decision values:
1 for classifiers, the size of y for regressions."""


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
    max_work : float
        Work limit in nominal seconds: counted operations times their cost on the two cores of the
        benchmarks. Unlike `max_time`, it does not depend on the load of the machine.
    first_violation : float
        Largest violation at which the gap is evaluated for the first time, relative to the size of
        the decision values.
    checkpoint : callable, optional
        Called as ``checkpoint(round, state)`` after every round, and before the first one, 0, with
        the `WorkingSetState`, from which another run can resume. It must copy what it keeps.
    max_iter : float or (k,) array
        Maximum number of SMO steps of a column.
    stop : callable, optional
        Called without arguments after every round, and several times a second during it. A true
        value stops the run; a `Status` becomes the status of the unfinished columns.

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
    max_work: float = np.inf
    first_violation: float = FIRST_VIOLATION
    checkpoint: Callable[[int, WorkingSetState], None] | None = None
    max_iter: float | Floats = np.inf
    stop: Stop | None = None

    @with_serial_blas
    def solve(
        self,
        problem: Problem,
        kernel_matrix: LazyKernelMatrix,
        start: Solution,
        rows: NDArray[np.int64] | None = None,
        state: WorkingSetState | None = None,
    ) -> Solution:
        """Solve all columns of `problem`.

        Parameters
        ----------
        problem : Problem
        kernel_matrix : LazyKernelMatrix
        start : Solution
            Feasible, with F and intercept on a kernel close to the exact one.
        rows : (q,) int64, optional
            Initial rows of the working set, up to its capacity; by default none.
        state : WorkingSetState, optional
            State of an interrupted run on the same problem, which is resumed from there.

        Returns
        -------
        Solution
            F, objectives and gap refer to the exact kernel; `n_iter` counts SMO steps.
        """
        solution = Solution.empty(start.Z) if state is None else state.solution
        run = WorkingSetRun(self, problem, kernel_matrix, solution)
        if state is None:
            run.begin(start, rows)
        else:
            run.resume(state)
        while run.open.size and not run.ended:
            if run.exhausted.any():
                run.check()
            else:
                run.round()
        if run.open.size:
            run.check()
        solution.n_working = run.working_set.rows.size
        return solution
