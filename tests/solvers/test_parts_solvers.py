"""Solvers on parts take the steps of solvers on all rows."""

import pickle
from functools import partial

import numpy as np
import pytest
import scipy.sparse
from helpers.parts_in_threads import Parts, sums_in_threads
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from hssvm import _core
from hssvm._threads import openmp_threads
from hssvm.comm import SERIAL
from hssvm.dask.messages import CommunicationError
from hssvm.hss import NestedNystroem
from hssvm.kernels import Gaussian
from hssvm.kernels.lazy import LazyKernelMatrix
from hssvm.kernels.part import PartKernelMatrix, exact_kernel_matrix
from hssvm.operators import HSSOperator
from hssvm.problems import HuberProblem, OneClassProblem, SVCProblem, SVRProblem
from hssvm.problems.weighted_quantiles import SORTED_POINTS, weighted_quantiles
from hssvm.solvers import ADMM, FixedIterationADMM, Solution, WorkingSet, initial_beta
from hssvm.solvers.equality import nearest_feasible


def classes(rng, n, k, dtype=np.float64):
    bound = np.where(rng.random((n, k)) < 0.4, 1.0, -1.0) * 10.0 ** rng.uniform(-1, 1, k)
    bound = bound.astype(dtype)
    return lambda rows, parts: SVCProblem(bound[rows], parts)


def values(rng, n, k, dtype=np.float64):
    y, bound = rng.standard_normal((n, k)) * 3, rng.uniform(0.1, 2, (n, k))
    y, bound = y.astype(dtype), bound.astype(dtype)
    return lambda rows, parts: SVRProblem(y[rows], bound[rows], np.full(k, 0.2), parts)


def smooth(rng, n, k, dtype=np.float64):
    y, cost = rng.standard_normal((n, k)) * 3, rng.uniform(0.1, 2, (n, 1))
    y, cost = y.astype(dtype), np.repeat(cost, k, axis=1).astype(dtype)
    return lambda rows, parts: HuberProblem(y[rows], cost[rows], np.full(k, 2.0), parts)


def novelty(rng, n, k, dtype=np.float64):
    bound, nu = rng.uniform(0.5, 1.5, (n, k)).astype(dtype), rng.uniform(0.1, 0.7, k)
    return lambda rows, parts: OneClassProblem(bound[rows], nu, parts)


@pytest.mark.parametrize("make", [classes, values, smooth, novelty])
@pytest.mark.parametrize("n_parts", [2, 4])
@pytest.mark.parametrize("solver", [ADMM(tol=1e-8, max_iter=150), FixedIterationADMM(12)])
def test_same_solution_as_on_all_rows(make, n_parts, solver, rng):
    n, k = 1500, 2
    X = rng.standard_normal((n, 3))
    parts = Parts(Gaussian(0.3), X, n_parts, NestedNystroem(max_rank=25), 64, rng.integers(2**31))
    problem = make(rng, n, k)
    beta = initial_beta(problem(slice(None), SERIAL), 1.0)
    expected = solver.solve(problem(slice(None), SERIAL), HSSOperator(parts.joined()))

    def work(operator, rows):
        own = problem(rows, operator.communicator)
        assert initial_beta(own, 1.0) == pytest.approx(beta)
        return solver.solve(own, operator)

    for rows, solution in zip(parts.rows, parts.together(work), strict=True):
        assert [s.name for s in solution.status] == [s.name for s in expected.status]
        assert_allclose(solution.n_iter, expected.n_iter)
        assert_allclose(solution.primal, expected.primal, rtol=1e-6)
        assert_allclose(solution.intercept, expected.intercept, atol=1e-6)
        assert_allclose(solution.F, expected.F[rows], atol=1e-6)


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 4 * SORTED_POINTS),
    n_parts=st.integers(1, 4),
    n_values=st.sampled_from([1, 2, 50, 10**6]),
)
def test_quantiles_of_parts(seed, n, n_parts, n_values):
    rng = np.random.default_rng(seed)
    points = [rng.integers(0, n_values, n) / 7, rng.standard_normal(n)]
    weights = [rng.integers(0, 3, n).astype(float), np.ones(n)]
    mass = np.array([rng.uniform(-0.1, 1.1) * weights[0].sum(), n // 2])
    owner = rng.integers(0, n_parts, n)

    def work(communicator):
        own = owner == communicator.rank
        return weighted_quantiles(
            [p[own] for p in points], [w[own] for w in weights], mass, communicator
        )

    expected = weighted_quantiles(points, weights, mass)
    for found in sums_in_threads(n_parts, work, fan_in=2):
        assert_allclose(found, expected, rtol=1e-12)
    for b, p, w, m in zip(expected, points, weights, mass, strict=True):
        taken = p[w > 0]
        if taken.size == 0:
            assert b == 0
            continue
        # the slope of the function that it minimizes, left and right of b
        assert w[p < b].sum() - m <= 1e-9 * n or b == taken.min()
        assert w[p <= b].sum() - m >= -1e-9 * n or b == taken.max()


@pytest.mark.parametrize("fan_in", [2, 32])
def test_sums_travel_with_the_next_message(fan_in):
    def work(communicator):
        rank = np.array([communicator.rank])
        later = communicator.allreduce_async(np.array([1.0, communicator.rank]))
        largest = communicator.allreduce(rank, "max")
        before = communicator.n_rounds
        total = later()
        return largest[0], total, communicator.n_rounds - before, communicator.allgather([rank])

    for largest, total, n_rounds, (everybody,) in sums_in_threads(3, work, fan_in):
        assert (largest, n_rounds) == (2, 0)
        assert_allclose(total, [3, 3])
        assert_allclose(everybody, [0, 1, 2])


@pytest.mark.parametrize(
    ("n_cores", "expected"), [(8, [5, 5, 5, 4]), (4, [4, 4, 4, 4]), (1, [2, 2, 3, 4])]
)
def test_work_of_one_part_may_use_the_threads_of_its_host(n_cores, expected, monkeypatch):
    monkeypatch.setattr("hssvm.dask.communicator.CPU_COUNT", n_cores)
    workers = [("a:1", 2), ("a:1", 2), ("a:2", 3), ("b:1", 4)]

    def work(communicator):
        address, n_threads = workers[communicator.rank]
        communicator.share_threads(f"tcp://{address}", n_threads)
        with openmp_threads(1), communicator.while_others_wait():
            return _core.thread_count()

    assert sums_in_threads(4, work) == expected


@pytest.mark.parametrize("fan_in", [2, 32])
def test_an_error_of_one_part_ends_all(fan_in):
    def work(communicator):
        if communicator.rank == 1:
            raise ValueError("no")
        communicator.allreduce(np.ones(1))

    with pytest.raises(CommunicationError, match="no"):
        sums_in_threads(4, work, fan_in)


@pytest.mark.parametrize("make", [classes, values, smooth, novelty])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n_parts", "memory", "start"), [(2, 2e9, 0.0), (4, 1e5, 0.7)])
def test_same_exact_solution_as_on_all_rows(make, n_parts, memory, start, dtype, rng):
    n, k = 700, 2
    kernel, X = Gaussian(0.3), rng.standard_normal((n, 3)).astype(dtype)
    problem, owner = make(rng, n, k, dtype), rng.integers(0, n_parts, n)
    tol = 1e-3 if dtype == np.float32 else 1e-5
    solver = WorkingSet(tol, memory)
    joined = problem(slice(None), SERIAL)
    Z = start * rng.uniform(joined.lower, joined.upper).astype(dtype)
    Z = nearest_feasible(joined, Z, np.ones(n, dtype))
    expected = solver.solve(joined, LazyKernelMatrix(kernel, X), Solution.empty(Z))
    assert [s.name for s in expected.status] == ["CONVERGED"] * k

    def work(communicator):
        rows = np.flatnonzero(owner == communicator.rank)
        K = PartKernelMatrix(kernel, X[rows], communicator)
        solution = solver.solve(problem(rows, communicator), K, Solution.empty(Z[rows]))
        return rows, solution

    exact, found, atol = (
        kernel.block(X.astype(float)),
        np.empty((n, k)),
        10 * np.finfo(dtype).eps ** 0.5,
    )
    results = sums_in_threads(n_parts, work)
    for rows, solution in results:
        found[rows] = solution.Z
    for rows, solution in results:
        assert [s.name for s in solution.status] == ["CONVERGED"] * k
        assert (solution.gap <= tol).all()
        assert_allclose(solution.dual, expected.dual, rtol=2 * tol)
        assert_allclose(solution.primal, expected.primal, rtol=2 * tol)
        assert_allclose(solution.F, (exact @ found)[rows], atol=atol)
    assert_allclose(found.sum(axis=0), joined.equality_rhs, atol=1e-3)


@pytest.mark.parametrize("make", [classes, values, smooth])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    ("n_parts", "memory"),
    [(1, 1e9), (3, 1e9), (2, 2e5)],  # with the last one, rows are evicted
)
def test_a_resumed_run_has_the_same_bits(n_parts, memory, sparse, make, rng):
    n, k = 600, 2
    X = rng.standard_normal((n, 3)).astype(np.float32)
    X = scipy.sparse.csr_array(X * (np.abs(X) > 0.5)) if sparse else X
    problem, owner = make(rng, n, k, np.float32), rng.integers(0, n_parts, n)
    saved = [{} for _ in range(n_parts)]

    def work(communicator, number=None):
        rank = communicator.rank
        rows = np.flatnonzero(owner == rank)
        state = None if number is None else pickle.loads(saved[rank][number])
        start = (
            Solution.empty(np.zeros((rows.size, k), np.float32)) if number is None else state.start
        )
        solver = WorkingSet(
            1e-4,
            memory,
            checkpoint=lambda number, state: saved[rank].setdefault(number, pickle.dumps(state)),
        )
        K = exact_kernel_matrix(Gaussian(0.3), X[rows], communicator)
        return solver.solve(problem(rows, communicator), K, start, state=state)

    expected = sums_in_threads(n_parts, work)
    rounds = sorted(saved[0])
    assert rounds == [*range(expected[0].n_rounds.max() + 1)]
    for number in {0, 1, len(rounds) // 2, len(rounds) - 1}:
        resumed = sums_in_threads(n_parts, partial(work, number=number))
        for found, own in zip(resumed, expected, strict=True):
            for name in ("Z", "F", "intercept", "gap", "n_iter", "n_rounds"):
                assert_array_equal(getattr(found, name), getattr(own, name))
            assert found.status == own.status


def test_sparse_rows_become_columns_once(rng):
    X = scipy.sparse.random_array((60, 9), density=0.3, format="csr", rng=rng)
    owner, W = rng.integers(0, 3, 60), rng.standard_normal((60, 2))

    def work(communicator):
        rows = np.flatnonzero(owner == communicator.rank)
        K = PartKernelMatrix(Gaussian(0.3), X[rows], communicator)
        for _ in range(3):
            some = np.flatnonzero(np.random.default_rng(communicator.rank).random(rows.size) < 0.6)
            columns, coefficients = K.share(some, W[rows[some]])
            places, own = K.own(columns)
            assert_allclose(own, some)
            assert_allclose(coefficients[places], W[rows[some]])
        columns, coefficients = K.share(np.arange(rows.size), W[rows])
        assert K.columns.shape[0] == columns.size == 60
        return rows, K.product(np.arange(rows.size), columns, coefficients)

    expected = Gaussian(0.3).block(X) @ W
    for rows, product in sums_in_threads(3, work):
        assert_allclose(product, expected[rows])
