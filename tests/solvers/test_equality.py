import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from hssvm.problems import OneClassProblem, SVCProblem, SVRProblem
from hssvm.solvers.equality import constrain_x, constrained_prox, nearest_feasible


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 300),
    k=st.integers(1, 4),
    scale=st.floats(-3, 3),
    start=st.floats(-1e3, 1e3),
)
def test_prox_with_the_constraint(seed, n, k, scale, start):
    rng = np.random.default_rng(seed)
    bound = rng.standard_normal((n, k)) * 10.0**scale
    problem = SVCProblem(bound)
    V = rng.standard_normal((n, k)) * 10.0 ** rng.uniform(-3, 3)
    beta = 10.0 ** rng.uniform(-2, 2, n)
    Z, tau = constrained_prox(problem, V, beta, np.full(k, start), exactly=True)
    low, high = np.minimum(bound, 0), np.maximum(bound, 0)
    assert np.all((low <= Z) & (high >= Z))
    assert np.all(np.abs(Z.sum(axis=0)) <= 2e-9 * np.abs(Z).sum(axis=0) + 1e-12)
    # optimal: z is the projection of v - tau / beta, and that is all the optimality conditions say
    assert_allclose(Z, np.clip(V - tau / beta[:, None], low, high), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("digits", [0, 4, 8])
def test_the_sum_is_right_however_far_the_point_is_outside(digits, dtype, rng):
    """Steps of the polish go far if rows are duplicates."""
    ones = np.ones((226, 1), dtype)
    y = rng.standard_normal((226, 1)).astype(dtype)
    for problem in (
        OneClassProblem(ones, np.array([0.9])),
        SVCProblem(np.sign(y)),
        SVRProblem(y, ones, np.array([0.1])),
    ):
        start = (10.0**digits * rng.standard_normal((226, 1))).astype(dtype)
        Z = nearest_feasible(problem, start, ones[:, 0])
        low, high = problem.box(np.arange(226))
        assert np.all((low <= Z) & (high >= Z))
        allowed = 1e-5 if dtype == np.float32 else 1e-13
        assert abs(Z.sum(dtype=np.float64) - problem.equality_rhs[0]) <= allowed * np.abs(Z).sum()


def test_x_with_the_constraint(rng):
    n, k = 50, 3
    A = rng.standard_normal((n, n))
    M = A @ A.T + np.eye(n)
    B, total = rng.standard_normal((n, k)), rng.standard_normal(k)
    w = np.linalg.solve(M, np.ones(n))
    X = constrain_x(np.linalg.solve(M, B), w @ B, w, w.sum(), total)
    kkt = np.block([[M, np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    expected = np.linalg.solve(kkt, np.vstack([B, total]))[:n]
    assert_allclose(X, expected, atol=1e-8)
