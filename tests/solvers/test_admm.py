import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from reference import paper_admm, svc_dual

from hssvm.hss import ClusterTree, compress
from hssvm.kernels import Gaussian
from hssvm.problems import SVCProblem
from hssvm.solvers import ADMM, PaperADMM, Status, initial_beta, paper_beta, polish
from hssvm.solvers.admm import TOGETHER
from hssvm.systems import DenseSystem, HSSSystem


def two_moons(rng, n, noise=0.4):
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    angle = rng.uniform(0, np.pi, n)
    X = np.c_[np.cos(angle) * y + y / 2, np.sin(angle) * y]
    return X + noise * rng.standard_normal((n, 2)), y


def dense_gap(K, problem, Z, j):
    """Relative gap from its definition, in float64."""
    z, bound = Z[:, j].astype(float), problem.bound[:, j].astype(float)
    f, sign = K @ z, np.sign(bound)
    loss = min(
        (np.abs(bound) * np.maximum(0, 1 - sign * (f + b))).sum() for b in (sign - f)[bound != 0]
    )
    primal, dual = z @ f / 2 + loss, np.abs(z).sum() - z @ f / 2
    return (primal - dual) / primal


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(4, 40), log_C=st.floats(-2, 2))
def test_agrees_with_another_solver(seed, n, log_C):
    rng = np.random.default_rng(seed)
    X, y = two_moons(rng, n)
    y[:2] = 1, -1
    bound = y * 10**log_C * rng.uniform(0.5, 2, n)
    K = Gaussian(0.7).block(X)
    problem = SVCProblem(bound[:, None])
    solution = ADMM(tol=1e-7, max_iter=5000).solve(problem, DenseSystem(K, 1.0))
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
    solution = ADMM(tol=1e-3).solve(problem, HSSSystem(H, initial_beta(problem, 1.0)))
    K = H.to_dense().astype(float)
    assert_allclose(solution.F, K @ solution.Z, atol=1e-2 if dtype == np.float32 else 1e-8)
    for j in range(3):
        assert solution.gap[j] <= 1e-3
        error = 1e-4 if dtype == np.float32 else 1e-9
        assert_allclose(solution.gap[j], dense_gap(K, problem, solution.Z, j), atol=error)
    assert solution.status == [Status.CONVERGED] * 3
    size = np.abs(solution.Z).sum(axis=0, dtype=float)
    assert np.all(np.abs(solution.Z.sum(axis=0, dtype=float)) <= 1e-5 * size)


def test_columns_do_not_depend_on_each_other(rng):
    """Labels, C, weights, and rows that are left out: a block gives what each gives alone."""
    X, y = two_moons(rng, 300)
    system = DenseSystem(Gaussian(1.0).block(X), 2.0)
    bound = np.stack([y * 0.3, y * 20, -y * rng.random(300), y * (rng.random(300) < 0.5)], axis=1)
    block = ADMM(tol=1e-6).solve(SVCProblem(bound), system)
    for j in range(4):
        alone = ADMM(tol=1e-6).solve(SVCProblem(bound[:, [j]]), system)
        assert_allclose(block.primal[j], alone.primal[0], rtol=1e-5)
        distance = block.Z[:, j] - alone.Z[:, 0]  # twice the gaps bound it
        assert distance @ system.K @ distance <= 4 * 2e-6 * alone.primal[0]
        assert block.status[j] == alone.status[0] == Status.CONVERGED
    assert np.all(block.Z[bound[:, 3] == 0, 3] == 0)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_converges_for_every_C(C, rng):
    X, y = two_moons(rng, 1500)
    H = compress(Gaussian(1.0), X, ClusterTree.build(X, 100), max_rank=20)
    problem = SVCProblem(C * y[:, None])
    solution = ADMM(tol=1e-6).solve(problem, HSSSystem(H, initial_beta(problem, 1.0)))
    assert solution.status == [Status.CONVERGED]
    assert solution.n_iter[0] <= 600


def test_the_paper_letter_by_letter(rng):
    X, y = two_moons(rng, 60)
    K = Gaussian(0.5).block(X)
    C, beta = 1.5, 3.0
    problem = SVCProblem(C * y[:, None])
    for max_iter in (1, 2, 10):
        solution = PaperADMM(max_iter).solve(problem, DenseSystem(K, beta))
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
    system = DenseSystem(Gaussian(1.0).block(X), 5.0)
    problem = SVCProblem(y[:, None])
    cold = ADMM(tol=1e-5).solve(problem, system)
    warm = ADMM(tol=1e-5).solve(problem, system, cold.Z)
    assert warm.n_iter[0] < cold.n_iter[0]
    assert warm.gap[0] <= 1e-5


def test_says_why_it_stopped(rng):
    X, y = two_moons(rng, 300)
    problem, K = SVCProblem(50 * y[:, None]), Gaussian(5.0).block(X)
    short = ADMM(tol=1e-8, max_iter=5).solve(problem, DenseSystem(K, 1.0))
    assert short.status == [Status.MAX_ITER]
    assert "raise max_iter" in short.status[0].value
    bound = problem.bound.astype(np.float32)
    rounded = ADMM(tol=-1.0).solve(SVCProblem(bound), DenseSystem(K.astype(np.float32), 1.0))
    assert rounded.status == [Status.PRECISION]
    assert "float64" in rounded.status[0].value
    exact = ADMM(tol=-1.0).solve(problem, DenseSystem(K, 1.0))
    assert exact.status == [Status.STALLED]
    assert "float64" not in exact.status[0].value


def test_callback_ends_the_run(rng):
    X, y = two_moons(rng, 200)
    seen = []
    solver = ADMM(tol=0.0, callback=lambda iteration, gap: seen.append(iteration) or len(seen) == 2)
    solution = solver.solve(SVCProblem(y[:, None]), DenseSystem(Gaussian(1.0).block(X), 1.0))
    assert seen == [10, 20]
    assert solution.n_iter[0] == 20


@pytest.mark.parametrize("answer", [True, Status.MAX_TIME])
def test_an_early_end_is_the_status_of_open_columns_alone(answer, rng):
    """Also of those whose turn to be finished one by one never came."""
    X, y = two_moons(rng, 300)
    problem = SVCProblem(y[:, None] * [1e-6, 1e4, 1e5, 1e6])
    system = DenseSystem(Gaussian(1.0).block(X), 1.0)
    solver = ADMM(
        tol=1e-4, callback=lambda iteration, gap: answer if iteration > TOGETHER else None
    )
    solution = solver.solve(problem, system)
    expected = Status.STOPPED if answer is True else answer
    assert solution.status == [Status.CONVERGED] + [expected] * 3


def test_problem_and_system_must_fit(rng):
    system = DenseSystem(np.eye(3), 1.0)
    with pytest.raises(ValueError, match="the problem has 2 rows, the system 3"):
        ADMM().solve(SVCProblem(np.array([[1.0], [-1.0]])), system)
    with pytest.raises(ValueError, match="float32"):
        ADMM().solve(SVCProblem(np.ones((3, 1), np.float32)), system)


@pytest.mark.parametrize("make", [DenseSystem, None])
def test_polish_is_exact_near_the_solution_and_harmless_far_from_it(make, rng):
    X, y = two_moons(rng, 500)
    K = Gaussian(1.0).block(X)
    if make is None:
        tree = ClusterTree.build(X, 500)
        system = HSSSystem(compress(Gaussian(1.0), X, tree), 2.0)
    else:
        system = make(K, 2.0)
    problem = SVCProblem(y[:, None] * [0.5, 5.0])
    near = ADMM(tol=1e-6).solve(problem, system)
    before = near.gap.copy()
    polish(problem, system, near)
    assert np.all(near.gap <= before)
    assert np.all(near.gap <= 1e-6)
    assert_allclose(near.F, K @ near.Z, atol=1e-10)
    for j in range(2):
        assert_allclose(near.gap[j], dense_gap(K, problem, near.Z, j), atol=1e-10)
    far = ADMM(tol=1e-5, max_iter=3).solve(problem, system)
    assert far.n_factors == 1
    before = far.gap.copy()
    polish(problem, system, far)
    assert np.all(far.gap <= before)


def test_polish_survives_a_factor_that_fails(rng):
    _, y = two_moons(rng, 300)
    K = np.ones((300, 300), np.float32)  # singular, and far larger than the shift of the polish
    problem = SVCProblem(y[:, None].astype(np.float32))
    system = DenseSystem(1e6 * K, 1.0)
    solution = ADMM(max_iter=20).solve(problem, system)
    gap = solution.gap.copy()
    polish(problem, system, solution)
    assert np.all(solution.gap <= gap)
