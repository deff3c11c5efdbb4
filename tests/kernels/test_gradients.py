"""Gradients of kernel expansions, by their definition and by differences."""

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal

from hssvm.kernels import Exponential, Gaussian, Laplacian, Matern32, Matern52
from hssvm.kernels import gradients as module

KERNELS = [Gaussian(0.4), Laplacian(0.3), Exponential(0.5), Matern32(0.5), Matern52(0.5)]
kernels = pytest.mark.parametrize("kernel", KERNELS, ids=repr)
formats = pytest.mark.parametrize("csr", [False, True], ids=["dense", "sparse"])
dtypes = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def expansion(rng, m=23, n=40, p=7, k=2, csr=False, dtype=np.float64, density=0.6):
    """Rows, points and weights."""
    X, Y = (
        (rng.standard_normal((r, p)) * (rng.random((r, p)) < density)).astype(dtype) for r in (m, n)
    )
    rows = (scipy.sparse.csr_array(X), scipy.sparse.csr_array(Y)) if csr else (X, Y)
    return *rows, rng.standard_normal((n, k))


def by_differences(kernel, X, Y, W, step=1e-7):
    G = np.empty((X.shape[0], W.shape[1], X.shape[1]))
    for j in range(X.shape[1]):
        ahead, behind = X.copy(), X.copy()
        ahead[:, j] += step
        behind[:, j] -= step
        G[:, :, j] = (kernel.block(ahead, Y) - kernel.block(behind, Y)) @ W / (2 * step)
    return G


@kernels
def test_gradients_are_limits_of_differences(kernel, rng):
    X, Y, W = expansion(rng, density=1)
    G = by_differences(kernel, X, Y, W)
    # The second derivative of the exponential kernel grows without bound towards d = 0.
    assert_allclose(kernel.gradients(X, Y, W), G, atol=1e-6 * np.abs(W).sum())


def test_gradient_of_the_l1_kernel_is_its_definition(rng):
    X, Y, W = expansion(rng, dtype=np.float32)
    X, Y = np.round(X, 1), np.round(Y, 1)  # with ties, in which the derivative counts as 0
    expected = np.zeros((len(X), 2, 7))
    for a, x in enumerate(X.astype(float)):
        for y, w in zip(Y.astype(float), W, strict=True):
            k = np.exp(-0.3 * np.abs(x - y).sum())
            expected[a] += -0.3 * k * w[:, None] * np.sign(x - y)
    assert_allclose(Laplacian(0.3).gradients(X, Y, W), expected, rtol=1e-10, atol=1e-12)


@kernels
@formats
def test_points_themselves_and_far_points_add_nothing(kernel, csr, rng):
    x = 1 + rng.random((1, 7))
    points = np.concatenate([x, 1e9 * x])
    X, Y = map(scipy.sparse.csr_array if csr else np.asarray, (x, points))
    assert_array_equal(kernel.gradients(X, Y, np.ones((2, 1))), 0)


@kernels
@dtypes
def test_sparse_gradients_equal_dense_ones(kernel, dtype, rng):
    X, Y, W = expansion(rng, p=30, dtype=dtype, density=0.2)
    sparse = scipy.sparse.csr_array(X), scipy.sparse.csr_array(Y)
    G = kernel.gradients(X, Y, W)
    assert G.dtype == np.float64
    for rows in (sparse, (sparse[0], Y), (X, sparse[1])):
        assert_allclose(kernel.gradients(*rows, W), G, atol=1e-9 * np.abs(W).sum())


@kernels
@formats
@pytest.mark.parametrize("values", [1, 100, 10**6])
def test_squared_gradients_are_their_mean_in_any_blocks(kernel, csr, values, rng, monkeypatch):
    monkeypatch.setattr(module, "BLOCK_VALUES", values)
    for dtype, rtol in ((np.float32, 1e-3), (np.float64, 1e-9)):
        X, Y, W = expansion(rng, csr=csr, dtype=dtype)
        expected = (kernel.gradients(X, Y, W) ** 2).sum(axis=1).mean(axis=0)
        squares = kernel.squared_gradients(X, Y, W)
        assert squares.dtype == np.float64
        assert_allclose(squares, expected, rtol=rtol, atol=1e-14)


def test_rows_that_nearly_coincide(rng):
    X = rng.standard_normal((300, 5)).astype(np.float32)
    Y = np.concatenate([X, X + 1e-5 * rng.standard_normal(X.shape).astype(np.float32)])
    W = rng.standard_normal((600, 1))
    kernel = Exponential(1.0)
    G = kernel.gradients(X, Y, W)
    doubles = X.astype(np.float64), Y.astype(np.float64)
    assert_allclose(kernel.gradients(*doubles, W), G, rtol=1e-12)
    squares = kernel.squared_gradients(X, Y, W)
    assert_allclose(squares, kernel.squared_gradients(*doubles, W), rtol=0.2)


@kernels
def test_wide_sparse_rows_use_the_memory_of_their_nonzeros(kernel, rng):
    X, Y, W = expansion(rng, csr=True)
    columns = np.sort(rng.choice(2**25, 7, replace=False))
    wide_X, wide_Y = (
        scipy.sparse.csr_array((Z.data, columns[Z.indices], Z.indptr), (Z.shape[0], 2**25))
        for Z in (X, Y)
    )
    squares = kernel.squared_gradients(wide_X, wide_Y, W)
    assert_allclose(squares[columns], kernel.squared_gradients(X, Y, W), rtol=1e-12)


@formats
def test_rows_of_zeros_have_no_gradients(csr):
    zeros = scipy.sparse.csr_array((3, 4)) if csr else np.zeros((3, 4))
    assert_array_equal(Laplacian(1.0).squared_gradients(zeros, zeros, np.ones((3, 1))), np.zeros(4))


@kernels
def test_rotated_coordinates(kernel, rng):
    """Gradients of functions of the Euclidean distance rotate with the rows; L1 differs."""
    X, Y, W = expansion(rng, k=1)
    Q = np.linalg.qr(rng.standard_normal((7, 7)))[0]
    rotated = kernel.gradients(X @ Q, Y @ Q, W)[:, 0] @ Q.T
    same = np.allclose(rotated, kernel.gradients(X, Y, W)[:, 0], atol=1e-9)
    assert same == (not isinstance(kernel, Laplacian))
