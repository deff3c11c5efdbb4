"""Problems with a ridge: their losses by definition, and their solutions by Clarabel."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from reference import dual_by_clarabel

from hssvm import _core
from hssvm.kernels import Gaussian
from hssvm.kernels.base import core_rows
from hssvm.kernels.lazy import LazyKernelMatrix
from hssvm.operators import DenseOperator
from hssvm.problems import CellProblems, HuberProblem, SquaredHingeProblem, SquaredSVRProblem
from hssvm.solvers import ADMM, Solution, WorkingSet, polish, solve_interior, solve_small


def cost_of(rng, n, dtype):
    cost = rng.choice([0.1, 1.0, 30.0]) * rng.uniform(0.1, 2, n) * (rng.random(n) < 0.9)
    cost[:2] = 1
    return cost[:, None].astype(dtype)


def squared_hinge(rng, n, dtype=np.float64):
    signs = rng.choice([-1, 1], (n, 2))
    signs[:2] = [[1, -1], [-1, 1]]
    return SquaredHingeProblem((signs * cost_of(rng, n, dtype)).astype(dtype))


def regression(rng, n, dtype):
    y = rng.standard_normal((n, 2)) * [1, 10]
    return y.astype(dtype), np.repeat(cost_of(rng, n, dtype), 2, axis=1)


def squared_svr(rng, n, dtype=np.float64):
    return SquaredSVRProblem(*regression(rng, n, dtype), np.array([0.0, 1.0]))


def huber(rng, n, dtype=np.float64):
    return HuberProblem(*regression(rng, n, dtype), np.array([0.3, 2.0]))


ALL = [squared_hinge, squared_svr, huber]


def losses_by_definition(problem, values):
    """Losses of all rows at decision values (n, k), from the docstrings."""
    cost = np.where(problem.reach > 0, 1 / problem.ridge[:, None].astype(float), 0)
    if isinstance(problem, SquaredHingeProblem):
        return cost / 2 * np.maximum(0, 1 - problem.linear * values) ** 2
    error = np.abs(problem.linear.astype(float) - values)
    if isinstance(problem, SquaredSVRProblem):
        return cost / 2 * np.maximum(0, error - problem.l1_weight) ** 2
    epsilon = np.array([0.3, 2.0])
    return cost * np.where(error <= epsilon, error**2 / 2, epsilon * error - epsilon**2 / 2)


def rows_of(rng, n):
    X = rng.standard_normal((n, 3))
    X[n // 2 :: 7] = X[0]  # K is singular
    return X, Gaussian(rng.choice([0.05, 0.5, 5.0]))


def empty(problem):
    return Solution.empty(np.zeros((problem.n, problem.k), problem.dtype))


def by_smo(problem, kernel, X, tol):
    solution = empty(problem)
    solve_small(problem, kernel, X, solution, tol)
    return solution


def by_working_set(problem, kernel, X, tol):
    return WorkingSet(tol).solve(problem, LazyKernelMatrix(kernel, X), empty(problem))


def by_admm(problem, kernel, X, tol):
    return ADMM(tol, 5000).solve(problem, DenseOperator(kernel.block(X)))


def by_interior_point(problem, kernel, X, tol):
    solution = by_smo(problem, kernel, X, np.inf)
    solve_interior(problem, LazyKernelMatrix(kernel, X), solution, tol)
    return solution


def by_polish(problem, kernel, X, tol):
    solution = by_smo(problem, kernel, X, 1e-4)
    before = solution.gap.copy()
    polish(problem, LazyKernelMatrix(kernel, X), solution)
    assert (solution.gap <= before).all()
    solve_small(problem, kernel, X, solution, tol)  # one in 200 active sets is not found
    return solution


def by_parts(problem, kernel, X, tol):
    """Solve two cells; returns the second one, with its problem and rows."""
    order, offsets = np.random.default_rng(0).permutation(problem.n), np.array([0, 5, problem.n])
    cells = CellProblems(problem, order, offsets)
    batch = cells.batch(np.arange(2))
    z, F = np.zeros_like(batch.linear), np.zeros_like(batch.linear)
    primal, dual, intercept = np.empty((3, 2, problem.k))
    _core.solve_parts(
        kernel.core, core_rows(X), offsets, order, batch.lower, batch.upper, batch.linear,
        batch.l1_weight, np.full(problem.k, tol), np.full(2, 10**6), z, F, primal, dual, intercept,
        np.empty((2, problem.k), np.int64), ridge=batch.ridge,
    )  # fmt: skip
    values = problem.rows(order[5:]).evaluate(z[5:], F[5:])
    assert_allclose(primal[1], values.primal, rtol=1e-9)
    assert_allclose(dual[1], values.dual, rtol=1e-9)
    assert_allclose(intercept[1], values.intercept, rtol=1e-6, atol=1e-6)
    whole = empty(problem.rows(order[5:]))
    whole.update(np.arange(problem.k), z[5:], F[5:], values)
    return whole, problem.rows(order[5:]), X[order[5:]]


SOLVERS = [by_smo, by_working_set, by_admm, by_interior_point, by_polish, by_parts]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("make", ALL)
def test_losses_and_intercept_by_definition(make, dtype, rng):
    problem = make(rng, 50, dtype)
    assert problem.dtype == problem.lower.dtype == problem.upper.dtype == problem.ridge.dtype
    X, kernel = rows_of(rng, 50)
    K = kernel.block(X)
    Z = by_smo(problem, kernel, X.astype(dtype), 1e-2).Z
    F = (K @ Z).astype(dtype)
    values = problem.evaluate(Z, F)

    def primal(intercept):
        half = np.einsum("ij,ij->j", Z, F, dtype=float) / 2
        return half + losses_by_definition(problem, F + intercept).sum(axis=0)

    digits = 1e-4 if dtype == np.float32 else 1e-9
    assert_allclose(values.primal, primal(values.intercept), rtol=digits)
    for step in (-1, -1e-2, 1e-2, 1):
        assert (primal(values.intercept) <= primal(values.intercept + step) * (1 + digits)).all()


@pytest.mark.parametrize("solve", SOLVERS)
@pytest.mark.parametrize("make", ALL)
@settings(max_examples=12)
@given(seed=st.integers(0, 2**32 - 1))
def test_same_optimum_as_a_generic_solver(make, solve, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, 60))
    problem = make(rng, n)
    X, kernel = rows_of(rng, n)
    solution = solve(problem, kernel, X, 1e-7)
    if solve is by_parts:
        solution, problem, X = solution
    K, rows = kernel.block(X), np.arange(problem.n)
    lower, upper = problem.box(rows)
    assert ((lower <= solution.Z) & (upper >= solution.Z)).all()
    assert_allclose(solution.Z.sum(axis=0), 0, atol=1e-6 * np.abs(solution.Z).sum(axis=0).max())
    assert_allclose(solution.F, K @ solution.Z, atol=1e-7 * (1 + np.abs(solution.Z).max()))
    for j in range(problem.k):
        best = dual_by_clarabel(K, problem, j)[1]
        assert_allclose(solution.dual[j], best, rtol=1e-6, atol=1e-9)
        assert solution.primal[j] >= best - 1e-6 * abs(best) - 1e-9
    assert (solution.gap <= 1.1e-7).all()
    values = problem.evaluate(solution.Z, solution.F)
    assert (values.gap >= -1e-12).all()


@pytest.mark.parametrize("make", ALL)
def test_most_active_sets_are_found(make, rng):
    found = []
    for _ in range(10):
        problem, (X, kernel) = make(rng, 40), rows_of(rng, 40)
        solution = by_smo(problem, kernel, X, 1e-4)
        polish(problem, LazyKernelMatrix(kernel, X), solution)
        found += (solution.gap < 1e-12).tolist()
    assert sum(found) >= 15


@pytest.mark.parametrize("make", ALL)
def test_rows_columns_and_exclusion(make, rng):
    problem = make(rng, 20)
    part = problem.rows(np.array([3, 5])).columns(np.array([1]))
    assert_allclose(part.ridge, problem.ridge[[3, 5]])
    excluded = problem.using(rng.random((20, 2)) < 0.5)
    assert not np.isnan(excluded.lower).any() and not np.isnan(excluded.upper).any()
    assert (
        excluded.losses(np.arange(20), np.ones((20, 2)), np.zeros(2))[excluded.reach == 0] == 0
    ).all()
    assert (excluded.reach[excluded.reach > 0] == problem.reach[excluded.reach > 0]).all()


@pytest.mark.parametrize("make", ALL)
def test_float32_and_many_rows(make, rng):
    """The gap, which is evaluated in two precisions, is that of its coefficients in float64."""
    problem = make(rng, 1500, np.float32)
    X, kernel = rows_of(rng, 1500)
    solution = by_working_set(problem, kernel, X.astype(np.float32), 1e-3)
    K = kernel.block(X.astype(np.float32).astype(float))
    exact = problem.evaluate(solution.Z.astype(float), K @ solution.Z)
    assert (exact.gap <= 1.2e-3).all()
    assert_allclose(exact.dual, solution.dual, rtol=1e-3)


def test_the_core_checks_the_length_of_the_ridge():
    one, F = np.ones(4), np.zeros(4)
    with pytest.raises(ValueError, match="ridge: shapes do not match"):
        _core.solve_small(np.eye(4), one, 0 * one, one, 0.0, 0 * one, F, 1e-3, 9, None, np.ones(3))


def test_columns_of_different_cost_are_refused():
    cost, y, epsilon = np.array([[1.0, 2.0], [1.0, 1.0]]), np.zeros((2, 2)), np.ones(2)
    for make in (
        lambda: SquaredHingeProblem(cost),
        lambda: SquaredSVRProblem(y, cost, epsilon),
        lambda: HuberProblem(y, cost, epsilon),
    ):
        with pytest.raises(ValueError, match="must have the same cost"):
            make()
    assert_allclose(SquaredHingeProblem(np.array([[1.0, 0.0], [-2.0, 2.0]])).ridge, [0.5, 0.25])
