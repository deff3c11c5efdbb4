"""The steps of an ADMM iteration: one solve, everything else is elementwise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm.comm import Communicator
from hssvm.kernels.base import Floats
from hssvm.operators.base import Factor, Operator
from hssvm.problems.base import Problem
from hssvm.solvers.equality import constrain_x, constrained_prox, row_chunks


@dataclass(frozen=True, eq=False)
class ADMMFactor:
    """A factor of ``K + diag(beta)``, with the quantities for the constraint on the sum.

    Attributes
    ----------
    factor : Factor
        With ``shift = beta``.
    beta : (n,)
    w : (n,)
        ``(K + diag(beta))^-1 1``.
    sum_w : float
        Sum of w over the rows of all ranks.
    """

    factor: Factor
    beta: Floats
    w: Floats
    sum_w: float

    @classmethod
    def make(
        cls, operator: Operator, beta: float | Floats, communicator: Communicator
    ) -> ADMMFactor:
        """Factor ``K + diag(beta)``."""
        factor = operator.factor(beta)
        w = factor.solve(np.ones(operator.n, operator.dtype))
        sum_w = float(communicator.allreduce(w.sum(dtype=np.float64)))
        return cls(factor, np.full(operator.n, beta, operator.dtype), w, sum_w)


@dataclass(eq=False)
class Iterate:
    """z, u and the multiplier tau of the constraint, for the active columns of a problem.

    Attributes
    ----------
    index : (k,) int
        Indices of these columns in the original problem.
    problem : Problem
        Restricted to these columns.
    Z, U : (n, k)
    tau : (k,)
    """

    index: NDArray[np.int64]
    problem: Problem
    Z: Floats
    U: Floats
    tau: NDArray[np.float64]

    @classmethod
    def begin(cls, problem: Problem, operator: Operator, start: Floats | None) -> Iterate:
        """Start at 0, or at `start` with the corresponding multiplier u."""
        index = np.arange(problem.k)
        if start is None:
            Z = np.zeros((problem.n, problem.k), problem.dtype)
            return cls(index, problem, Z, np.zeros_like(Z), np.zeros(problem.k))
        Z = np.array(start, problem.dtype, order="C")
        F = operator.matmul(Z)
        intercept = problem.evaluate(Z, F).intercept.astype(problem.dtype)
        return cls(index, problem, Z, problem.linear - F - intercept, np.zeros(problem.k))

    def columns(self, which: NDArray[Any]) -> Iterate:
        """Return the given columns."""
        Z, U = (np.ascontiguousarray(A[:, which]) for A in (self.Z, self.U))
        return Iterate(self.index[which], self.problem.columns(which), Z, U, self.tau[which])

    def x_step(self, factor: ADMMFactor) -> Floats:
        """``argmin 1/2 x'Kx - linear'x + u'(x - z) + 1/2 |x - z|^2_beta``, sum x = equality_rhs."""
        linear, Z, U, beta = self.problem.linear, self.Z, self.U, factor.beta
        B, wB = np.empty_like(Z), np.zeros(Z.shape[1])
        for rows in row_chunks(*Z.shape):
            np.multiply(beta[rows, None], Z[rows], out=B[rows])
            B[rows] += linear[rows]
            B[rows] -= U[rows]
            wB += factor.w[rows].astype(np.float64) @ B[rows].astype(np.float64)
        sum_x = self.problem.communicator.allreduce_async(wB)  # sent along with the solve
        X = factor.factor.solve(B)
        return constrain_x(X, sum_x(), factor.w, factor.sum_w, self.problem.equality_rhs)

    def relax(self, X: Floats, beta: Floats, relaxation: float) -> Floats:
        """``v = relaxation x + (1 - relaxation) z + u / beta``, written over X."""
        for rows in row_chunks(*X.shape):
            X[rows] *= relaxation
            X[rows] += (1 - relaxation) * self.Z[rows]
            X[rows] += self.U[rows] / beta[rows, None]
        return X

    def z_step(self, V: Floats, beta: Floats, *, exactly: bool) -> None:
        """``argmin h(z) + 1/2 |z - v|^2_beta``, with sum z = equality_rhs."""
        self.Z, self.tau = constrained_prox(self.problem, V, beta, self.tau, exactly=exactly)

    def plain_z_step(self, V: Floats, beta: Floats) -> None:
        """The z-step without the constraint."""
        self.Z, _ = self.problem.prox(V, beta, np.zeros_like(self.tau))

    def u_step(self, V: Floats, beta: Floats) -> None:
        """``beta (v - z)``, written over V."""
        for rows in row_chunks(*V.shape):
            V[rows] -= self.Z[rows]
            V[rows] *= beta[rows, None]
        self.U = V
