"""Problems that the core solves side by side: as one at a time, and optimal."""

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal

from hssvm import _core
from hssvm._threads import openmp_threads
from hssvm.kernels import Gaussian, Polynomial, Tanimoto
from hssvm.kernels.base import core_rows
from hssvm.problems import CellProblems, OneClassProblem, SVCProblem, SVRProblem

TOL = 1e-3


def classes(rng, n, dtype):
    cost = rng.uniform(0, 3, (n, 2)) * (rng.random((n, 2)) < 0.9)  # some rows are excluded
    return SVCProblem((np.where(rng.random((n, 2)) < 0.3, 1, -1) * cost).astype(dtype))


def regression(rng, n, dtype):
    y, cost = rng.standard_normal((n, 2)), rng.uniform(0, 3, (n, 2))
    return SVRProblem(y.astype(dtype), cost.astype(dtype), np.array([0.0, 0.3]))


def cells_of(rng, n, problem):
    cuts = np.sort(rng.integers(0, n + 1, 3))  # cells may be empty, or have one row
    return CellProblems(problem, rng.permutation(n), np.array([0, *cuts, n]))


def solve(cells, K, tol=TOL, max_steps=10**6, start=None):
    batch = cells.batch(np.arange(cells.n_parts))
    z = np.zeros_like(batch.linear) if start is None else start.copy()
    F = np.empty_like(z)
    primal, dual, intercept = np.empty((3, cells.n_parts, cells.k))
    steps = np.empty(primal.shape, np.int64)
    most = np.full(cells.n_parts, max_steps)
    _core.solve_parts(
        *K, batch.offsets, batch.places.rows, batch.lower, batch.upper, batch.linear,
        batch.l1_weight, np.full(cells.k, tol), most, z, F, primal, dual, intercept, steps,
    )  # fmt: skip
    return z, F, primal, dual, intercept, steps


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("make", [classes, regression])
def test_every_cell_is_solved(make, dtype, rng):
    n, kernel = 300, Gaussian(0.5)
    X = rng.standard_normal((n, 3)).astype(dtype)
    cells = cells_of(rng, n, make(rng, n, dtype))
    z, F, primal, dual, intercept, _ = solve(cells, (kernel.core, core_rows(X)))
    digits = 1e-4 if dtype == np.float32 else 1e-9
    for index, cell in enumerate(cells.parts()):
        own = slice(*cells.offsets[index : index + 2])
        K = kernel.block(cell.take(X).astype(np.float64))
        lower, upper = cell.problem.box(np.arange(cell.problem.n))
        assert ((lower <= z[own]) & (z[own] <= upper)).all()
        assert_allclose(z[own].sum(axis=0), 0, atol=100 * digits)
        assert_allclose(F[own], K @ z[own], atol=100 * digits)
        values = cell.problem.evaluate(z[own], K @ z[own])
        size = 1e-12 + np.abs(values.primal)
        assert_allclose(primal[index], values.primal, atol=100 * digits * max(1, size.max()))
        assert_allclose(dual[index], values.dual, atol=100 * digits * max(1, size.max()))
        assert (primal[index] - dual[index] <= 1.01 * TOL * size + 1e-6).all()
        rows = np.arange(cell.problem.n)
        losses, least = (
            cell.problem.losses(rows, K @ z[own], b).sum(axis=0)
            for b in (intercept[index], values.intercept)
        )
        assert_allclose(losses, least, atol=100 * digits * max(1, size.max()))


def test_the_sum_of_coefficients_stays(rng):
    n, kernel = 200, Gaussian(0.5)
    X = rng.standard_normal((n, 2))
    problem = OneClassProblem(np.ones((n, 1)), np.array([0.3]))
    cells = CellProblems(problem, np.arange(n), np.array([0, 80, n]))
    start = np.full((n, 1), 0.3)
    z, _, primal, dual, _, _ = solve(cells, (kernel.core, core_rows(X)), start=start)
    for index, cell in enumerate(cells.parts()):
        own = slice(*cells.offsets[index : index + 2])
        assert_allclose(z[own].sum(), cell.problem.equality_rhs[0])
        values = cell.problem.evaluate(z[own], kernel.block(cell.take(X)) @ z[own])
        assert_allclose([primal[index], dual[index]], [values.primal, values.dual], atol=1e-9)
        assert values.gap[0] <= TOL


@pytest.mark.parametrize("kernel", [Gaussian(0.5), Polynomial(0.5, 1.0, 2), Tanimoto()])
def test_sparse_rows_give_the_same_solution(kernel, rng):
    n = 200
    X = scipy.sparse.random_array((n, 30), density=0.2, format="csr", rng=rng)
    cells = cells_of(rng, n, classes(rng, n, np.float64))
    dense = solve(cells, (kernel.core, core_rows(X.toarray())), tol=1e-9)
    sparse = solve(cells, (kernel.matrix(X),), tol=1e-9)
    assert_allclose(dense[2], sparse[2], rtol=1e-7)
    assert_allclose(dense[1], sparse[1], atol=1e-3)


def test_threads_and_columns_change_nothing(rng):
    n, kernel = 400, Gaussian(0.5)
    X = rng.standard_normal((n, 3))
    problem = classes(rng, n, np.float64)
    cells = cells_of(rng, n, problem)
    with openmp_threads(1):
        expected = solve(cells, (kernel.core, core_rows(X)))
    with openmp_threads(3):
        for ours, theirs in zip(expected, solve(cells, (kernel.core, core_rows(X))), strict=True):
            assert_array_equal(ours, theirs)
    first = CellProblems(problem.columns(np.array([0])), cells.order, cells.offsets)
    assert_array_equal(solve(first, (kernel.core, core_rows(X)))[0][:, 0], expected[0][:, 0])


def test_a_cell_of_one_class_is_a_constant(rng):
    problem = SVCProblem(np.repeat([[1.0], [-2.0]], 50, axis=0))
    cells = CellProblems(problem, np.arange(100), np.array([0, 50, 100]))
    X = rng.standard_normal((100, 2))
    z, _, primal, _, intercept, _ = solve(cells, (Gaussian(1.0).core, core_rows(X)))
    assert_array_equal(intercept[:, 0], [1, -1])
    assert not z.any() and not primal.any()


def test_shapes_are_checked(rng):
    cells = cells_of(rng, 30, classes(rng, 30, np.float64))
    for X in (rng.standard_normal((20, 2)), rng.standard_normal((30, 2)).astype(np.float32)):
        with pytest.raises((ValueError, TypeError)):
            solve(cells, (Gaussian(1.0).core, core_rows(X)))
