import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose
from reference import all_kernels, kernel_matrix

from hssvm.kernels import CallableKernel, Gaussian
from hssvm.kernels.cached import CachedKernelMatrix, keep_rows
from hssvm.kernels.lazy import LazyKernelMatrix


@pytest.mark.parametrize("kind", [LazyKernelMatrix, CachedKernelMatrix])
@pytest.mark.parametrize("kernel", all_kernels(0.5))
@pytest.mark.parametrize("sparse", [False, True])
def test_pieces_of_the_kernel_matrix(kernel, sparse, kind, rng):
    X = rng.standard_normal((60, 3))
    if sparse and type(kernel).__name__ == "CallableKernel":
        pytest.skip("the function takes dense rows")
    K = kernel_matrix(kernel, X)
    rows = kind(kernel, scipy.sparse.csr_array(X) if sparse else X)
    A, B = rng.choice(60, 20, replace=False), rng.choice(60, 7, replace=False)
    W = rng.standard_normal((7, 2))
    assert_allclose(rows.block(A, B), K[np.ix_(A, B)], atol=1e-9)
    assert_allclose(rows.product(A, B, W), K[np.ix_(A, B)] @ W, atol=1e-9)
    nothing = np.empty(0, np.int64)
    assert_allclose(rows.product(A, nothing, W[:0]), np.zeros((20, 2)))
    assert rows.product(nothing, B, W).shape == (0, 2)


@pytest.mark.parametrize("sparse", [False, True])
def test_products_of_float32_rows_in_float64(sparse, rng, monkeypatch):
    monkeypatch.setattr("hssvm.kernels.lazy.CONVERTED_ROWS", 17)
    X = rng.standard_normal((60, 3)).astype(np.float32)
    K = kernel_matrix(Gaussian(0.5), X.astype(float))
    rows = LazyKernelMatrix(Gaussian(0.5), scipy.sparse.csr_array(X) if sparse else X)
    columns, W = rng.choice(60, 20, replace=False), rng.standard_normal((20, 2)).astype(np.float32)
    some = rng.choice(60, 40, replace=False)
    found = rows.product_in_float64(some, columns, W)
    assert_allclose(found, K[np.ix_(some, columns)] @ W.astype(float), rtol=1e-12, atol=1e-12)
    assert rows.n_values == 2 * 40 * 20
    assert not rows.product_in_float64(some, columns[:0], W[:0]).any()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nominal_cost_of_a_value(dtype, rng):
    """Within a factor of two of what two cores were measured to compute, in values per second."""
    for n_features, n_nonzeros, speed in (
        (8, None, 2.9e9),  # cod-rna
        (22, None, 1.9e9),  # ijcnn1
        (780, None, 0.16e9),  # MNIST
        (123, 14, 1.1e9),  # a9a
        (300, 12, 1.1e9),  # w8a
    ):
        X = np.zeros((50, n_features), dtype)
        X[:, :n_nonzeros] = 1
        rows = LazyKernelMatrix(
            Gaussian(0.1), X if n_nonzeros is None else scipy.sparse.csr_array(X)
        )
        assert 0.5 < rows.value_cost * speed * 4 / X.itemsize < 2
    own = LazyKernelMatrix(CallableKernel(lambda A, B: A @ B.T), X)
    assert own.value_cost > LazyKernelMatrix(Gaussian(0.1), X).value_cost


def test_values_are_counted(rng):
    rows = LazyKernelMatrix(Gaussian(0.1), rng.standard_normal((60, 3)))
    rows.block(np.arange(20), np.arange(7))
    rows.product(np.arange(10), np.arange(60), np.ones((60, 2)))
    rows.product(np.arange(10), np.arange(0), np.ones((0, 2)))
    assert rows.n_values == 20 * 7 + 10 * 60


@pytest.mark.parametrize("k", [1, 3])
def test_rows_are_computed_once(k, rng, monkeypatch):
    monkeypatch.setattr("hssvm.kernels.cached.KEPT_ROWS", 7)
    X = rng.standard_normal((60, 3))
    K, all_rows = CachedKernelMatrix(Gaussian(0.5), X), np.arange(60)
    dense, seen = Gaussian(0.5).block(X), set()
    for _ in range(10):
        columns, W = rng.choice(60, 9, replace=False), rng.standard_normal((9, k))
        seen |= set(columns.tolist())
        assert_allclose(K.product(all_rows, columns, W), dense[:, columns] @ W, atol=1e-12)
        assert_allclose(K.block(columns, all_rows), dense[columns], atol=1e-12)
    assert K.n_values == 60 * len(seen)


def test_rows_are_kept_where_they_fit_and_are_expensive(rng):
    wide = LazyKernelMatrix(Gaussian(0.5), rng.standard_normal((100, 200)))
    kept, left = keep_rows(wide, 200_000)
    assert isinstance(kept, CachedKernelMatrix) and left == 120_000
    assert keep_rows(wide, 90_000) == (wide, 90_000)  # would leave too little for the working set
    narrow = LazyKernelMatrix(Gaussian(0.5), rng.standard_normal((100, 3)))
    assert keep_rows(narrow, 1e9) == (narrow, 1e9)
