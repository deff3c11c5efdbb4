import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from reference import AWKWARD, all_kernels, awkward_points

from hssvm.hss import ClusterTree, compress, factor
from hssvm.kernels import Gaussian

RADIAL = all_kernels()[:5]


def residual(H, shift, X, B):
    """Of the solution, with the compressed matrix in float64."""
    X, B = X.astype(np.float64), B.astype(np.float64)
    return np.linalg.norm(H.to_dense() @ X + shift * X - B) / np.linalg.norm(B)


@settings(max_examples=150)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 600),
    p=st.integers(1, 20),
    log_gamma=st.floats(-4, 2),
    kernel=st.integers(0, len(RADIAL) - 1),
    kind=st.sampled_from(AWKWARD),
    leaf_size=st.integers(2, 150),
    max_rank=st.integers(1, 60),
    k=st.sampled_from([1, 2, 3, 8, 10, 13]),
    log_shift=st.floats(-2, 4),
)
def test_solves(seed, n, p, log_gamma, kernel, kind, leaf_size, max_rank, k, log_shift):
    rng = np.random.default_rng(seed)
    X = awkward_points(rng, n, p, kind)
    kernel = all_kernels(10.0**log_gamma)[kernel]
    tree = ClusterTree.build(X, leaf_size, random_state=seed)
    shift = 10.0**log_shift
    B = rng.standard_normal((n, k))
    H = compress(kernel, X, tree, max_rank=max_rank, random_state=seed)
    assert residual(H, shift, factor(H, shift).solve(B), B) <= 1e-10
    if shift >= 0.1:
        H = compress(kernel, X.astype(np.float32), tree, max_rank=max_rank, random_state=seed)
        # rounding: eps |K| |x| / |b|, with |K| <= n and |x| <= |b| / shift
        bound = max(1e-4, 4 * np.finfo(np.float32).eps * n / shift)
        assert residual(H, shift, factor(H, shift).solve(B.astype(np.float32)), B) <= bound


@pytest.mark.parametrize(("dtype", "shift", "bound"), [("f8", 1e-2, 1e-10), ("f4", 1e-1, 1e-4)])
def test_solves_with_half_the_rows_duplicated(dtype, shift, bound, rng):
    X = rng.standard_normal((600, 6)).astype(dtype)
    X[300:] = X[:300]
    H = compress(Gaussian(0.2), X, ClusterTree.build(X, 100), random_state=rng)
    B = rng.standard_normal((600, 3)).astype(dtype)
    assert residual(H, shift, factor(H, shift).solve(B), B) <= bound


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("depth", [0, 1, 4])
def test_agrees_with_a_dense_solve(dtype, depth, rng):
    n = 40 * 2**depth - 3
    X = rng.standard_normal((n, 4)).astype(dtype)
    H = compress(Gaussian(0.3), X, ClusterTree.build(X, 40), max_rank=12, random_state=rng)
    assert H.tree.depth == depth
    B = rng.standard_normal((n, 9)).astype(dtype)
    expected = np.linalg.solve(H.to_dense().astype(float) + 0.5 * np.eye(n), B.astype(float))
    F = factor(H, 0.5)
    X = F.solve(B)
    assert X.dtype == dtype
    tol = {"rtol": 1e-3, "atol": 1e-3} if dtype == np.float32 else {"rtol": 1e-9, "atol": 1e-9}
    assert_allclose(X, expected, **tol)
    for column in (0, 8):
        assert_allclose(F.solve(B[:, column]), expected[:, column], **tol)
    assert F.solve(B[:, :0]).shape == (n, 0)


def test_a_new_shift_needs_no_new_compression(rng):
    X = rng.standard_normal((1000, 4))
    H = compress(Gaussian(0.3), X, ClusterTree.build(X, 64), max_rank=20, random_state=rng)
    b = rng.standard_normal(1000)
    for shift in (1e3, 1.0, 1e-2):
        F = factor(H, shift)
        assert F.matrix is H
        assert residual(H, shift, F.solve(b), b) <= 1e-10


PEAK_OF_SOLVE = """
import tracemalloc
import numpy as np
from hssvm.hss import compress, factor
from hssvm.kernels import Gaussian

rng = np.random.default_rng({seed})
X = rng.standard_normal((20_000, 3))
F = factor(compress(Gaussian(0.1), X, max_rank=30, random_state=rng), 1.0)
B = rng.standard_normal((20_000, 4))
F.solve(B)
tracemalloc.start()
F.solve(B)
print(tracemalloc.get_traced_memory()[1] / B.nbytes)
"""


def test_solve_allocates_only_its_result(rng):
    """In a process of its own: threads that other tests left behind are traced, too."""
    script = PEAK_OF_SOLVE.format(seed=int(rng.integers(1000)))
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert float(run.stdout) < 1.05


def test_python_threads_may_share_a_factor(rng):
    from concurrent.futures import ThreadPoolExecutor

    X = rng.standard_normal((3000, 4))
    F = factor(compress(Gaussian(0.2), X, max_rank=30, random_state=rng), 1.0)
    columns = rng.standard_normal((16, 3000))
    expected = [F.solve(b) for b in columns]
    with ThreadPoolExecutor(4) as pool:
        for solution, one in zip(pool.map(F.solve, columns), expected, strict=True):
            assert_array_equal(solution, one)


def test_pickles(rng):
    X = rng.standard_normal((500, 3))
    F = factor(compress(Gaussian(0.2), X, random_state=rng), 2.0)
    copy = pickle.loads(pickle.dumps(F))
    b = rng.standard_normal(500)
    assert_array_equal(copy.solve(b), F.solve(b))
    assert "shift=2.0" in repr(F)


@pytest.mark.parametrize("shift", [0.0, -1.0, np.nan, np.inf])
def test_shift_must_be_positive(shift):
    H = compress(Gaussian(1.0), np.ones((3, 1)))
    with pytest.raises(ValueError, match="shift must be a positive number"):
        factor(H, shift)


def test_a_shift_lost_in_rounding_is_reported():
    X = np.zeros((200, 1), dtype=np.float32)
    H = compress(Gaussian(1.0), X)
    with pytest.raises(RuntimeError, match=r"raise shift .*, use float64"):
        factor(H, 1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("depth", [0, 3])
@pytest.mark.parametrize("k", [1, 2, 3, 4, 20])
def test_a_shift_per_row(dtype, depth, k, rng):
    n = 40 * 2**depth - 5
    X = rng.standard_normal((n, 4)).astype(dtype)
    H = compress(Gaussian(0.3), X, ClusterTree.build(X, 40), max_rank=12, random_state=rng)
    shift = (10.0 ** rng.uniform(-1, 2, n)).astype(dtype)
    F = factor(H, shift)
    dense = H.to_dense().astype(float) + np.diag(shift.astype(float))
    B = rng.standard_normal((n, k)).astype(dtype)
    tol = 1e-3 if dtype == np.float32 else 1e-9
    assert_allclose(F.solve(B), np.linalg.solve(dense, B), atol=tol)
    assert_allclose(F @ B, dense @ B, atol=tol * 100)
    with pytest.raises(ValueError, match="shift must be a positive number"):
        factor(H, np.where(np.arange(n) == 3, 0.0, shift))
