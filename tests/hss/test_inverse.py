"""Determinants, diagonals of inverses, and variances from the factor, beside dense matrices."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hssvm.hss import (
    HSSANN,
    ClusterTree,
    NestedNystroem,
    PosteriorVariance,
    compress,
    factor,
    inverse_diagonal,
    log_determinant,
)
from hssvm.kernels import Gaussian, Laplacian

N_NEW = 30


def matrix_of(X, kernel, leaf_size, max_rank):
    tree = ClusterTree.build(X, leaf_size)
    return compress(kernel, X, tree, NestedNystroem(max_rank=max_rank, rtol=1e-8))


def compressed_values(matrix, T):
    """Dense k~(t, x_i) of new points, (m, n): every leaf has weights of its own for each row."""
    weights = matrix.leaf_weights(np.eye(matrix.tree.n))
    offsets, leaves = matrix.tree.offsets(matrix.tree.depth), matrix.tree.route(T)
    values = np.empty((len(T), matrix.tree.n))
    for i, leaf in enumerate(leaves):
        own = matrix.tree.perm[offsets[leaf] : offsets[leaf + 1]]
        values[i] = matrix.kernel.block(T[i : i + 1], matrix.X[own])[0] @ weights[own]
    return values


@settings(max_examples=30, deadline=None)
@given(
    n=st.integers(1, 300),
    p=st.integers(1, 4),
    leaf_size=st.integers(8, 100),
    max_rank=st.integers(1, 40),
    seed=st.integers(0, 10**6),
    kernel=st.sampled_from([Gaussian(0.5), Laplacian(0.3)]),
)
def test_like_the_dense_matrix(n, p, leaf_size, max_rank, seed, kernel):
    rng = np.random.default_rng(seed)
    matrix = matrix_of(rng.standard_normal((n, p)), kernel, leaf_size, max_rank)
    shift = rng.uniform(0.01, 1, n)
    ulv, dense = factor(matrix, shift), matrix.to_dense() + np.diag(shift)
    assert log_determinant(ulv) == pytest.approx(np.linalg.slogdet(dense)[1], rel=1e-8, abs=1e-8)
    inverse = np.linalg.inv(dense)
    np.testing.assert_allclose(inverse_diagonal(ulv), np.diag(inverse), rtol=1e-7)
    T = rng.standard_normal((N_NEW, p))
    values = compressed_values(matrix, T)
    expected = 1 - np.einsum("ij,jk,ik->i", values, inverse, values)
    found = PosteriorVariance(ulv)(T)
    assert found.min() >= 0
    np.testing.assert_allclose(found, expected, atol=1e-7)


def test_log_determinant_of_the_exact_kernel():
    """0.1 % on 5,000 rows, which are compressed."""
    X, kernel = np.random.default_rng(0).uniform(-2, 2, (5000, 3)), Gaussian(0.5)
    matrix = compress(kernel, X, compressor=NestedNystroem(max_rank=128, rtol=1e-4))
    assert matrix.tree.depth > 0
    exact = np.linalg.slogdet(kernel.block(X) + 0.1 * np.eye(5000))[1]
    assert log_determinant(factor(matrix, 0.1)) == pytest.approx(exact, rel=1e-3)


def test_variance_at_a_row_is_what_noise_leaves():
    """At a row, ``1 / variance = 1 / noise + 1 / (variance without the row)``."""
    X = np.random.default_rng(1).standard_normal((500, 2))
    matrix, noise = matrix_of(X, Gaussian(1.0), 60, 30), 0.1
    ulv = factor(matrix, noise)
    without = 1 / inverse_diagonal(ulv) - noise
    expected = 1 / (1 / noise + 1 / without)
    np.testing.assert_allclose(PosteriorVariance(ulv)(X), expected, rtol=1e-6)


def test_single_precision():
    X = np.random.default_rng(2).standard_normal((400, 2))
    double, single = (
        factor(matrix_of(X.astype(dtype), Gaussian(0.5), 64, 20), 0.5)
        for dtype in (np.float64, np.float32)
    )
    assert log_determinant(single) == pytest.approx(log_determinant(double), rel=1e-2)
    np.testing.assert_allclose(inverse_diagonal(single), inverse_diagonal(double), rtol=1e-2)
    variances = [PosteriorVariance(ulv)(X[:50]) for ulv in (single, double)]
    np.testing.assert_allclose(*variances, atol=1e-2)


def test_other_compressors_do_not_extend_to_new_points():
    X = np.random.default_rng(3).standard_normal((300, 2))
    matrix = compress(Gaussian(0.1), X, ClusterTree.build(X, 50), HSSANN())
    with pytest.raises(ValueError, match="does not extend"):
        PosteriorVariance(factor(matrix, 10.0))
