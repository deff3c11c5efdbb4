import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from reference import svc_gap

from hssvm.kernels import Gaussian, Laplacian, Linear, Polynomial
from hssvm.kernels.lazy import LazyKernelMatrix
from hssvm.problems import SVCProblem, SVRProblem
from hssvm.solvers import Solution, Status, WorkingSet, polish_rounded
from hssvm.solvers.lazy_product import LazyProduct
from hssvm.solvers.rounding import evaluate


def solve(problem, kernel, X, tol, **options):
    start = Solution.empty(np.zeros((problem.n, 1), np.float32))
    return WorkingSet(tol, **options).solve(problem, LazyKernelMatrix(kernel, X), start)


def gap_in_float64(problem, kernel, X, Z):
    return svc_gap(kernel.block(X.astype(float)), problem, Z.astype(float), 0)


def product_with_errors(rng, size, scale=1.0):
    """A problem, its solution times `scale`, and F with errors of known size."""
    X = rng.standard_normal((200, 2)).astype(np.float32)
    problem = SVCProblem(np.where(X[:, :1] > 0.3 * X[:, 1:] ** 2, 20, -20).astype(np.float32))
    kernel_matrix = LazyKernelMatrix(Gaussian(1.0), X)
    Z = np.float32(scale) * solve(problem, Gaussian(1.0), X, 1e-3).Z
    product = LazyProduct.at(kernel_matrix, Z, np.arange(200))
    product.seen[:] = product.Z
    product.F += size * rng.standard_normal(product.F.shape)
    product.variance[:] = size**2
    return problem, product


@given(seed=st.integers(0, 2**32 - 1))
def test_rounding_errors_do_not_blur_the_gap(seed):
    problem, product = product_with_errors(np.random.default_rng(seed), 1e-3)
    before = product.F.copy()
    values = evaluate(problem, product, 1e-4, np.array([True]))
    exact = gap_in_float64(problem, Gaussian(1.0), product.kernel_matrix.X, product.Z)
    assert_allclose(values.gap[0], exact, rtol=0.01, atol=1e-6)
    unchanged = before == product.F
    assert unchanged.any()  # F is not recomputed at rows that are held at a bound
    assert_array_equal(product.variance[:, 0] > 0, unchanged[:, 0])


def test_gaps_far_above_the_tolerance_are_recomputed_at_the_end_only(rng):
    problem, product = product_with_errors(rng, 4e-2, scale=0.5)
    before = product.F.copy()
    evaluate(problem, product, 1e-3, np.array([False]))
    assert_array_equal(product.F, before)
    evaluate(problem, product, 1e-3, np.array([True]))
    assert not np.array_equal(product.F, before)


def test_rounding_of_large_coefficients_ends_a_run_and_active_set_steps_in_float64_follow(rng):
    # nearly all rows are free; without this end there would be 20 times as many steps
    n_steps, before, after = [], [], []
    for _ in range(5):
        X = rng.standard_normal((400, 4)).astype(np.float32)
        y = (np.sin(X[:, :1]) + 0.3 * rng.standard_normal((400, 1))).astype(np.float32)
        problem = SVRProblem(y, np.full((400, 1), 1e4, np.float32), np.array([0.05]))
        solution = solve(problem, Laplacian(0.01), X, 1e-6)
        assert solution.status == [Status.PRECISION]
        n_steps.append(solution.n_iter[0])
        before.append(solution.gap[0])
        polish_rounded(problem, LazyKernelMatrix(Laplacian(0.01), X), solution, 1e-6, 1e9)
        after.append(solution.gap[0])
    assert np.median(n_steps) < 1e6
    assert np.less_equal(after, before).all()
    assert np.less(after, before).any()


CLUSTERS = 30 * np.random.default_rng(0).standard_normal((8, 2))


@pytest.mark.parametrize(
    ("kernel", "center"),
    [
        (Gaussian(1.0), CLUSTERS),  # far from their mean: distances lose digits
        (Gaussian(0.02), CLUSTERS / 30),
        (Linear(), CLUSTERS),
        (Polynomial(3, 1.0, 1.0), CLUSTERS / 30),
    ],
)
def test_reported_gaps_are_those_of_float64(kernel, center, rng):
    """Even where kernel values have errors far above the precision of float32."""
    X = center[rng.integers(8, size=600)] + 0.5 * rng.standard_normal((600, 2))
    label = (X[:, 0] - X[:, 1]) % 2 + 0.3 * rng.standard_normal(600) > 1
    X = X.astype(np.float32)
    problem = SVCProblem(np.where(label[:, None], 1000, -1000).astype(np.float32))
    for tol in (1e-2, 1e-4):
        solution = solve(problem, kernel, X, tol, max_work=1.0)
        exact = gap_in_float64(problem, kernel, X, solution.Z)
        assert abs(solution.gap[0] - exact) <= 0.2 * max(exact, tol)
