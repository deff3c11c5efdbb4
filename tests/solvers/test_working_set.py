import time

import numpy as np
import pytest
import scipy.sparse
from helpers.rows import two_moons
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from reference import svc_dual, svc_gap
from sklearn.svm import SVC as ExactSVC

from hssvm.hss import ClusterTree, compress
from hssvm.kernels import CallableKernel, Gaussian, Linear
from hssvm.kernels.lazy import LazyKernelMatrix
from hssvm.operators import HSSOperator
from hssvm.problems import SVCProblem
from hssvm.progress import Gap, Violation, listening
from hssvm.solvers import ADMM, Solution, Status, WorkingSet
from hssvm.solvers.lazy_product import LazyProduct
from hssvm.solvers.subproblem import make_subproblems, put
from hssvm.solvers.working_kernel import WorkingKernel
from hssvm.solvers.working_set_run import WorkingSetRun, violations


def nothing(problem):
    """A start without knowledge."""
    return Solution.empty(np.zeros((problem.n, problem.k), problem.dtype))


@settings(max_examples=25)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(4, 40),
    log_C=st.floats(-2, 2),
    capacity=st.integers(2, 50),
)
def test_agrees_with_another_solver(seed, n, log_C, capacity):
    """However few rows the working set has, and whatever feasible point is the start."""
    rng = np.random.default_rng(seed)
    X, y = two_moons(rng, n)
    y[:2] = 1, -1
    bound = y * 10**log_C * rng.uniform(0.5, 2, n) * (rng.random(n) < 0.9)
    bound[:2] = y[:2]
    problem, K = SVCProblem(bound[:, None]), Gaussian(0.7).block(X)
    start = nothing(problem)
    if rng.random() < 0.5:
        ends = rng.random(n) * bound
        start.Z[:, 0] = np.where(ends > 0, ends / ends[ends > 0].sum(), 0)
        start.Z[:, 0] += np.where(ends < 0, -ends / ends[ends < 0].sum(), 0)
        start.Z *= np.abs(bound[bound != 0]).min()
        start.F = K @ start.Z + rng.standard_normal()
    solver = WorkingSet(1e-7, memory=8 * capacity**2)
    solution = solver.solve(problem, LazyKernelMatrix(Gaussian(0.7), X), start)
    z = svc_dual(K, bound)
    best = np.abs(z).sum() - z @ K @ z / 2
    assert solution.gap[0] <= 1e-7
    assert solution.dual[0] >= best - 1e-6 * abs(best)
    assert solution.status == [Status.CONVERGED]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sparse", [False, True])
def test_gap_is_that_of_the_true_kernel(dtype, sparse, rng):
    X, y = two_moons(rng, 700)
    X = X.astype(dtype)
    H = compress(Gaussian(2.0), X, ClusterTree.build(X, 50), max_rank=5, random_state=rng)
    bound = y[:, None] * [0.1, 1.0, 30.0]
    bound[::7, 1] = 0
    problem = SVCProblem(bound.astype(dtype))
    start = ADMM(tol=1e-2).solve(problem, HSSOperator(H))
    rows = scipy.sparse.csr_array(X) if sparse else X
    solution = WorkingSet(1e-4).solve(problem, LazyKernelMatrix(Gaussian(2.0), rows), start)
    K = Gaussian(2.0).block(X.astype(np.float64))
    Z = solution.Z.astype(float)
    assert_allclose(solution.F, K @ Z, atol=1e-3 if dtype == np.float32 else 1e-10)
    for j in range(3):
        assert solution.gap[j] <= 1e-4
        error = 1e-5 if dtype == np.float32 else 1e-9
        assert_allclose(solution.gap[j], svc_gap(K, problem, Z, j), atol=error)
    assert solution.status == [Status.CONVERGED] * 3
    assert solution.Z.dtype == dtype
    lower, upper = problem.box(np.arange(700))
    assert np.all((lower <= solution.Z) & (upper >= solution.Z))
    assert np.all(np.abs(Z.sum(axis=0)) <= 1e-5 * np.abs(Z).sum(axis=0))


def test_is_the_solution_of_libsvm(rng):
    X, y = two_moons(rng, 1500)
    weight = rng.uniform(0.2, 2, 1500)
    problem = SVCProblem((5 * weight * y)[:, None])
    kernel = Gaussian(1.5)
    solution = WorkingSet(1e-6, memory=8 * 200**2).solve(
        problem, LazyKernelMatrix(kernel, X), nothing(problem)
    )
    exact = ExactSVC(C=5, gamma=1.5, tol=1e-6).fit(X, y, sample_weight=weight)
    assert_allclose(
        solution.F[:, 0] + solution.intercept, exact.decision_function(X), atol=2e-3, rtol=1e-3
    )
    z = np.zeros(1500)
    z[exact.support_] = exact.dual_coef_[0]
    dual = np.abs(z).sum() - z @ kernel.block(X) @ z / 2
    assert_allclose(solution.dual[0], dual, rtol=1e-6)


def test_columns_do_not_depend_on_each_other(rng):
    X, y = two_moons(rng, 400)
    rows = LazyKernelMatrix(Gaussian(1.0), X)
    bound = np.stack([y * 0.3, y * 20, -y * rng.random(400), y * (rng.random(400) < 0.5)], axis=1)
    block = WorkingSet(1e-6).solve(SVCProblem(bound), rows, nothing(SVCProblem(bound)))
    for j in range(4):
        problem = SVCProblem(bound[:, [j]])
        alone = WorkingSet(1e-6).solve(problem, rows, nothing(problem))
        assert_allclose(block.primal[j], alone.primal[0], rtol=1e-5)
    assert np.all(block.Z[bound[:, 3] == 0, 3] == 0)


def test_a_start_that_misleads_does_no_harm(rng):
    """All at their bounds: far from the solution, and far above it in size."""
    X, y = two_moons(rng, 600)
    y = np.where(np.arange(600) % 2, 1.0, -1.0)
    problem = SVCProblem(1000 * y[:, None])
    start = nothing(problem)
    start.Z[:] = problem.bound
    start.F = -100 * start.Z
    solution = WorkingSet(1e-5).solve(problem, LazyKernelMatrix(Gaussian(5.0), X), start)
    assert solution.status == [Status.CONVERGED]


@pytest.mark.parametrize("sign", [1, -1, 0])
def test_a_column_in_which_nothing_can_move(sign, rng):
    X, y = two_moons(rng, 50)
    problem = SVCProblem(np.stack([y, np.full(50, float(sign))], axis=1))
    solution = WorkingSet(1e-6).solve(problem, LazyKernelMatrix(Gaussian(1.0), X), nothing(problem))
    assert np.all(solution.Z[:, 1] == 0)
    assert solution.gap[1] <= 1e-6
    assert solution.status == [Status.CONVERGED] * 2


def test_a_fast_column_waits_for_a_slow_one(rng):
    X, y = two_moons(rng, 400)
    problem = SVCProblem(y[:, None] * [1.0, 1e5])
    solution = WorkingSet(1e-5).solve(problem, LazyKernelMatrix(Gaussian(0.5), X), nothing(problem))
    assert solution.status[0] == Status.CONVERGED
    assert solution.gap[0] <= 1e-5


def test_the_maximal_violating_pair_is_watched():
    """Else the watched rows may seem solved, and nothing would ever move again."""
    # With w = sum of z x = 1, decision values are x. The first two rows are the working set, and
    # their b is 0: the third violates it by 0.5, and the fourth meets it by 0.3.
    X = np.array([[4.0], [-4.0], [0.5], [-1.3], [0.2], [-0.2]])
    y = np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
    problem = SVCProblem(2.5 * y[:, None])
    Z = np.where(np.arange(6) >= 4, 2.5 * y, 0.0)[:, None]
    K = LazyKernelMatrix(Linear(), X)
    run = WorkingSetRun(WorkingSet(1e-9), problem, K, Solution.empty(Z))
    run.product = LazyProduct.at(K, Z, np.arange(6))
    run.exchange(np.arange(6), np.array([1.0, 1.0, *[-np.inf] * 4]))
    assert_array_equal(run.working_set.rows, [0, 1])
    run.check()
    assert np.isin([2, 3], run.product.watched).all()


def test_ends_where_nothing_moves_and_the_gap_stays(rng):
    X, _ = two_moons(rng, 50)
    problem = SVCProblem(np.ones((50, 1)))
    solution = WorkingSet(-1.0).solve(problem, LazyKernelMatrix(Gaussian(1.0), X), nothing(problem))
    assert solution.status == [Status.STALLED]


def test_a_user_written_kernel(rng):
    X, y = two_moons(rng, 300)
    problem = SVCProblem(3 * y[:, None])
    own = LazyKernelMatrix(CallableKernel(lambda A, B: Gaussian(0.5).block(A, B)), X)
    ours = WorkingSet(1e-6).solve(problem, own, nothing(problem))
    core = WorkingSet(1e-6).solve(problem, LazyKernelMatrix(Gaussian(0.5), X), nothing(problem))
    assert_allclose(ours.dual, core.dual, rtol=1e-6)


def test_out_of_time_gives_the_best_so_far(rng):
    X, y = two_moons(rng, 3000)
    problem = SVCProblem(100 * y[:, None] * [1.0, 1e-6])
    rows = LazyKernelMatrix(Gaussian(3.0), X)
    solution = WorkingSet(1e-9, memory=8 * 50**2, max_time=1e-3).solve(
        problem, rows, nothing(problem)
    )
    assert solution.status[0] == Status.MAX_TIME
    assert 1e-9 < solution.gap[0] < 1
    assert_allclose(
        solution.gap[0], svc_gap(Gaussian(3.0).block(X), problem, solution.Z, 0), atol=1e-9
    )


def test_stop_ends_the_run(rng):
    X, y = two_moons(rng, 500)
    problem, seen = SVCProblem(100 * y[:, None]), []
    solver = WorkingSet(1e-9, 8 * 50**2, stop=lambda: len(seen) == 2)
    with listening(seen.append):
        solution = solver.solve(problem, LazyKernelMatrix(Gaussian(3.0), X), nothing(problem))
    first, second, last = seen
    assert isinstance(first, Violation) and isinstance(second, Violation)
    assert (first.iteration, second.iteration) == (1, 2)
    assert last == Gap(2, solution.gap[0])
    assert solution.n_rounds[0] == 2
    assert np.isfinite(solution.gap[0])


def test_says_when_rounding_errors_stop_it(rng):
    X, y = two_moons(rng, 300)
    problem = SVCProblem((50 * y[:, None]).astype(np.float32))
    rows = LazyKernelMatrix(Gaussian(1.0), X.astype(np.float32))
    solution = WorkingSet(-1.0).solve(problem, rows, nothing(problem))  # no gap is that small
    assert solution.status == [Status.PRECISION]
    assert solution.gap[0] < 1e-4


def test_says_when_the_cache_is_too_small_for_the_free_rows(rng):
    X, y = two_moons(rng, 60)
    problem, rows = SVCProblem(1e5 * y[:, None]), LazyKernelMatrix(Gaussian(30.0), X)
    small, large = (
        WorkingSet(-1.0, memory=8 * capacity**2).solve(problem, rows, nothing(problem))
        for capacity in (10, 60)
    )
    assert problem.free(large.Z).sum() > 10  # nearly the identity: nearly all rows are free
    assert small.status == [Status.MEMORY_LIMIT]
    assert "memory_limit" in small.status[0].value
    assert large.status == [Status.STALLED]
    assert "float64" not in large.status[0].value


def test_counted_work_ends_a_run_at_the_same_point(rng, monkeypatch):
    X, y = two_moons(rng, 3000)
    problem = SVCProblem(100 * y[:, None])
    ends = []
    for speed in (1.0, 1e6):
        monkeypatch.setattr(time, "perf_counter", lambda: speed * time.monotonic())  # noqa: B023
        rows = LazyKernelMatrix(Gaussian(3.0), X)
        solver = WorkingSet(1e-9, memory=8 * 50**2, max_work=5e7 * rows.value_cost)
        ends.append(solver.solve(problem, rows, nothing(problem)))
        assert ends[-1].status == [Status.MAX_WORK]
        assert 5e7 - 3000**2 < rows.n_values < 5e7 + 2 * 3000**2
    assert_array_equal(ends[0].Z, ends[1].Z)
    assert ends[0].n_iter == ends[1].n_iter


def test_stop_keeps_its_status_where_nothing_moves(rng):
    X, y = two_moons(rng, 300)
    problem = SVCProblem(50 * y[:, None].astype(np.float32))
    rows = LazyKernelMatrix(Gaussian(1.0), X.astype(np.float32))
    seen = [Violation(0, 1.0)]
    solver = WorkingSet(-1.0, stop=lambda: seen[-1].violation < 1e-5)
    with listening(lambda event: isinstance(event, Violation) and seen.append(event)):
        solution = solver.solve(problem, rows, nothing(problem))
    assert solution.status == [Status.STOPPED]


@settings(max_examples=30)
@given(seed=st.integers(0, 2**32 - 1))
def test_working_set_holds_the_kernel_of_its_rows(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((200, 3))
    rows = LazyKernelMatrix(Gaussian(0.3), X)
    working_set = WorkingKernel(rows, 60)
    for _ in range(6):
        outside = np.setdiff1d(np.arange(200), working_set.rows)
        new = rng.choice(outside, rng.integers(1, 30), replace=False)
        q = working_set.rows.size
        least = max(0, q + new.size - 60)
        evict = rng.choice(q, rng.integers(least, min(q, new.size) + 1), replace=False)
        gone = working_set.rows[evict]
        working_set.admit(new, evict)
        q = working_set.rows.size
        assert set(new) <= set(working_set.rows)
        assert not set(gone) & set(working_set.rows)
        assert_allclose(working_set.K[:q, :q], Gaussian(0.3).block(X[working_set.rows]), rtol=1e-12)


def test_array_of_a_working_set_grows_with_its_rows(rng):
    X = rng.standard_normal((400, 3))
    working_set = WorkingKernel(LazyKernelMatrix(Gaussian(0.3), X), 300)
    K = Gaussian(0.3).block(X)
    for new in np.split(rng.permutation(400)[:300], 30):
        working_set.admit(new, np.empty(0, np.int64))
        rows, side = working_set.rows, working_set.K.shape[0]
        assert side in {18, 75, 300}
        assert rows.size <= side <= max(18, 5 * rows.size)
        found = working_set.K[: rows.size, : rows.size]
        assert_allclose(found, K[np.ix_(rows, rows)], atol=1e-12)


@settings(max_examples=30)
@given(seed=st.integers(0, 2**32 - 1), dtype=st.sampled_from([np.float32, np.float64]))
def test_lazy_product_is_the_product(seed, dtype):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((150, 3)).astype(dtype)
    K, Z = Gaussian(0.3).block(X.astype(float)), rng.standard_normal((150, 2)).astype(dtype)
    watched = np.sort(rng.choice(150, 40, replace=False))
    product = LazyProduct.at(LazyKernelMatrix(Gaussian(0.3), X), Z, watched)
    error = 1e-10 if dtype == np.float64 else 1e-4
    for step in range(5):
        old, new = product.Z.copy(), rng.standard_normal((20, 2)).astype(dtype)
        rows, change = rng.choice(150, 20, replace=False), np.full((20, 2), np.nan, dtype)
        if step % 2:  # the change of F is known at some of these rows
            rows, known = rng.choice(product.watched, 20, replace=False), rng.random(20) < 0.7
            change[known] = K[np.ix_(rows[known], rows)] @ (new - old[rows])
        n_values = product.kernel_matrix.n_values
        product.move(rows, old[rows], new, change, np.ones(2))
        n_known = np.count_nonzero(~np.isnan(change[:, 0]))
        assert product.kernel_matrix.n_values - n_values == 20 * (product.watched.size - n_known)
        assert_allclose(product.F[product.watched], (K @ product.Z)[product.watched], atol=error)
        if step == 2:
            product.scale(np.array([0.5, 1.0]))
            product.refresh()
            assert_allclose(product.F, K @ product.Z, atol=error)
            product.watched = np.sort(rng.choice(150, 30, replace=False))
    product = product.columns(np.array([False, True]))
    product.refresh()
    assert_allclose(product.F, K @ product.Z, atol=error)


@settings(max_examples=30)
@given(seed=st.integers(0, 2**32 - 1), dtype=st.sampled_from([np.float32, np.float64]))
def test_subproblems_know_how_their_products_change(seed, dtype):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 3)).astype(dtype)
    K, bound = Gaussian(0.3).block(X), rng.standard_normal((60, 2)).astype(dtype) * 5
    working_set = WorkingKernel(LazyKernelMatrix(Gaussian(0.3), X), 60)
    working_set.admit(np.arange(60), np.empty(0, np.int64))
    ridge = rng.choice([0, 1]) * rng.random(60).astype(dtype)
    relative = np.where(rng.random((60, 2)) < [0.4, 0.8], 1.0, -2.0)
    subproblems = make_subproblems(
        np.zeros_like(bound), -np.sign(bound), np.minimum(bound, 0), np.maximum(bound, 0), ridge,
        relative, np.zeros(2), np.full(2, 1e-3),
    )  # fmt: skip
    z, changes, steps = working_set.descend(subproblems, 10_000)
    assert steps.all()
    Z, change = (put(parts, subproblems, np.zeros((60, 2))) for parts in (z, changes))
    members = put([np.ones(part.size) for part in z], subproblems, np.zeros((60, 2), bool))
    error = 1e-10 if dtype == np.float64 else 1e-3
    assert_allclose(change[members], (K @ Z)[members], atol=error)


@settings(max_examples=30)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 40))
def test_violation_by_definition(seed, n):
    rng = np.random.default_rng(seed)
    bound = rng.standard_normal((n, 1))
    bound[:2, 0] = 1, -1
    problem, gradient = SVCProblem(bound), rng.standard_normal((n, 1))
    Z = bound * rng.choice([0, 0.5, 1], (n, 1))
    Z[:2] = [[0.5], [-0.5]]
    urgency, spread, (rises, falls) = violations(problem, np.arange(n), Z, gradient)
    lower, upper = problem.box(np.arange(n))
    pairs = [
        gradient[j, 0] - gradient[i, 0]
        for i in range(n)
        for j in range(n)
        if Z[i] < upper[i] and Z[j] > lower[j]
    ]
    assert_allclose(spread[0], max(pairs), atol=1e-12)
    assert_allclose(spread[0], gradient[falls[0], 0] - gradient[rises[0], 0], atol=1e-12)
    assert_allclose(urgency.max(), spread[0] / 2, atol=1e-12)
    inside = (lower < Z) & (upper > Z)
    assert np.all(urgency[inside] > -1e-12)  # there any gradient moves
