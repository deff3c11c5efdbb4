import pickle

import numpy as np
import pytest
import scipy.sparse
from helpers.processes import run_python
from numpy.testing import assert_allclose, assert_array_equal
from reference import AWKWARD, all_kernels, awkward_points, kernel_matrix
from sklearn.gaussian_process.kernels import Matern
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from hssvm.kernels import (
    CallableKernel,
    Exponential,
    Gaussian,
    Laplacian,
    Linear,
    Matern32,
    Matern52,
    Polynomial,
    as_rows,
)
from hssvm.kernels.base import core_rows

KERNELS = all_kernels(gamma=0.3)
BUILT_IN = [k for k in KERNELS if not isinstance(k, CallableKernel)]
names = pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: type(k).__name__)
built_in = pytest.mark.parametrize("kernel", BUILT_IN, ids=lambda k: type(k).__name__)
dtypes = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def tolerance(dtype, K):
    return (2e-5 if dtype == np.float32 else 1e-11) * np.abs(K).max()


@names
@dtypes
@pytest.mark.parametrize("kind", AWKWARD)
def test_block_is_the_definition(kernel, dtype, kind, rng):
    X = awkward_points(rng, 40, 5, kind).astype(dtype)
    K = kernel.block(X)
    expected = kernel_matrix(kernel, X)
    assert K.dtype == dtype
    assert_allclose(K, expected, atol=tolerance(dtype, expected), rtol=0)
    assert_allclose(kernel.diag(X), expected.diagonal(), atol=tolerance(dtype, expected), rtol=0)


@built_in
@dtypes
def test_sparse_equals_dense(kernel, dtype, rng):
    X = scipy.sparse.random_array((70, 300), density=0.05, format="csr", rng=rng, dtype=dtype)
    X = scipy.sparse.vstack([X, X[:3]], format="csr")
    K = kernel.block(X, X[:30])
    expected = kernel.block(X.toarray(), X[:30].toarray())
    assert K.dtype == dtype
    assert_allclose(K, expected, atol=tolerance(dtype, expected), rtol=0)
    assert_allclose(kernel.diag(X), kernel.diag(X.toarray()), rtol=1e-5)
    assert_array_equal(kernel.block(X, X[:30].toarray()), K)


@built_in
def test_tiles_fit_together(kernel, rng):
    X, Y = rng.standard_normal((150, 3)), rng.standard_normal((1100, 3))
    K = kernel.block(X, Y)
    rows, columns = rng.integers(0, 150, 20), rng.integers(0, 1100, 20)
    assert_allclose(K[rows][:, columns], kernel_matrix(kernel, X[rows], Y[columns]), rtol=1e-12)


@pytest.mark.parametrize("kernel", BUILT_IN[:5], ids=lambda k: type(k).__name__)
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4])
@dtypes
def test_duplicates_are_exact(kernel, scale, dtype, rng):
    X = (scale * (1 + rng.random((20, 7)))).astype(dtype)
    assert_array_equal(kernel.block(X[:10], X[:10]).diagonal(), 1)
    assert_array_equal(kernel.block(X, X[::-1])[::-1].diagonal(), 1)


def test_near_points_far_from_the_origin_keep_their_digits(rng):
    X = 1e4 + 1e-3 * rng.standard_normal((30, 4))
    K = Exponential(100.0).block(X)
    assert_allclose(K, kernel_matrix(Exponential(100.0), X), rtol=1e-9)


@pytest.mark.parametrize(("dtype", "rtol"), [(np.float64, 1e-15), (np.float32, 2e-7)])
def test_exponential_over_its_range(dtype, rtol):
    one, zero = np.ones((1, 1), dtype), np.zeros((1, 1), dtype)
    for gamma in np.linspace(1e-3, 800, 3001).astype(dtype):
        value, expected = Exponential(gamma).block(one, zero)[0, 0], np.exp(-np.float64(gamma))
        if expected > 4 * np.finfo(dtype).tiny:
            assert_allclose(value, expected, rtol=rtol)
        else:
            assert 0 <= value <= 4 * np.finfo(dtype).tiny


def test_agrees_with_scikit_learn(rng):
    X, Y = rng.standard_normal((30, 4)), rng.standard_normal((20, 4))
    assert_allclose(Gaussian(0.7).block(X, Y), rbf_kernel(X, Y, gamma=0.7), rtol=1e-12)
    assert_allclose(Laplacian(0.7).block(X, Y), laplacian_kernel(X, Y, gamma=0.7), rtol=1e-12)
    assert_allclose(Matern32(0.5).block(X, Y), Matern(2.0, nu=1.5)(X, Y), rtol=1e-12)
    assert_allclose(Matern52(0.5).block(X, Y), Matern(2.0, nu=2.5)(X, Y), rtol=1e-12)


def test_mixed_precision_and_other_types(rng):
    X = rng.integers(0, 3, (10, 2))
    assert Gaussian(1.0).block(X).dtype == np.float64
    assert Gaussian(1.0).block(X.astype(np.float32), X.astype(np.float64)).dtype == np.float64
    fortran = np.asfortranarray(X.astype(np.float64))
    assert_array_equal(Gaussian(1.0).block(fortran), Gaussian(1.0).block(X))
    unsorted = scipy.sparse.csr_array(
        (np.array([1.0, 2.0, 3.0]), np.array([1, 0, 1]), np.array([0, 3])), shape=(1, 2)
    )
    assert_allclose(Linear().block(unsorted), [[4.0 + 16.0]])


def test_far_points_have_value_zero():
    X = np.array([[0.0], [1e19]], dtype=np.float32)
    for kernel in BUILT_IN[:5]:
        assert_array_equal(kernel.block(X), np.eye(2))


def test_complex_rows_are_refused():
    with pytest.raises(TypeError, match="complex"):
        Gaussian(1.0).block(np.ones((2, 2), dtype=complex))


def test_no_rows(rng):
    assert Gaussian(1.0).block(np.empty((0, 3)), rng.random((4, 3))).shape == (0, 4)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Gaussian(0.0), "gamma must be a positive number"),
        (lambda: Gaussian(np.nan), "gamma must be a positive number"),
        (lambda: Polynomial(1.0, coef0=-1.0), "coef0 must be at least 0"),
        (lambda: Polynomial(1.0, degree=1.5), "degree must be an integer"),
        (lambda: Polynomial(1.0, degree=2**31), "degree must be an integer below"),
        (lambda: Gaussian(1.0).block(np.ones(3)), "two dimensions"),
        (lambda: Gaussian(1.0).block(np.ones((2, 3)), np.ones((2, 4))), "3 features, Y has 4"),
        (lambda: CallableKernel(lambda X, Y: X).block(np.ones((2, 3))), "one value per pair"),
    ],
)
def test_errors_say_what_is_wrong(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@built_in
def test_kernels_are_values(kernel):
    assert pickle.loads(pickle.dumps(kernel)) == kernel
    assert type(kernel).__name__ in repr(kernel)
    assert hash(kernel) == hash(pickle.loads(pickle.dumps(kernel)))


@pytest.mark.parametrize("degree", [1, 2, 3, 4, 7, 12, 33])
def test_polynomials_of_any_degree(degree, rng):
    X = rng.uniform(-1, 1, (20, 3))
    expected = (0.3 * X @ X.T + 0.5) ** degree
    assert_allclose(Polynomial(0.3, 0.5, degree).block(X), expected, rtol=1e-12, atol=1e-12)


def test_a_huge_degree_takes_no_time():
    code = """
    import numpy as np
    from hssvm.kernels import Polynomial

    X = np.linspace(-1, 1, 401)[:, None]
    K = Polynomial(1.0, degree=10**9).block(X)
    assert K[0, 0] == K[0, -1] == 1 and K[0, 1] == 0
    """
    run_python(code, timeout=60)


def unaligned(array):
    """The same numbers, a byte after where their type should begin."""
    shifted = np.empty(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape)
    shifted[...] = array
    assert not shifted.flags.aligned and shifted.flags.c_contiguous
    return shifted


@dtypes
def test_rows_that_are_not_aligned_are_copied(dtype, rng):
    X = rng.standard_normal((30, 4)).astype(dtype)
    assert as_rows(unaligned(X)).flags.aligned
    assert as_rows(X) is X
    K = Gaussian(0.5).block(X)
    assert_array_equal(Gaussian(0.5).block(unaligned(X)), K)
    structured = np.zeros(30, [("flag", np.int8), ("x", dtype, 4)])
    structured["x"] = X
    assert_array_equal(Gaussian(0.5).block(structured["x"]), K)
    sparse = scipy.sparse.csr_array(X)
    for name in ("data", "indices", "indptr"):
        setattr(sparse, name, unaligned(getattr(sparse, name)))
    core_rows(as_rows(sparse))
    assert_array_equal(Gaussian(0.5).block(sparse), Gaussian(0.5).block(scipy.sparse.csr_array(X)))
