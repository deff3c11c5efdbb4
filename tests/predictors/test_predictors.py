import pickle

import numpy as np
import pytest
import scipy.sparse
from helpers.predictors import leafwise
from numpy.testing import assert_allclose
from reference import all_kernels, kernel_matrix

from hssvm.hss import ClusterTree, compress
from hssvm.kernels import CallableKernel, Gaussian, Polynomial
from hssvm.predictors import ExpansionPredictor


def leaf_of_rows(tree):
    """Leaf of every training row, as the tree has it."""
    leaf = np.empty(tree.n, dtype=int)
    ends = tree.offsets(tree.depth)
    for i in range(tree.n_leaves):
        leaf[tree.perm[ends[i] : ends[i + 1]]] = i
    return leaf


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("oversampling", [0.0, 0.5])
@pytest.mark.parametrize("depth", [0, 1, 4])
def test_leafwise_values_at_the_training_points_are_the_product(dtype, oversampling, depth, rng):
    n = 50 * 2**depth
    X = rng.standard_normal((n, 3)).astype(dtype)
    tree = ClusterTree.build(X, 50)
    H = compress(Gaussian(0.5), X, tree, max_rank=12, oversampling=oversampling, random_state=rng)
    Z = rng.standard_normal((n, 3)).astype(dtype)
    error = 1e-2 if dtype == np.float32 else 1e-7
    assert np.array_equal(tree.route(X), leaf_of_rows(tree))  # no ties in this data
    predictor = leafwise(H, Z)
    assert_allclose(predictor(X), H @ Z, atol=error)
    assert predictor(X).dtype == dtype
    assert_allclose(pickle.loads(pickle.dumps(predictor))(X), predictor(X))


@pytest.mark.parametrize("kernel", all_kernels(0.5))
def test_leafwise_values_at_new_points_by_definition(kernel, rng):
    """A leaf sees the others through its skeleton J: k~(t, x) = k(t, J) K_JJ^-1 K~(J, x)."""
    X, T = rng.standard_normal((300, 3)), rng.standard_normal((60, 3))
    tree = ClusterTree.build(X, 40)
    H = compress(kernel, X, tree, max_rank=6, oversampling=0.0, random_state=rng)
    Z = rng.standard_normal((300, 2))
    dense, leaf, leaves = H.to_dense(), leaf_of_rows(tree), H.levels[-1]
    expected = np.empty((60, 2))
    for t, own in enumerate(tree.route(T)):
        J = leaves.skeleton[leaves.skeleton_offsets[own] : leaves.skeleton_offsets[own + 1]]
        inside, outside = np.flatnonzero(leaf == own), np.flatnonzero(leaf != own)
        through = np.linalg.solve(kernel_matrix(kernel, X[J]), dense[np.ix_(J, outside)])
        expected[t] = (
            kernel_matrix(kernel, T[[t]], X[inside]) @ Z[inside]
            + kernel_matrix(kernel, T[[t]], X[J]) @ through @ Z[outside]
        )
    assert_allclose(leafwise(H, Z)(T), expected, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("kernel", all_kernels(0.5))
def test_exact_values_at_new_points(kernel, rng):
    X, T = rng.standard_normal((50, 3)), rng.standard_normal((20, 3))
    Z = rng.standard_normal((50, 2))
    expected = kernel_matrix(kernel, T, X) @ Z
    assert_allclose(ExpansionPredictor(kernel, X, Z)(T), expected, atol=1e-9)


def test_leafwise_is_exact_for_a_kernel_of_low_rank(rng):
    X, T = rng.standard_normal((300, 2)), rng.standard_normal((40, 2))
    kernel = Polynomial(0.5, coef0=1.0, degree=2)  # six functions
    H = compress(kernel, X, ClusterTree.build(X, 40), rtol=0.0, max_rank=20, random_state=rng)
    Z = rng.standard_normal((300, 2))
    exact = ExpansionPredictor(kernel, X, Z)(T)
    assert_allclose(leafwise(H, Z)(T), exact, atol=1e-6 * np.abs(exact).max())


def test_sparse_rows_and_functions_predict_like_dense_rows(rng):
    X = rng.standard_normal((400, 5)) * (rng.random((400, 5)) < 0.5)
    T = rng.standard_normal((700, 5)) * (rng.random((700, 5)) < 0.5)
    Z = rng.standard_normal((400, 1))
    tree = ClusterTree.build(X, 50)

    def function(A, B):
        return np.exp(-0.4 * ((A[:, None] - B[None]) ** 2).sum(-1))

    def predict(kernel, X, T):
        H = compress(kernel, X, tree, max_rank=8, rtol=1e-6)
        return leafwise(H, Z)(T), ExpansionPredictor(kernel, X, Z)(T)

    compressed, exact = predict(Gaussian(0.4), X, T)
    for other in (
        predict(Gaussian(0.4), scipy.sparse.csr_array(X), scipy.sparse.csr_array(T)),
        predict(CallableKernel(function), X, T),
    ):
        assert_allclose(other[0], compressed, atol=1e-6)
        assert_allclose(other[1], exact, atol=1e-9)


def test_only_rows_with_a_weight_are_kept(rng):
    X = rng.standard_normal((1000, 2))
    H = compress(Gaussian(0.1), X, ClusterTree.build(X, 100), max_rank=10)
    Z = np.zeros((1000, 1))
    Z[:5] = 1
    predictor = leafwise(H, Z)
    assert predictor.X.shape[0] <= 5 + H.levels[-1].skeleton.size
    assert predictor(X[:0]).shape == (0, 1)
