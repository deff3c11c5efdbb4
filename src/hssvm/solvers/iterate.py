"""The steps of one ADMM iteration, elementwise but for one solve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm.kernels.base import Floats
from hssvm.problems.base import Problem
from hssvm.problems.parts import Parts
from hssvm.solvers.equality import constrain_x, constrained_prox, row_chunks
from hssvm.systems.base import System


@dataclass(frozen=True, eq=False)
class Penalised:
    """A system with the weights beta on its diagonal.

    Attributes
    ----------
    system : System
    beta : (n,)
        Its shift. (The one place where shift and beta are the same.)
    w : (n,)
        ``(K + diag(beta))^-1 1``, for the constraint on the sum.
    parts : Parts
        Those that the rows are spread over.
    sum_w : float
        Over all of them.
    """

    system: System
    beta: Floats
    w: Floats
    parts: Parts
    sum_w: float

    @classmethod
    def of(cls, system: System, parts: Parts) -> Penalised:
        """Take the weights from the shift of `system`."""
        beta = np.full(system.n, system.shift, system.dtype)
        w = system.solve(np.ones(system.n, system.dtype))
        return cls(system, beta, w, parts, float(parts.sum(w.sum(dtype=np.float64))))

    def with_beta(self, beta: Floats) -> Penalised:
        """Return the same K with other weights: a new factor."""
        return Penalised.of(self.system.with_shift(beta), self.parts)


@dataclass(eq=False)
class Iterate:
    """z, u and the multiplier tau of the constraint, for some columns of a problem.

    Attributes
    ----------
    index : (k,) int
        Which columns these are.
    problem : Problem
        Of these columns.
    Z, U : (n, k)
    tau : (k,)
    """

    index: NDArray[np.int64]
    problem: Problem
    Z: Floats
    U: Floats
    tau: NDArray[np.float64]

    @classmethod
    def begin(cls, problem: Problem, system: System, start: Floats | None) -> Iterate:
        """Start at 0, or at `start` with the multiplier that fits it."""
        index = np.arange(problem.k)
        if start is None:
            Z = np.zeros((problem.n, problem.k), problem.dtype)
            return cls(index, problem, Z, np.zeros_like(Z), np.zeros(problem.k))
        Z = np.array(start, problem.dtype, order="C")
        F = system.matmul(Z)
        intercept = problem.evaluate(Z, F).intercept.astype(problem.dtype)
        return cls(index, problem, Z, problem.linear - F - intercept, np.zeros(problem.k))

    def columns(self, some: NDArray[Any]) -> Iterate:
        """Return some of the columns."""
        Z, U = (np.ascontiguousarray(A[:, some]) for A in (self.Z, self.U))
        return Iterate(self.index[some], self.problem.columns(some), Z, U, self.tau[some])

    def x_step(self, penalised: Penalised) -> Floats:
        """``argmin 1/2 x'Kx - linear'x + u'(x - z) + 1/2 |x - z|^2_beta``, sum x = total."""
        linear, Z, U, beta = self.problem.linear, self.Z, self.U, penalised.beta
        B, wB = np.empty_like(Z), np.zeros(Z.shape[1])
        for rows in row_chunks(*Z.shape):
            np.multiply(beta[rows, None], Z[rows], out=B[rows])
            B[rows] += linear[rows]
            B[rows] -= U[rows]
            wB += penalised.w[rows].astype(np.float64) @ B[rows].astype(np.float64)
        sum_x = penalised.parts.sum_later(wB)  # travels with the messages of the solve
        X = penalised.system.solve(B)
        return constrain_x(X, sum_x(), penalised.w, penalised.sum_w, self.problem.total)

    def relax(self, X: Floats, beta: Floats, relaxation: float) -> Floats:
        """``v = relaxation x + (1 - relaxation) z + u / beta``, written over X."""
        for rows in row_chunks(*X.shape):
            X[rows] *= relaxation
            X[rows] += (1 - relaxation) * self.Z[rows]
            X[rows] += self.U[rows] / beta[rows, None]
        return X

    def z_step(self, V: Floats, beta: Floats, *, exactly: bool) -> None:
        """``argmin h(z) + 1/2 |z - v|^2_beta``, with sum z = total."""
        self.Z, self.tau = constrained_prox(self.problem, V, beta, self.tau, exactly=exactly)

    def plain_z_step(self, V: Floats, beta: Floats) -> None:
        """The same without the constraint."""
        self.Z, _ = self.problem.prox(V, beta, np.zeros_like(self.tau))

    def u_step(self, V: Floats, beta: Floats) -> None:
        """``beta (v - z)``, written over V."""
        for rows in row_chunks(*V.shape):
            V[rows] -= self.Z[rows]
            V[rows] *= beta[rows, None]
        self.U = V
