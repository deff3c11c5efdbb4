"""The state of the working-set solver between two rounds, from which a run can be resumed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hssvm.kernels.base import Floats
from hssvm.solvers.solution import Solution
from hssvm.solvers.working_kernel import Admission

if TYPE_CHECKING:
    from hssvm.solvers.working_set_run import WorkingSetRun


@dataclass(frozen=True, eq=False)
class WorkingSetState:
    """What the next rounds depend on, at the rows of a rank, except for kernel values.

    A run that is resumed computes the kernel values of the working set again, and then the same
    numbers, bit for bit, as a run that was not interrupted. With the coefficients alone, it would
    reach the tolerance on another path, and decision values would differ within the tolerance.

    Attributes
    ----------
    rounds : int
    open : (m,) int64
        Columns of the problem that have not converged.
    violation_goal, least_violation : (m,) float64
    least_at, n_steps : (m,) int64
    Z, F, watched, seen, variance
        See `LazyProduct`.
    shared : (c,) int64
        See `LazyKernelMatrix.shared_rows`.
    admissions : list of (rows, evict)
        See `WorkingKernel`.
    shuffle, shuffle_all : numpy Generator
    work : float
        Nominal seconds of all steps so far.
    n_values : int
        Kernel values computed so far.
    start_iter, start_factors : (k,) int64, int
        Number of iterations and factorizations of the start.
    solution : Solution
        The best points so far.
    """

    rounds: int
    open: NDArray[np.int64]
    violation_goal: NDArray[np.float64]
    least_violation: NDArray[np.float64]
    least_at: NDArray[np.int64]
    n_steps: NDArray[np.int64]
    Z: Floats
    F: NDArray[np.float64]
    watched: NDArray[np.int64]
    seen: Floats
    variance: NDArray[np.float64]
    shared: NDArray[np.int64]
    admissions: list[Admission]
    shuffle: np.random.Generator
    shuffle_all: np.random.Generator
    work: float
    n_values: int
    start_iter: NDArray[np.int64]
    start_factors: int
    solution: Solution

    @classmethod
    def of(cls, run: WorkingSetRun) -> WorkingSetState:
        """Return the state of a run."""
        product, working_set, K = run.product, run.working_set, run.working_set.kernel_matrix
        return cls(
            run.rounds,
            run.open,
            run.violation_goal,
            run.least_violation,
            run.least_at,
            run.n_steps,
            product.Z,
            product.F,
            product.watched,
            product.seen,
            product.variance,
            K.shared_rows,
            working_set.admissions,
            run.shuffle,
            run.shuffle_all,
            working_set.work,
            K.n_values - run.n_values_before,
            run.start_iter,
            run.start_factors,
            run.solution,
        )

    @property
    def start(self) -> Solution:
        """The start, without its coefficients."""
        start = Solution.empty(np.zeros_like(self.solution.Z))
        start.n_iter, start.n_factors = self.start_iter, self.start_factors
        return start
