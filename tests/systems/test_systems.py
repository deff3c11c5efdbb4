import numpy as np
import pytest
from numpy.testing import assert_allclose

from hssvm.hss import ClusterTree, compress
from hssvm.kernels import Gaussian
from hssvm.systems import DenseSystem, HSSSystem


def dense(X):
    return DenseSystem(Gaussian(0.4).block(X), shift=0.5)


def one_leaf(X):
    return HSSSystem(compress(Gaussian(0.4), X), shift=0.5)


def full_rank(X):
    matrix = compress(Gaussian(0.4), X, ClusterTree.build(X, 30), rtol=0.0, max_rank=len(X))
    return HSSSystem(matrix, shift=0.5)


@pytest.mark.parametrize("make", [dense, one_leaf, full_rank])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(213,), (213, 1), (213, 6)])
def test_every_system_solves_the_same_problem(make, dtype, shape, rng):
    X = rng.standard_normal((213, 3)).astype(dtype)
    system = make(X)
    assert system.n == 213
    assert system.dtype == dtype
    B = rng.standard_normal(shape).astype(dtype)
    K = Gaussian(0.4).block(X.astype(np.float64))
    tol = 1e-3 if dtype == np.float32 else 1e-7
    assert_allclose(system.matmul(B), K @ B, atol=tol, rtol=tol)
    for shift in (0.5, 20.0):
        system = system.with_shift(shift)
        assert system.shift == shift
        expected = np.linalg.solve(K + shift * np.eye(213), B)
        assert_allclose(system.solve(B), expected, atol=tol, rtol=tol)
        assert system.solve(B).shape == shape
        assert system.solve(B).dtype == dtype


def test_shift_must_be_positive():
    with pytest.raises(ValueError, match="shift must be a positive number"):
        DenseSystem(np.eye(2), shift=0.0)


def test_dense_system_checks_its_matrix():
    with pytest.raises(ValueError, match="square"):
        DenseSystem(np.ones((2, 3)), shift=1.0)
    assert_allclose(DenseSystem(np.eye(2, dtype=int), shift=0.5).solve([1.0, 1.0]), 2 / 3)
