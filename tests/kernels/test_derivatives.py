"""Gradients of all kernels, by differences."""

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal

from hssvm.hss import ClusterTree
from hssvm.kernels import (
    CallableKernel,
    Categorical,
    ChiSquared,
    Cosine,
    Exponential,
    Gaussian,
    HistogramIntersection,
    Laplacian,
    Linear,
    Matern32,
    Matern52,
    MinMax,
    Polynomial,
    Tanimoto,
)
from hssvm.kernels.derivatives import expansion_gradients
from hssvm.predictors import (
    ExpansionPredictor,
    LeafExpansions,
    LeafwisePredictor,
    PairwisePredictor,
)
from hssvm.predictors.gradients import predictor_gradients

KERNELS = [
    Gaussian(0.4),
    Laplacian(0.3),
    Exponential(0.5),
    Matern32(0.5),
    Matern52(0.5),
    Linear(),
    Polynomial(0.5, coef0=1.0, degree=3),
    Cosine(),
    Tanimoto(),
    ChiSquared(0.5),
    HistogramIntersection(),
    MinMax(),
    Gaussian(0.4)[:2] * Linear()[[2, 1]] * 0.5 + Cosine() + 1.0,
    (Matern52(0.5)[1:] + Laplacian(0.1)) * Polynomial(0.1),
    Gaussian(0.4)[[1, 1, 3]],
]
kernels = pytest.mark.parametrize("kernel", KERNELS, ids=repr)


def by_differences(function, X, step=1e-6):
    parts = []
    for j in range(X.shape[1]):
        shift = step * np.eye(X.shape[1])[j]
        parts.append((function(X + shift) - function(X - shift)) / (2 * step))
    return np.stack(parts, axis=-1)


@kernels
@pytest.mark.parametrize("csr", [False, True], ids=["dense", "sparse"])
def test_gradients_are_limits_of_differences(kernel, csr, rng):
    X, Y = (0.2 + rng.random((n, 4)) for n in (7, 20))
    W = rng.standard_normal((20, 2))
    expected = by_differences(lambda Z: kernel.block(Z, Y) @ W, X)
    if csr:
        X, Y = scipy.sparse.csr_array(X), scipy.sparse.csr_array(Y)
    found = expansion_gradients(kernel, X, Y, W)
    assert_allclose(found, expected, atol=1e-6 * np.abs(W).sum())


@kernels
def test_rows_of_zeros_and_the_points_themselves_have_finite_gradients(kernel, rng):
    Y = np.concatenate([np.zeros((1, 4)), rng.random((3, 4))])
    with np.errstate(divide="raise", invalid="raise"):
        assert np.isfinite(expansion_gradients(kernel, Y, Y, np.ones((4, 1)))).all()


@pytest.mark.parametrize("kernel", [Categorical(1.0), CallableKernel(lambda X, Y: X @ Y.T)])
def test_kernels_without_gradients_are_refused(kernel):
    with pytest.raises(ValueError, match="has no gradient; fit with"):
        expansion_gradients(2.0 * kernel, np.ones((1, 2)), np.ones((1, 2)), np.ones((1, 1)))


def test_gradients_of_predictors(rng):
    X, T = rng.standard_normal((120, 3)), rng.standard_normal((9, 3))
    pairs = PairwisePredictor(
        Gaussian(0.3), X, rng.standard_normal((120, 2)), np.array([50, 30, 40])
    )
    assert_allclose(predictor_gradients(pairs, T), by_differences(pairs, T), atol=1e-6)
    Z = rng.standard_normal((120, 2))
    trees = [ClusterTree.build(X, 30, random_state=seed) for seed in range(2)]
    cells = [LeafExpansions.of_cells(tree, Z, np.ones((tree.n_leaves, 2))) for tree in trees]
    corners = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)])
    leaves = np.stack([[tree.route(T + 1e-5 * c) for c in corners] for tree in trees])
    T = T[np.all(leaves == leaves[:, :1], axis=(0, 1))]  # differences do not cross a cut
    mean = LeafwisePredictor.of(Gaussian(0.3), X, cells)
    assert_allclose(predictor_gradients(mean, T), by_differences(mean, T), atol=1e-6)
    one = LeafwisePredictor.of(Gaussian(0.3), X, cells[:1])
    clipped = LeafwisePredictor.of(Gaussian(0.3), X, cells[:1], clip=0.3)
    outside = np.abs(one(T)) > 0.3
    assert outside.any()
    assert_array_equal(predictor_gradients(clipped, T)[outside], 0)
    free = predictor_gradients(one, T)[~outside]
    assert_allclose(predictor_gradients(clipped, T)[~outside], free)
    single = ExpansionPredictor(Gaussian(0.3), X.astype(np.float32), Z.astype(np.float32))
    assert predictor_gradients(single, T).dtype == np.float64
