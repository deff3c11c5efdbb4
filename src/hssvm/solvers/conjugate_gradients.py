"""Conjugate gradients for least squares on the exact kernel.

The system ``(K + diag(ridge)) z = y`` has as many unknowns as rows. A factor of the compressed
kernel, ``K~ + diag(ridge)``, is the preconditioner: it removes the large eigenvalues, and an
iteration is one product with K, whose entries are computed again each time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hssvm._threads import with_serial_blas
from hssvm.kernels.base import Floats
from hssvm.kernels.lazy import LazyKernelMatrix
from hssvm.operators.base import Factor
from hssvm.problems import LeastSquaresProblem
from hssvm.progress import Gap, emit
from hssvm.solvers.solution import Solution, Status, Stop

PATIENCE = 50
"""Number of iterations without a smaller gap after which rounding errors prevail: the gap may rise
for a while."""


@dataclass(frozen=True)
class ConjugateGradients:
    """Preconditioned conjugate gradients for a block of columns, each with its own steps.

    Parameters
    ----------
    tol : float
        Relative duality gap of the worst column at which all of them stop.
    max_work : float
        Limit in nominal seconds; see `hssvm.costs`.
    max_iter : float
    stop : callable, optional
        See `hssvm.solvers.ADMM`.
    """

    tol: float
    max_work: float = np.inf
    max_iter: float = np.inf
    stop: Stop | None = None

    @with_serial_blas
    def solve(
        self, problem: LeastSquaresProblem, K: LazyKernelMatrix, factor: Factor, Z: Floats
    ) -> Solution:
        """Solve all columns of a problem.

        Parameters
        ----------
        problem : LeastSquaresProblem
        K : LazyKernelMatrix
        factor : Factor
            Of a matrix close to K, plus the ridge.
        Z : (n, k)
            Initial coefficients.

        Returns
        -------
        Solution
            `n_iter` is the number of products with K.
        """
        rows, columns, used = np.arange(problem.n), np.arange(problem.k), problem.used
        ridge = problem.shift[:, None].astype(np.float64)

        def product(V: Floats) -> NDArray[np.float64]:
            return K.product(rows, rows, V.astype(K.dtype)).astype(np.float64)

        Z = np.where(used, Z, 0).astype(np.float64)
        F = product(Z)
        R = np.where(used, problem.linear - F - ridge * Z, 0)
        P, size = np.zeros_like(R), np.zeros(problem.k)
        solution, gaps, iteration = Solution.empty(Z.astype(problem.dtype)), list[float](), 0
        while True:
            solution.update(columns, Z, F, problem.evaluate(Z, F))
            solution.remember(iteration)
            gaps.append(float(solution.gap.max()))
            emit(Gap(iteration, gaps[-1]), "conjugate gradients %d: gap %.1e", iteration, gaps[-1])
            ended = self._end(iteration, gaps, K)
            if ended is not None:
                break
            Q = np.where(used, factor.solve(R), 0).astype(np.float64)
            size, before = np.einsum("ij,ij->j", R, Q), size
            P = Q + _ratio(size, before) * P
            F_step = product(P)
            step = _ratio(size, np.einsum("ij,ij->j", P, F_step + ridge * P))
            Z, F = Z + step * P, F + step * F_step
            R = np.where(used, R - step * (F_step + ridge * P), 0)
            iteration += 1
        solution.end(columns, ended)
        solution.n_iter[:] = solution.n_rounds[:] = iteration + 1
        return solution

    def _end(self, iteration: int, gaps: list[float], K: LazyKernelMatrix) -> Status | bool | None:
        """Why the iteration ends, given the largest gap after each step; None if it does not."""
        if gaps[-1] <= self.tol:
            return Status.CONVERGED
        answer = self.stop() if self.stop is not None else None
        if answer:
            return answer
        if iteration >= self.max_iter:
            return Status.MAX_ITER
        if (iteration + 2) * K.n**2 * K.value_cost > self.max_work:
            return Status.MAX_WORK
        stalled = iteration >= PATIENCE and gaps[-1] >= gaps[-1 - PATIENCE]
        return Status.stalled(K.dtype) if stalled else None


def _ratio(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """``a / b``, or 0 if b is 0: a column that is solved."""
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0)
