import numpy as np
import pytest
from helpers.rows import two_moons
from numpy.testing import assert_allclose

from hssvm.kernels import CallableKernel, Gaussian, Linear
from hssvm.kernels.lazy import LazyKernelMatrix
from hssvm.problems import OneClassProblem, SVCProblem, SVRProblem
from hssvm.progress import listening
from hssvm.solvers import Solution, Status, solve_interior


def solve(problem, kernel, X, tol, *arguments):
    solution = Solution.empty(np.zeros((problem.n, problem.k), problem.dtype))
    solve_interior(problem, LazyKernelMatrix(kernel, X), solution, tol, *arguments)
    return solution


def test_other_problems(rng):
    """Whose coefficients have an l1 term, or a sum other than 0."""
    X, _ = two_moons(rng, 150)
    y, one = np.sin(X[:, :1]), np.ones((150, 1))
    for epsilon in (0.05, 0.0):
        regression = SVRProblem(y, 10 * one, np.array([epsilon]))
        solution = solve(regression, Gaussian(1.0), X, 1e-6)
        assert solution.gap[0] <= 1e-6
        assert np.abs(solution.F + solution.intercept - y).max() < 0.1
    novelty = OneClassProblem(one, np.array([0.3]))
    solution = solve(novelty, Gaussian(1.0), X, 1e-6)
    assert solution.gap[0] <= 1e-6
    assert_allclose(solution.Z.sum(), 45)


def test_bad_scales(rng):
    """Most rows of a linear kernel with few features end exactly at their bounds."""
    X = rng.standard_normal((100, 2)) * [1e5, 1e3]
    y = np.where(X[:, :1] / 1e5 + X[:, 1:] / 1e3 + rng.standard_normal((100, 1)) > 0, 1.0, -1.0)
    problem = SVCProblem(y * [0.1, 10.0])
    solution = solve(problem, Linear(), X, 1e-5)
    assert (solution.gap <= 1e-5).all()
    assert (problem.free(solution.Z).sum(axis=0) < 33).all()
    assert (solution.n_iter < 60).all()


def test_float32(rng):
    X, y = two_moons(rng, 100)
    problem = SVCProblem(10 * y[:, None].astype(np.float32))
    solution = solve(problem, Gaussian(1.0), X.astype(np.float32), 1e-5)
    assert solution.gap[0] <= 1e-5
    assert solution.Z.dtype == np.float32


def test_stop_ends_it(rng):
    X, y = two_moons(rng, 100)
    problem = SVCProblem(y[:, None])
    seen = []
    with listening(seen.append):
        stopped = solve(problem, Gaussian(1.0), X, 1e-7, lambda: len(seen) == 3 and Status.MAX_TIME)
    assert [event.iteration for event in seen] == [0, 1, 2]
    assert stopped.status == [Status.MAX_TIME]
    assert stopped.n_iter[0] == 2


def test_a_function_that_is_not_a_kernel(rng):
    """Its matrix has negative eigenvalues, so that a factorization fails sooner or later."""
    X, y = two_moons(rng, 50)
    kernel = CallableKernel(lambda A, B: np.tanh(A @ B.T - 2))
    solution = solve(SVCProblem(100 * y[:, None]), kernel, X, 1e-7)
    assert solution.status == [Status.STALLED]
    assert np.isfinite(solution.gap[0])


@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_rows_without_a_cost(weight, rng):
    X, y = two_moons(rng, 50)
    bound = np.where(np.arange(50) < 25, weight, 0.0) * y
    solution = solve(SVCProblem(bound[:, None]), Gaussian(1.0), X, 1e-7)
    assert not solution.Z[25:].any()
    assert solution.gap[0] <= 1e-7
