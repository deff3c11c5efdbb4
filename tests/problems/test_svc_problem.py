import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from hssvm.problems import SVCProblem
from hssvm.problems.weighted_quantiles import weighted_quantiles


def best_intercept(f, sign, cost):
    mass = np.array([cost[sign > 0].sum()])
    return weighted_quantiles([sign - f], [cost], mass)[0]


def hinge(b, f, sign, cost):
    return (cost * np.maximum(0, 1 - sign * (f + b))).sum()


def random_problem(rng, n, k, dtype=np.float64):
    signs = np.where(rng.random((n, k)) < 0.5, -1, 1)
    return SVCProblem(
        (signs * rng.uniform(0, 3, (n, k)) * (rng.random((n, k)) < 0.9)).astype(dtype)
    )


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.sampled_from([2, 3, 10, 700, 5000]),
    ties=st.booleans(),
    whole=st.booleans(),
    positive=st.sampled_from([0.0, 0.01, 0.5, 1.0]),
)
def test_intercept_minimizes_the_loss(seed, n, ties, whole, positive):
    rng = np.random.default_rng(seed)
    f = rng.standard_normal(n) * 3
    if ties:
        f = np.round(f)
    sign = np.where(rng.random(n) < positive, 1.0, -1.0)
    cost = rng.integers(0, 4, n).astype(float) if whole else rng.random(n)
    if not cost.any():
        cost[0] = 1.0
    b = best_intercept(f, sign, cost)
    # the minimum of a convex piecewise linear function is at one of its breakpoints
    some = np.unique((sign - f)[cost > 0])
    some = some[:: max(1, some.size // 300)]
    least = min(hinge(t, f, sign, cost) for t in [*some, b - 1e-3, b + 1e-3])
    assert hinge(b, f, sign, cost) <= least + 1e-9 * (1 + least)


def test_intercept_without_any_cost():
    assert best_intercept(np.ones(3), np.ones(3), np.zeros(3)) == 0.0


def test_intercept_is_the_middle_of_the_best_interval():
    f = np.array([2.0, 3.0, -2.0, -5.0])
    sign = np.array([1.0, 1.0, -1.0, -1.0])
    assert best_intercept(f, sign, np.ones(4)) == 0.0  # anything in [-1, 1] costs nothing


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_values_by_definition(dtype, rng):
    n, k = 40, 3
    problem = random_problem(rng, n, k, dtype)
    A = rng.standard_normal((n, 7))
    K = A @ A.T
    Z = problem.bound * rng.random((n, k)).astype(dtype)
    values = problem.evaluate(Z, (K @ Z).astype(dtype))
    for j in range(k):
        z, bound = Z[:, j].astype(float), problem.bound[:, j].astype(float)
        quadratic = sum(z[a] * z[b] * K[a, b] for a in range(n) for b in range(n)) / 2
        loss = hinge(values.intercept[j], K @ z, np.sign(bound), np.abs(bound))
        assert_allclose(values.primal[j], quadratic + loss, rtol=1e-5)
        assert_allclose(values.dual[j], np.abs(z).sum() - quadratic, rtol=1e-5)


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 60), scale=st.floats(0.01, 100))
def test_gap_is_never_negative(seed, n, scale):
    """For any kernel matrix and any feasible point."""
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, n, 2)
    A = rng.standard_normal((n, rng.integers(1, n + 1))) * scale
    K = A @ A.T
    V = problem.bound * rng.random((n, 2)) * 2
    for j in range(2):  # make it feasible: shrink the larger of the two signs
        z = np.clip(
            V[:, [j]], np.minimum(problem.bound[:, [j]], 0), np.maximum(problem.bound[:, [j]], 0)
        )
        plus, minus = z[z > 0].sum(), -z[z < 0].sum()
        z[z > 0] *= min(1, minus / plus) if plus else 1
        z[z < 0] *= min(1, plus / minus) if minus else 1
        V[:, [j]] = z
    values = problem.evaluate(V, K @ V)
    assert np.all(values.primal - values.dual >= -1e-9 * (np.abs(values.primal) + 1))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("k", [1, 5, 40])
def test_prox_by_definition(dtype, k, rng):
    n = 1000
    problem = random_problem(rng, n, k, dtype)
    V = rng.standard_normal((n, k)).astype(dtype)
    beta = rng.uniform(0.1, 10, n).astype(dtype)
    tau = rng.standard_normal(k)
    Z, sums = problem.prox(V, beta, tau)
    moved = V - tau.astype(dtype) / beta[:, None]
    low, high = np.minimum(problem.bound, 0), np.maximum(problem.bound, 0)
    assert_allclose(Z, np.clip(moved, low, high), rtol=1e-5, atol=1e-5)
    assert_allclose(sums.z, Z.sum(axis=0, dtype=float), rtol=1e-9, atol=1e-9)
    assert_allclose(sums.abs_z, np.abs(Z).sum(axis=0, dtype=float), rtol=1e-9)
    assert_allclose(sums.slope, (problem.free(Z) / beta[:, None]).sum(axis=0), rtol=1e-3)


def test_columns(rng):
    problem = random_problem(rng, 20, 4)
    some = problem.columns(np.array([2, 0]))
    assert (some.n, some.k) == (20, 2)
    assert_allclose(some.bound, problem.bound[:, [2, 0]])
    assert_allclose(some.scale(), np.abs(problem.bound[:, [2, 0]]).max(axis=0))
