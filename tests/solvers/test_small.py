import numpy as np
import pytest
import scipy.sparse
from helpers.rows import two_moons
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from reference import all_kernels, kernel_matrix, svc_dual, svc_gap

from hssvm import _core
from hssvm.kernels import CallableKernel, Gaussian, Laplacian, Linear
from hssvm.kernels.base import core_rows
from hssvm.kernels.lazy import LazyKernelMatrix
from hssvm.problems import OneClassProblem, SVCProblem, SVRProblem
from hssvm.solvers import Solution, Status, solve_interior, solve_small
from hssvm.solvers.small import small_solver


def solve(problem, kernel, X, start, *arguments):
    solution = Solution.empty(start)
    solve_small(problem, kernel, X, solution, *arguments)
    return solution


def solve_by_interior_points(problem, kernel, X, start, tol):
    solution = Solution.empty(start)
    solve_interior(problem, LazyKernelMatrix(kernel, X), solution, tol)
    return solution


@pytest.mark.parametrize("solve", [solve, solve_by_interior_points])
@settings(max_examples=40)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 40), log_C=st.floats(-2, 3))
def test_agrees_with_another_solver(solve, seed, n, log_C):
    rng = np.random.default_rng(seed)
    X, y = two_moons(rng, n)
    y[:2] = 1, -1
    bound = y * 10**log_C * rng.uniform(0.5, 2, n) * (rng.random(n) < 0.9)
    problem, K = SVCProblem(bound[:, None]), Gaussian(0.7).block(X)
    solution = solve(problem, Gaussian(0.7), X, np.zeros((n, 1)), 1e-7)
    z = svc_dual(K, bound)
    best = np.abs(z).sum() - z @ K @ z / 2
    assert solution.gap[0] <= 1e-7 and solution.status == [Status.CONVERGED]
    assert solution.dual[0] >= best - 1e-6 * abs(best)
    assert_allclose(solution.F, K @ solution.Z, atol=1e-10 * (1 + np.abs(bound).sum()))
    assert abs(solution.Z.sum()) <= 1e-12 * np.abs(bound).sum()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", all_kernels(0.5))
def test_every_kernel(kernel, dtype, rng):
    X, y = two_moons(rng, 200)
    X = (X + 3).astype(dtype)
    problem = SVCProblem(y[:, None].astype(dtype))
    rows = scipy.sparse.csr_array(X) if not isinstance(kernel, CallableKernel) else X
    K = kernel_matrix(kernel, X.astype(float))
    for given_rows in (X, rows):
        solution = solve(problem, kernel, given_rows, np.zeros((200, 1), dtype), 1e-4)
        assert solution.gap[0] <= 1e-4
        assert svc_gap(K, problem, solution.Z, 0) < 3e-4


def test_other_problems(rng):
    """Whose coefficients have an l1 term, or a sum other than 0."""
    X, _ = two_moons(rng, 150)
    y, one = np.sin(X[:, :1]), np.ones((150, 1))
    regression = SVRProblem(y, 10 * one, np.array([0.05]))
    solution = solve(regression, Gaussian(1.0), X, 0 * one, 1e-6)
    assert solution.gap[0] <= 1e-6
    assert np.abs(solution.F + solution.intercept - y).max() < 0.1
    novelty = OneClassProblem(one, np.array([0.3]))
    start = np.where(np.arange(150) < 45, 1.0, 0.0)[:, None]
    solution = solve(novelty, Gaussian(1.0), X, start, 1e-6)
    assert solution.gap[0] <= 1e-6
    assert_allclose(solution.Z.sum(), 45)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("power", [-40, -10, 10, 40])
def test_the_unit_of_the_targets_does_not_matter(dtype, power, rng):
    """Powers of 2 change no digit."""
    X = rng.standard_normal((300, 3)).astype(dtype)
    y = np.sin(X.sum(axis=1, keepdims=True)).astype(dtype)
    found = []
    for unit in (1, 2.0**power):
        bound, epsilon = np.full((300, 1), 10 * unit, dtype), np.array([0.1 * unit])
        problem = SVRProblem(y * dtype(unit), bound, epsilon)
        found.append(solve(problem, Gaussian(1.0), X, np.zeros((300, 1), dtype), 1e-3))
    assert found[0].n_iter == found[1].n_iter
    assert_allclose(found[1].Z, found[0].Z * unit, rtol=1e-6)


def test_a_start_is_used(rng):
    X, y = two_moons(rng, 300)
    problem = SVCProblem(10 * y[:, None])
    first = solve(problem, Gaussian(0.7), X, np.zeros((300, 1)), 1e-8)
    arguments = [np.sign(y), *(np.ascontiguousarray(b[:, 0]) for b in problem.box(np.arange(300)))]
    z, F = first.Z[:, 0].copy(), np.zeros(300)
    steps, gap = small_solver(Gaussian(0.7), X)(*arguments, 0.0, z, F, 1e-7, 1000)
    assert steps == 0 and gap <= 1e-7


def test_stops_when_asked(rng, monkeypatch):
    monkeypatch.setattr("hssvm.solvers.small.CALL_WORK", 1e-6)
    X, y = two_moons(rng, 300)
    problem, start = SVCProblem(1e3 * y[:, None]), np.zeros((300, 1))
    for stop, work, status in (
        (lambda: Status.MAX_TIME, np.inf, Status.MAX_TIME),
        (lambda: True, np.inf, Status.STOPPED),
        (None, 1e-6, Status.MAX_WORK),
    ):
        solution = solve(problem, Gaussian(0.7), X, start, 1e-6, work, stop)
        assert solution.status == [status]
        assert 1e-6 < solution.gap[0] < np.inf
    patient = solve(problem, Gaussian(0.7), X, start, 1e-3)
    assert patient.status == [Status.CONVERGED] and patient.n_rounds[0] > 1


def test_precision_limits_the_gap(rng):
    X = rng.standard_normal((200, 2)).astype(np.float32)
    y = np.where(X[:, :1] + rng.standard_normal((200, 1)) > 0, 1, -1)
    problem = SVCProblem((1e4 * y).astype(np.float32))
    solution = solve(problem, Linear(), X, np.zeros((200, 1), np.float32), -1.0)
    assert solution.status == [Status.PRECISION]


@pytest.mark.parametrize(("n", "C", "gamma"), [(60, 1e4, 0.1), (100, 1e3, 1.0), (150, 1e3, 0.1)])
def test_float32_with_a_large_C(n, C, gamma, rng):
    """The rounding errors of many steps must not add up."""
    X = rng.standard_normal((n, 3)).astype(np.float32)
    y = np.where(X[:, 0] + rng.standard_normal(n) > 0, C, -C).astype(np.float32)
    problem, start = SVCProblem(y[:, None]), np.zeros((n, 1), np.float32)
    solution = solve(problem, Gaussian(gamma), X, start, 1e-3)
    assert solution.gap[0] <= 0.1  # the worst of 1,500 was 0.06
    exact = svc_gap(Gaussian(gamma).block(X.astype(float)), problem, solution.Z, 0)
    assert exact <= 1.2 * solution.gap[0] + 1e-2


def test_shapes_are_checked(rng):
    X, y = two_moons(rng, 20)
    good = [y, np.minimum(y, 0), np.maximum(y, 0), 0.0, np.zeros(20), np.zeros(20), 1e-3, 100]
    for wrong in (0, 1, 2, 4, 5):
        bad = [part[:-1] if place == wrong else part for place, part in enumerate(good)]
        with pytest.raises(ValueError, match="shapes do not match"):
            small_solver(Gaussian(1.0), X)(*bad)
        with pytest.raises(ValueError, match="shapes do not match"):
            _core.solve_small(np.eye(20), *bad)
    with pytest.raises(ValueError, match="square"):
        _core.solve_small(np.ones((20, 19)), *good)
    with pytest.raises(TypeError, match="differ in dtype"):
        small_solver(Gaussian(1.0), X.astype(np.float32))(*good)
    with pytest.raises(TypeError, match="dense"):
        _core.SmallKernelMatrix(Gaussian(1.0).core, core_rows(scipy.sparse.csr_array(X)))


@pytest.mark.parametrize("kernel", [Gaussian(0.7), Laplacian(0.5), Linear()], ids=str)
def test_kernel_values_are_kept_for_other_problems(kernel, rng):
    X, y = two_moons(rng, 200)
    shared = small_solver(kernel, X.copy())
    for C in rng.permutation([0.1, 1.0, 30.0]):
        found = []
        for solver in (shared, small_solver(kernel, X)):
            box = C * np.minimum(y, 0), C * np.maximum(y, 0)
            z, F = np.zeros(200), np.zeros(200)
            found.append((solver(y, *box, 0.0, z, F, 1e-6, 100_000), z, F))
        (ours, *of_shared), (theirs, *of_new) = found
        assert ours == theirs
        assert_array_equal(of_shared, of_new)
        assert_allclose(F, kernel.block(X) @ z, atol=1e-9 * C)
