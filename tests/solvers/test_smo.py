import threading

import numpy as np
import pytest
from helpers.rows import two_moons
from numpy.testing import assert_allclose, assert_array_equal
from threadpoolctl import threadpool_limits

from hssvm import _core
from hssvm.kernels import Gaussian, Polynomial


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_smo_on_parts_of_a_matrix(dtype, rng):
    """Only the members move, their sum stays, and no pair of them is left with a larger spread."""
    X, y = two_moons(rng, 120)
    K = Gaussian(1.0).block(X).astype(dtype)
    parts = [np.sort(rng.choice(120, size, replace=False)) for size in (50, 120, 3)]
    members = np.concatenate(parts)
    ends = np.concatenate([[0], np.cumsum([part.size for part in parts])])
    bound = np.concatenate([C * y[part] for C, part in zip((1, 20, 5), parts, strict=True)])
    lower, upper = (f(bound, 0).astype(dtype) for f in (np.minimum, np.maximum))
    z, g = np.zeros(members.size, dtype), -np.sign(bound).astype(dtype)
    steps, tol, l1_weight = np.zeros(3, np.int64), np.array([1e-3, 1e-2, 1e-3]), np.zeros(3)
    _core.smo(K, ends, members, lower, upper, l1_weight, z, g, tol, 10_000, steps)
    assert np.all((lower <= z) & (z <= upper))
    for c in range(3):
        part = slice(ends[c], ends[c + 1])
        fresh = K[np.ix_(parts[c], parts[c])].astype(float) @ z[part] - np.sign(bound[part])
        assert_allclose(g[part], fresh, atol=1e-4)
        assert abs(z[part].sum()) <= 1e-5 * max(1, np.abs(z[part]).sum())
        low, high = g[part][z[part] < upper[part]], g[part][z[part] > lower[part]]
        assert low.size == 0 or high.size == 0 or high.max() - low.min() <= tol[c] + 1e-4
    before = z.copy()
    _core.smo(K, ends, members, lower, upper, l1_weight, z, g, tol, 10_000, steps)
    assert_array_equal(steps, 0)
    assert_array_equal(z, before)


def test_rounding_errors_do_not_change_the_sum(rng):
    for _ in range(10):
        bound = (rng.choice([-1, 1], 60) * rng.uniform(0, 5, 60)).astype(np.float32)
        K = Polynomial(3, 0.4, 1.0).block(rng.standard_normal((60, 3)).astype(np.float32))
        z, g, steps = np.zeros(60, np.float32), -np.sign(bound), np.zeros(1, np.int64)
        _core.smo(
            K, np.array([0, 60]), np.arange(60), np.minimum(bound, 0), np.maximum(bound, 0),
            np.zeros(1), z, g, np.array([1e-4]), 10_000, steps,
        )  # fmt: skip
        assert abs(z.sum(dtype=float)) <= 1e-6


def solve_large(X, y, n_threads, *, l1_weight=0.0, n_problems=1, share=1.0):
    """Solve copies of a problem on a share of the rows; return z and the numbers of steps."""
    n, size = y.size, int(share * y.size)
    K = Gaussian(1.0).block(X)
    members = np.tile(np.arange(n - size, n), n_problems)
    bound = (10 * y).astype(X.dtype)[members]
    low = -np.abs(bound) if l1_weight else np.minimum(bound, 0)
    z, g, steps = np.zeros_like(bound), -np.sign(bound), np.zeros(n_problems, np.int64)
    with threadpool_limits(n_threads, user_api="openmp"):
        _core.smo(
            K, size * np.arange(n_problems + 1), members, low, np.maximum(bound, -low),
            np.full(n_problems, l1_weight), z, g, np.full(n_problems, 1e-3), 100_000, steps,
        )  # fmt: skip
    return z, steps


@pytest.mark.parametrize(
    ("n_rows", "dtype", "options"),
    [
        (4096, np.float32, {}),
        (8400, np.float32, {}),
        (4200, np.float64, {"l1_weight": 0.1}),
        (4500, np.float32, {"n_problems": 3, "share": 0.95}),
    ],
)
def test_steps_that_threads_share_are_the_same(n_rows, dtype, options, rng):
    X, y = two_moons(rng, n_rows)
    X = X.astype(dtype)
    z, steps = solve_large(X, y, 1, **options)
    assert np.all(steps > 100)
    for n_threads in (2, 4):
        shared, shared_steps = solve_large(X, y, n_threads, **options)
        assert_array_equal(shared_steps, steps)
        assert_array_equal(shared, z)


def test_steps_are_shared_in_several_problems_at_once(rng):
    X, y = two_moons(rng, 4200)
    X = X.astype(np.float32)
    expected, _ = solve_large(X, y, 1)
    results = [None] * 4

    def solve(index):
        results[index] = solve_large(X, y, 2)[0]

    threads = [threading.Thread(target=solve, args=(index,)) for index in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results:
        assert_array_equal(result, expected)
