import gc
import weakref

import numpy as np
import pytest
from numpy.testing import assert_allclose

from hssvm.hss import ClusterTree, compress
from hssvm.kernels import Gaussian
from hssvm.operators import DenseOperator, HSSOperator
from hssvm.problems import SVCProblem
from hssvm.solvers import ADMM


def dense(X):
    return DenseOperator(Gaussian(0.4).block(X))


def one_leaf(X):
    return HSSOperator(compress(Gaussian(0.4), X))


def full_rank(X):
    matrix = compress(Gaussian(0.4), X, ClusterTree.build(X, 30), rtol=0.0, max_rank=len(X))
    return HSSOperator(matrix)


@pytest.mark.parametrize("make", [dense, one_leaf, full_rank])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(213,), (213, 1), (213, 6)])
def test_every_operator_multiplies_and_solves_alike(make, dtype, shape, rng):
    X = rng.standard_normal((213, 3)).astype(dtype)
    operator = make(X)
    assert operator.n == 213
    assert operator.dtype == dtype
    assert operator.mean_diagonal() == pytest.approx(1.0)
    B = rng.standard_normal(shape).astype(dtype)
    K = Gaussian(0.4).block(X.astype(np.float64))
    tol = 1e-3 if dtype == np.float32 else 1e-7
    assert_allclose(operator.matmul(B), K @ B, atol=tol, rtol=tol)
    for shift in (0.5, 20.0, rng.uniform(0.5, 2, 213)):
        factor = operator.factor(shift)
        assert factor.shift is shift
        expected = np.linalg.solve(K + np.diag(np.broadcast_to(shift, 213)), B)
        assert_allclose(factor.solve(B), expected, atol=tol, rtol=tol)
        assert factor.solve(B).shape == shape
        assert factor.solve(B).dtype == dtype
        assert factor.nbytes >= 213 * 214 / 2 * np.dtype(dtype).itemsize or make is full_rank
        # while there is a factor, products may use it
        assert_allclose(operator.matmul(B), K @ B, atol=20 * tol, rtol=tol)
    del factor
    assert_allclose(operator.matmul(B), K @ B, atol=tol, rtol=tol)


def test_shift_must_be_positive():
    with pytest.raises(ValueError, match="shift must be a positive number"):
        DenseOperator(np.eye(2)).factor(0.0)


def test_dense_operator_checks_its_matrix():
    with pytest.raises(ValueError, match="square"):
        DenseOperator(np.ones((2, 3)))
    assert_allclose(DenseOperator(np.eye(2, dtype=int)).factor(0.5).solve([1.0, 1.0]), 2 / 3)


def test_admm_holds_one_factor_at_a_time(rng):
    """A factor is freed before the next is made: they are the largest arrays of a fit."""
    X = rng.standard_normal((600, 2))

    class Counting(HSSOperator):
        alive, most, made = weakref.WeakSet(), 0, 0

        def factor(self, shift):
            gc.collect()  # what only a cycle keeps alive does not count
            made = super().factor(shift)
            Counting.alive.add(made)
            Counting.most = max(Counting.most, len(Counting.alive))
            Counting.made += 1
            return made

    y = np.where(X[:, :1] * X[:, 1:] > 0, 1.0, -1.0)
    operator = Counting(compress(Gaussian(2.0), X, ClusterTree.build(X, 100)))
    solution = ADMM(tol=1e-6).solve(SVCProblem(y * [1.0, 1000.0]), operator)
    assert solution.n_factors == Counting.made > 2
    assert Counting.most == 1
    assert len(Counting.alive) == 0
    assert solution.factor_bytes > 0
