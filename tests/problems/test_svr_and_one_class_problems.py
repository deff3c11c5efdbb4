"""Regression and novelty: their problems by definition, and their solutions by other solvers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.svm import SVR as ExactSVR
from sklearn.svm import OneClassSVM as ExactOneClassSVM

from hssvm.kernels import Gaussian
from hssvm.kernels.lazy import LazyKernelMatrix
from hssvm.operators import DenseOperator
from hssvm.problems import OneClassProblem, QuantileProblem, SVRProblem
from hssvm.solvers import ADMM, Solution, WorkingSet, initial_beta, polish
from hssvm.solvers.polish import active_set_step


def svr(rng, n, k, dtype=np.float64):
    y = (3 * rng.standard_normal((n, k))).astype(dtype)
    bound = (rng.uniform(0, 2, (n, k)) * (rng.random((n, k)) < 0.9)).astype(dtype)
    bound[0] = 1
    return SVRProblem(y, bound, rng.uniform(0, 1, k) * (rng.random(k) < 0.8))


def one_class(rng, n, k, dtype=np.float64):
    bound = (rng.uniform(0, 2, (n, k)) * (rng.random((n, k)) < 0.9)).astype(dtype)
    bound[0] = 1
    return OneClassProblem(bound, rng.uniform(0.05, 0.95, k))


def quantile(rng, n, k, dtype=np.float64):
    svr_problem = svr(rng, n, k, dtype)
    return QuantileProblem(svr_problem.linear, svr_problem.upper, rng.uniform(0.02, 0.98, k))


def loss(problem, j, values):
    bound = problem.upper[:, j].astype(float)
    if isinstance(problem, QuantileProblem):
        error, low = problem.linear[:, j] - values, -problem.lower[:, j].astype(float)
        return (bound * np.maximum(error, 0) + low * np.maximum(-error, 0)).sum()
    if isinstance(problem, SVRProblem):
        distance = np.abs(problem.linear[:, j].astype(float) - values) - problem.l1_weight[j]
        return (bound * np.maximum(0, distance)).sum()
    return (bound * np.maximum(0, -values)).sum()


def feasible(problem, rng):
    """A point of the box with the right sum, by the problem's own prox."""
    from hssvm.solvers.equality import constrained_prox

    V = rng.standard_normal((problem.n, problem.k)).astype(problem.dtype)
    beta = np.ones(problem.n, problem.dtype)
    return constrained_prox(problem, V, beta, np.zeros(problem.k), exactly=True)[0]


@pytest.mark.parametrize("make", [svr, quantile, one_class])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_values_by_definition(make, dtype, rng):
    problem = make(rng, 50, 3, dtype)
    A = rng.standard_normal((50, 6))
    K = A @ A.T
    Z = feasible(problem, rng)
    values = problem.evaluate(Z, (K @ Z).astype(dtype))
    for j in range(3):
        z = Z[:, j].astype(float)
        half = z @ K @ z / 2

        def primal(b, j=j, z=z, half=half):
            return half + b * problem.equality_rhs[j] + loss(problem, j, K @ z + b)

        dual = problem.linear[:, j] @ z - problem.l1_weight[j] * np.abs(z).sum() - half
        b = values.intercept[j]
        assert_allclose(values.primal[j], primal(b), rtol=1e-4, atol=1e-4)
        assert_allclose(values.dual[j], dual, rtol=1e-4, atol=1e-4)
        near = [primal(b + step) for step in (-1, -0.1, -1e-3, 1e-3, 0.1, 1)]
        assert primal(b) <= min(near) + 1e-4 * (1 + abs(primal(b)))


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(2, 60),
    make=st.sampled_from([svr, quantile, one_class]),
    scale=st.floats(0.01, 100),
)
def test_gap_is_never_negative(seed, n, make, scale):
    rng = np.random.default_rng(seed)
    problem = make(rng, n, 2)
    A = rng.standard_normal((n, rng.integers(1, n + 1))) * scale
    Z = feasible(problem, rng)
    values = problem.evaluate(Z, A @ (A.T @ Z))
    assert np.all(values.gap >= -1e-9)


@pytest.mark.parametrize("make", [svr, quantile, one_class])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_prox_is_a_minimum(make, dtype, rng):
    problem = make(rng, 400, 3, dtype)
    V = (2 * rng.standard_normal((400, 3))).astype(dtype)
    beta = rng.uniform(0.1, 10, 400).astype(dtype)
    tau = rng.standard_normal(3)
    Z, sums = problem.prox(V, beta, tau)
    lower, upper = problem.box(np.arange(400))
    assert np.all((lower <= Z) & (upper >= Z))

    def objective(Z):
        away = Z - (V - tau / beta[:, None])
        return problem.l1_weight * np.abs(Z) + beta[:, None] * away.astype(float) ** 2 / 2

    for step in (-1e-3, 1e-3, -0.1, 0.1):
        assert np.all(objective(Z) <= objective(np.clip(Z + step, lower, upper)) + 1e-5)
    assert np.all(objective(Z) <= objective(np.zeros_like(Z)) + 1e-5)
    assert_allclose(sums.z, Z.sum(axis=0, dtype=float), rtol=1e-9, atol=1e-9)
    assert_allclose(sums.slope, (problem.free(Z) / beta[:, None]).sum(axis=0), rtol=1e-3)


@pytest.mark.parametrize("make", [svr, quantile, one_class])
def test_columns(make, rng):
    problem = make(rng, 20, 4)
    some = problem.columns(np.array([2, 0]))
    assert type(some) is type(problem)
    for name in ("lower", "upper", "linear"):
        assert_allclose(getattr(some, name), getattr(problem, name)[:, [2, 0]])
    for name in ("l1_weight", "equality_rhs"):
        assert_allclose(getattr(some, name), getattr(problem, name)[[2, 0]])


def solve_by_admm(problem, K, X):
    operator = DenseOperator(K)
    solution = ADMM(tol=1e-6, max_iter=3000).solve(problem, operator)
    polish(problem, LazyKernelMatrix(Gaussian(0.5), X), solution)
    return solution


def solve_by_refinement(problem, K, X):
    start = Solution.empty(np.zeros((problem.n, problem.k)))
    if np.any(problem.equality_rhs):
        start.Z[:] = problem.equality_rhs * problem.upper / problem.upper.sum(axis=0)
        start.F = K @ start.Z
    return WorkingSet(1e-7, memory=8 * 64**2).solve(
        problem, LazyKernelMatrix(Gaussian(0.5), X), start
    )


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.5])
def test_polishing_a_solution_leaves_it_where_it_is(epsilon, rng):
    X = rng.uniform(-3, 3, (300, 2))
    y = (np.sin(2 * X[:, 0]) + X[:, 1] + 0.2 * rng.standard_normal(300))[:, None]
    problem = SVRProblem(y, np.full((300, 1), 5.0), np.array([epsilon]))
    operator = DenseOperator(Gaussian(0.5).block(X))
    solution = ADMM(tol=1e-9, max_iter=5000).solve(problem, operator)
    point = solution.Z, solution.F, float(solution.intercept[0])
    K = LazyKernelMatrix(Gaussian(0.5), X)
    Z, F = active_set_step(problem, K, initial_beta(problem, 1.0), *point)
    assert problem.evaluate(Z, F).gap[0] <= 1e-6
    size = np.abs(solution.F).max()
    assert_allclose(F, solution.F, atol=1e-3 * size)


@pytest.mark.parametrize("solve", [solve_by_admm, solve_by_refinement])
@settings(max_examples=15)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(5, 60),
    log_C=st.floats(-1, 2),
    epsilon=st.sampled_from([0.0, 0.1, 0.5]),
)
def test_regression_agrees_with_another_solver(solve, seed, n, log_C, epsilon):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, (n, 2))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.2 * rng.standard_normal(n)
    K, C = Gaussian(0.5).block(X), 10**log_C
    problem = SVRProblem(y[:, None], np.full((n, 1), C), np.array([epsilon]))
    solution = solve(problem, K, X)
    exact = ExactSVR(C=C, epsilon=epsilon, gamma=0.5, tol=1e-9).fit(X, y)
    z = np.zeros(n)
    z[exact.support_] = exact.dual_coef_[0]
    best = y @ z - epsilon * np.abs(z).sum() - z @ K @ z / 2
    assert solution.gap[0] <= 1e-5
    assert solution.dual[0] >= best - 1e-5 * abs(best) - 1e-9
    assert solution.primal[0] >= best - 1e-5 * abs(best) - 1e-9


@pytest.mark.parametrize("solve", [solve_by_admm, solve_by_refinement])
@settings(max_examples=15)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(5, 60), nu=st.floats(0.05, 0.95))
def test_novelty_agrees_with_another_solver(solve, seed, n, nu):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    K = Gaussian(0.5).block(X)
    solution = solve(OneClassProblem(np.ones((n, 1)), np.array([nu])), K, X)
    exact = ExactOneClassSVM(nu=nu, gamma=0.5, tol=1e-9).fit(X)
    z = np.zeros(n)
    z[exact.support_] = exact.dual_coef_[0]
    best = -z @ K @ z / 2
    assert_allclose(solution.Z.sum(), nu * n, rtol=1e-9)
    assert solution.gap[0] <= 1e-5
    assert solution.dual[0] >= best - 1e-5 * abs(best)
