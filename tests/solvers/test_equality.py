import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from hssvm.problems import SVCProblem
from hssvm.solvers.equality import constrain_x, constrained_prox


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
