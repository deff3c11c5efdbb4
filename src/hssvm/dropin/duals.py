"""The five models of LIBSVM: their duals, solved on the exact kernel.

The rows all have a positive weight; weights are the sample weights.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hssvm.dropin.exact import solve_exactly, solve_pairs_exactly
from hssvm.dropin.expansion import Expansion, libsvm_intercept
from hssvm.dropin.nu import solve_nu_svc, solve_nu_svr
from hssvm.kernels.base import Floats, Kernel, Rows
from hssvm.problems import OneClassProblem, PairsProblem, SVRProblem


def c_svc(
    kernel: Kernel, X: Rows, codes: NDArray[np.int64], cost: Floats, n_classes: int, tol: float
) -> Expansion:
    """Solve a C-SVC for every pair of classes; `cost`, (n,), is C times the weights."""
    problem = PairsProblem(codes, cost, n_classes)
    solution = solve_pairs_exactly(problem, kernel, X, tol)
    intercept = [
        libsvm_intercept(pair.problem, pair.pick(solution.Z), pair.pick(solution.F), tol)
        for pair in problem.parts()
    ]
    return Expansion.of_classes(solution.Z, codes, n_classes, np.array(intercept), solution.n_iter)


def nu_svc(
    kernel: Kernel,
    X: Rows,
    codes: NDArray[np.int64],
    weight: Floats,
    n_classes: int,
    nu: float,
    tol: float,
) -> Expansion:
    """Solve a nu-SVC for every pair of classes."""
    problem = PairsProblem(codes, weight, n_classes)
    Z = np.zeros((problem.n, problem.k))
    intercept, n_iter = np.zeros(problem.n_parts), np.zeros(problem.n_parts, np.int64)
    for index, pair in enumerate(problem.parts()):
        solved = solve_nu_svc(pair.problem.bound[:, 0], nu, kernel, pair.take(X), tol)
        pair.put(solved.z[:, None], Z)
        intercept[index], n_iter[index] = solved.intercept, solved.n_iter
    return Expansion.of_classes(Z, codes, n_classes, intercept, n_iter)


def epsilon_svr(
    kernel: Kernel, X: Rows, y: Floats, cost: Floats, epsilon: float, tol: float
) -> Expansion:
    """Solve an epsilon-SVR; `cost`, (n,), is C times the weights."""
    problem = SVRProblem(y[:, None], cost[:, None], np.array([epsilon]))
    solution = solve_exactly(problem, kernel, X, tol)
    intercept = libsvm_intercept(problem, solution.Z, solution.F, tol)
    return Expansion.of_column(solution.Z[:, 0], intercept, int(solution.n_iter[0]))


def nu_svr(kernel: Kernel, X: Rows, y: Floats, cost: Floats, nu: float, tol: float) -> Expansion:
    """Solve a nu-SVR; `cost`, (n,), is C times the weights."""
    solved = solve_nu_svr(y, cost, nu, kernel, X, tol)
    return Expansion.of_column(solved.z, solved.intercept, solved.n_iter)


def one_class(kernel: Kernel, X: Rows, weight: Floats, nu: float, tol: float) -> Expansion:
    """Solve a one-class problem."""
    diagonal = kernel.diag(X).astype(np.float64)
    problem = OneClassProblem(weight[:, None], np.array([nu]), diagonal=diagonal)
    # the first rows at their bounds, as in LIBSVM; a uniform start makes all rows support vectors
    before = np.cumsum(weight) - weight
    start = np.clip(problem.equality_rhs[0] - before, 0, weight)
    solution = solve_exactly(problem, kernel, X, tol, start[:, None])
    intercept = libsvm_intercept(problem, solution.Z, solution.F, tol)
    return Expansion.of_column(solution.Z[:, 0], intercept, int(solution.n_iter[0]))
