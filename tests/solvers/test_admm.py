from importlib import import_module

import numpy as np
import pytest
from helpers.rows import two_moons
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from reference import paper_admm, svc_dual, svc_gap

from hssvm.hss import ClusterTree, compress
from hssvm.kernels import Gaussian, Linear
from hssvm.kernels.lazy import LazyKernelMatrix
from hssvm.operators import DenseOperator, HSSOperator
from hssvm.problems import SVCProblem, SVRProblem
from hssvm.progress import Gap, listening
from hssvm.solvers import ADMM, FixedIterationADMM, Solution, Status, paper_beta, polish
from hssvm.solvers.admm import SHARED_ITERATIONS


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(4, 40), log_C=st.floats(-2, 2))
def test_agrees_with_another_solver(seed, n, log_C):
    rng = np.random.default_rng(seed)
    X, y = two_moons(rng, n)
    y[:2] = 1, -1
    bound = y * 10**log_C * rng.uniform(0.5, 2, n)
    K = Gaussian(0.7).block(X)
    problem = SVCProblem(bound[:, None])
    solution = ADMM(tol=1e-7, max_iter=5000).solve(problem, DenseOperator(K))
    z = svc_dual(K, bound)
    best = np.abs(z).sum() - z @ K @ z / 2
    assert solution.dual[0] >= best - 1e-6 * abs(best)
    assert solution.primal[0] >= best - 1e-6 * abs(best)
    assert solution.gap[0] <= 1e-7


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gap_is_that_of_the_dense_compressed_matrix(dtype, rng):
    X, y = two_moons(rng, 700)
    H = compress(Gaussian(2.0), X.astype(dtype), ClusterTree.build(X, 50), max_rank=10)
    problem = SVCProblem((y[:, None] * [0.1, 1.0, 30.0]).astype(dtype))
    solution = ADMM(tol=1e-3).solve(problem, HSSOperator(H))
    K = H.to_dense().astype(float)
    assert_allclose(solution.F, K @ solution.Z, atol=1e-2 if dtype == np.float32 else 1e-8)
    for j in range(3):
        assert solution.gap[j] <= 1e-3
        error = 1e-4 if dtype == np.float32 else 1e-9
        assert_allclose(solution.gap[j], svc_gap(K, problem, solution.Z, j), atol=error)
    assert solution.status == [Status.CONVERGED] * 3
    size = np.abs(solution.Z).sum(axis=0, dtype=float)
    assert np.all(np.abs(solution.Z.sum(axis=0, dtype=float)) <= 1e-5 * size)


def test_columns_do_not_depend_on_each_other(rng):
    """Labels, C, weights, and rows that are left out: a block gives what each gives alone."""
    X, y = two_moons(rng, 300)
    operator = DenseOperator(Gaussian(1.0).block(X))
    bound = np.stack([y * 0.3, y * 20, -y * rng.random(300), y * (rng.random(300) < 0.5)], axis=1)
    block = ADMM(tol=1e-6).solve(SVCProblem(bound), operator)
    for j in range(4):
        alone = ADMM(tol=1e-6).solve(SVCProblem(bound[:, [j]]), operator)
        assert_allclose(block.primal[j], alone.primal[0], rtol=1e-5)
        distance = block.Z[:, j] - alone.Z[:, 0]  # twice the gaps bound it
        assert distance @ operator.K @ distance <= 4 * 2e-6 * alone.primal[0]
        assert block.status[j] == alone.status[0] == Status.CONVERGED
    assert np.all(block.Z[bound[:, 3] == 0, 3] == 0)


def test_columns_have_their_own_tolerance(rng):
    X, y = two_moons(rng, 300)
    problem = SVCProblem(np.column_stack([y, y]))
    solution = ADMM(np.array([1e-6, 1e-1])).solve(problem, DenseOperator(Gaussian(2.0).block(X)))
    assert solution.gap[0] <= 1e-6 < solution.gap[1] <= 1e-1
    assert solution.n_iter[1] < solution.n_iter[0]
    assert solution.status == [Status.CONVERGED] * 2


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_converges_for_every_C(C, rng):
    X, y = two_moons(rng, 1500)
    H = compress(Gaussian(1.0), X, ClusterTree.build(X, 100), max_rank=20)
    problem = SVCProblem(C * y[:, None])
    solution = ADMM(tol=1e-6).solve(problem, HSSOperator(H))
    assert solution.status == [Status.CONVERGED]
    assert solution.n_iter[0] <= 600


def test_the_paper_letter_by_letter(rng):
    X, y = two_moons(rng, 60)
    K = Gaussian(0.5).block(X)
    C, beta = 1.5, 3.0
    problem = SVCProblem(C * y[:, None])
    for max_iter in (1, 2, 10):
        solution = FixedIterationADMM(max_iter, beta).solve(problem, DenseOperator(K))
        # all but the constraint in the last z-step, which moves every free z by the same amount
        z = (y * paper_admm(K, y, C, beta, max_iter))[:, None]
        free = (problem.free(z) & problem.free(solution.Z))[:, 0]
        assert free.sum() > 5
        assert_allclose(np.ptp((z - solution.Z)[free]), 0, atol=1e-10)
        assert solution.status == [Status.FIXED]
        assert solution.n_iter[0] == max_iter
    assert [paper_beta(n) for n in (10**4, 10**5, 10**6)] == [1e2, 1e3, 1e4]


def test_start_at_the_solution(rng):
    X, y = two_moons(rng, 400)
    operator = DenseOperator(Gaussian(1.0).block(X))
    problem = SVCProblem(y[:, None])
    cold = ADMM(tol=1e-5).solve(problem, operator)
    warm = ADMM(tol=1e-5).solve(problem, operator, cold.Z)
    assert warm.n_iter[0] < cold.n_iter[0]
    assert warm.gap[0] <= 1e-5


def test_says_why_it_stopped(rng):
    X, y = two_moons(rng, 300)
    problem, K = SVCProblem(50 * y[:, None]), Gaussian(5.0).block(X)
    short = ADMM(tol=1e-8, max_iter=5).solve(problem, DenseOperator(K))
    assert short.status == [Status.MAX_ITER]
    assert "raise max_iter" in short.status[0].value
    solver = ADMM(tol=-1.0, max_iter=50_000, beta=1.0)
    bound = problem.bound.astype(np.float32)
    rounded = solver.solve(SVCProblem(bound), DenseOperator(K.astype(np.float32)))
    assert rounded.status == [Status.PRECISION]
    assert "float64" in rounded.status[0].value
    exact = solver.solve(problem, DenseOperator(K))
    assert exact.status == [Status.STALLED]
    assert "float64" not in exact.status[0].value


def test_stop_ends_the_run(rng):
    X, y = two_moons(rng, 200)
    seen = []
    solver = ADMM(tol=0.0, stop=lambda: len(seen) == 2)
    with listening(seen.append):
        solution = solver.solve(SVCProblem(y[:, None]), DenseOperator(Gaussian(1.0).block(X)))
    assert [event.iteration for event in seen] == [10, 20]
    assert seen[-1] == Gap(20, solution.history[-1][1][0])
    assert solution.n_iter[0] == 20


@pytest.mark.parametrize("answer", [True, Status.MAX_TIME])
def test_an_early_end_is_the_status_of_open_columns_alone(answer, rng):
    """Also of those whose turn to be finished one by one never came."""
    X, y = two_moons(rng, 300)
    problem = SVCProblem(y[:, None] * [1e-6, 1e4, 1e5, 1e6])
    operator = DenseOperator(Gaussian(1.0).block(X))
    seen = []
    solver = ADMM(tol=1e-4, stop=lambda: answer if seen[-1] > SHARED_ITERATIONS else None)
    with listening(lambda event: seen.append(event.iteration)):
        solution = solver.solve(problem, operator)
    expected = Status.STOPPED if answer is True else answer
    assert solution.status == [Status.CONVERGED] + [expected] * 3


def test_problem_and_system_must_fit(rng):
    operator = DenseOperator(np.eye(3))
    with pytest.raises(ValueError, match="the problem has 2 rows, but the operator has 3"):
        ADMM().solve(SVCProblem(np.array([[1.0], [-1.0]])), operator)
    with pytest.raises(ValueError, match="float32"):
        ADMM().solve(SVCProblem(np.ones((3, 1), np.float32)), operator)


def test_polish_is_exact_if_the_bounds_are_known(rng):
    """The targets are chosen so that Z is the solution, with a third of it free."""
    X, _ = two_moons(rng, 300)
    K, kind = Gaussian(5.0).block(X), rng.permutation(300) % 3
    Z = rng.choice([-1.0, 1.0], 300) * np.choose(kind, [0.0, rng.uniform(0.2, 0.8, 300), 1.0])
    free = np.flatnonzero(kind == 1)
    Z[free[0]] -= Z.sum()
    bound = np.maximum(1.0, 2 * np.abs(Z))
    bound[kind == 2] = 1.0
    off = np.choose(kind, [rng.uniform(-0.08, 0.08, 300), 0.1 * np.sign(Z), 0.3 * np.sign(Z)])
    problem = SVRProblem((K @ Z + 0.7 + off)[:, None], bound[:, None], np.array([0.1]))
    noise = 1e-4 * rng.standard_normal(free.size)
    near = Z.copy()
    near[free] += noise - noise.mean()
    solution = Solution.at(problem, near[:, None], (K @ near)[:, None])
    assert solution.gap[0] > 1e-9
    polish(problem, LazyKernelMatrix(Gaussian(5.0), X), solution)
    assert solution.gap[0] <= 1e-11
    assert_allclose(solution.F[:, 0], K @ Z, atol=1e-6)
    assert_allclose(solution.intercept, 0.7, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("max_iter", [3, 5000])
def test_polish_is_harmless(dtype, max_iter, rng):
    X, y = two_moons(rng, 500)
    X, y = X.astype(dtype), y.astype(dtype)
    K = LazyKernelMatrix(Gaussian(1.0), X)
    dense = Gaussian(1.0).block(X.astype(np.float64))
    problem = SVCProblem(y[:, None] * np.array([0.5, 5.0], dtype))
    solver = ADMM(tol=1e-8 if dtype == np.float64 else 1e-4, max_iter=max_iter)
    solution = solver.solve(problem, DenseOperator(Gaussian(1.0).block(X)))
    before = solution.gap.copy()
    polish(problem, K, solution)
    assert np.all(solution.gap <= before)
    error = 1e-10 if dtype == np.float64 else 1e-4
    assert_allclose(solution.F, dense @ solution.Z, atol=error)
    for j in range(2):
        assert_allclose(solution.gap[j], svc_gap(dense, problem, solution.Z, j), atol=error)


def test_polish_stops_when_only_rounding_errors_are_left(rng, monkeypatch):
    """A gap of -1e-16 looks like an improvement of one of -0.5e-16, again and again."""
    X, y = two_moons(rng, 200)
    K = LazyKernelMatrix(Gaussian(1.0), X)
    problem = SVCProblem(5.0 * y[:, None])
    solution = ADMM(tol=1e-8, max_iter=5000).solve(problem, DenseOperator(Gaussian(1.0).block(X)))
    polish(problem, K, solution)
    module = import_module("hssvm.solvers.polish")
    steps = []

    def step(problem, kernel_matrix, scale, Z, F, intercept):
        steps.append(solution.gap[0])
        solution.gap[0] = -1e-16
        return Z, F

    monkeypatch.setattr(module, "active_set_step", step)
    polish(problem, K, solution)
    assert len(steps) == 1


def test_polish_survives_a_singular_matrix(rng):
    X, y = np.ones((300, 1), np.float32), np.where(rng.random(300) < 0.5, 1, -1)
    problem = SVCProblem(y[:, None].astype(np.float32))
    K = LazyKernelMatrix(Linear(), 1e3 * X)
    solution = ADMM(max_iter=20).solve(problem, DenseOperator(K.block(*[np.arange(300)] * 2)))
    gap = solution.gap.copy()
    polish(problem, K, solution)
    assert np.all(solution.gap <= gap)
