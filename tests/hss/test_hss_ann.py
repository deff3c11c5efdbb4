import logging
import pickle

import numpy as np
import pytest
import scipy.sparse
from helpers.predictors import leafwise
from numpy.testing import assert_allclose, assert_array_equal

from hssvm.hss import HSSANN, ClusterTree, compress, factor
from hssvm.hss.neighbors import nearest_neighbors, neighbor_samples
from hssvm.kernels import Gaussian


def by_definition(H):
    """K~ from the skeletons and bases: X_a K(J_a, J_b) X_b' between siblings, nested."""
    tree, K = H.tree, H.kernel.block(H.X.astype(float))
    dense, nested = np.zeros_like(K), {}
    for level in reversed(range(tree.depth + 1)):
        offsets, data, here, start = tree.offsets(level), H.levels[level], {}, 0
        for node in range(2**level):
            rows = tree.perm[offsets[node] : offsets[node + 1]]
            J = data.skeleton[data.ranks[node] : data.ranks[node + 1]]
            if level == tree.depth:
                dense[np.ix_(rows, rows)] = K[np.ix_(rows, rows)]
                below = np.eye(rows.size)
            else:
                (a_rows, a_J, a_X), (b_rows, b_J, b_X) = nested[2 * node], nested[2 * node + 1]
                block = a_X @ K[np.ix_(a_J, b_J)] @ b_X.T
                dense[np.ix_(a_rows, b_rows)] = block
                dense[np.ix_(b_rows, a_rows)] = block.T
                below = np.zeros((rows.size, a_J.size + b_J.size))
                below[: a_rows.size, : a_J.size] = a_X
                below[a_rows.size :, a_J.size :] = b_X
            m = below.shape[1]
            basis = data.basis[start : start + m * J.size].reshape(J.size, m).T
            start += m * J.size
            here[node] = rows, J, below @ basis
        nested = here
    return dense


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sparse", [False, True])
def test_products_by_definition(dtype, sparse, rng):
    X = rng.standard_normal((400, 3)).astype(dtype)
    rows = scipy.sparse.csr_array(X) if sparse else X
    compressor = HSSANN(rtol=0.05, atol=1e-3, max_rank=30, n_neighbors=20)
    H = compress(Gaussian(0.3), rows, ClusterTree.build(X, 50), compressor, random_state=rng)
    expected = by_definition(H)
    error = 1e-4 if dtype == np.float32 else 1e-10
    assert_allclose(H.to_dense(), expected, atol=error)
    B = rng.standard_normal((400, 3)).astype(dtype)
    system = factor(H, shift=100.0)
    assert_allclose(system @ B, expected @ B + 100 * B, rtol=100 * error, atol=1000 * error)
    dense = expected + 100 * np.eye(400)
    assert_allclose(system.solve(B), np.linalg.solve(dense, B), atol=error)
    copy = pickle.loads(pickle.dumps(H))
    assert_array_equal(copy @ B, H @ B)
    assert_array_equal(factor(copy, shift=100.0).solve(B), system.solve(B))


def test_all_neighbors_and_no_tolerance_give_the_kernel(rng):
    X = rng.standard_normal((300, 2))
    compressor = HSSANN(rtol=1e-6, atol=1e-7, max_rank=300, n_neighbors=299)
    H = compress(Gaussian(0.2), X, ClusterTree.build(X, 40), compressor)
    assert_allclose(H.to_dense(), Gaussian(0.2).block(X), atol=1e-3)
    loose = compress(Gaussian(0.2), X, ClusterTree.build(X, 40), HSSANN(rtol=0.5, atol=0.1))
    assert sum(map(np.sum, loose.ranks)) < sum(map(np.sum, H.ranks))


def test_skeletons_interpolate_themselves(rng):
    X = rng.standard_normal((300, 3))
    H = compress(Gaussian(0.3), X, ClusterTree.build(X, 40), HSSANN(rtol=0.1))
    leaves, offsets = H.levels[-1], H.tree.offsets(H.tree.depth)
    start = 0
    for node in range(H.tree.n_leaves):
        rows = H.tree.perm[offsets[node] : offsets[node + 1]]
        J = leaves.skeleton[leaves.ranks[node] : leaves.ranks[node + 1]]
        basis = leaves.basis[start : start + rows.size * J.size].reshape(J.size, rows.size).T
        start += basis.size
        assert_array_equal(basis[[np.flatnonzero(rows == j)[0] for j in J]], np.eye(J.size))


@pytest.mark.parametrize("level", [1, 2, 3])
def test_samples_are_outside_and_the_nearest_first(level, rng):
    X = rng.standard_normal((200, 2))
    tree = ClusterTree.build(X, 25)
    neighbors = nearest_neighbors(X, 12, 0)
    offsets = tree.offsets(level)
    samples, ends = neighbor_samples(
        tree, level, tree.perm, offsets, neighbors, n_nearest=9, n_random=4, rng=rng
    )
    distance = np.sqrt(((X[:, None] - X) ** 2).sum(-1))
    for node in range(2**level):
        inside = tree.perm[offsets[node] : offsets[node + 1]]
        found = samples[ends[node] : ends[node + 1]]
        assert not set(found) & set(inside)
        near = {}
        for i in inside:
            order = np.argsort(distance[i])
            for j in order[order != i][:12]:
                if j not in inside:
                    near[j] = min(near.get(j, np.inf), distance[i, j])
        expected = sorted(near, key=near.get)[:9]
        assert set(expected) == set(found[:-4])
        assert found.size == len(expected) + 4


def test_neighbors_are_doubled_until_they_are_enough(rng, caplog):
    X = rng.standard_normal((400, 3))
    compressor = HSSANN(rtol=1e-4, atol=1e-6, max_rank=200, n_neighbors=1)
    with caplog.at_level(logging.INFO, "hssvm"):
        H = compress(Gaussian(0.05), X, ClusterTree.build(X, 100), compressor)
    assert "restarting with 2 neighbors" in caplog.text
    assert_allclose(H.to_dense(), Gaussian(0.05).block(X), atol=0.05)


def test_an_indefinite_matrix_is_an_error_that_says_so(rng):
    X = rng.standard_normal((500, 3))
    compressor = HSSANN(rtol=0.9, atol=0.5, max_rank=3, n_neighbors=4)
    H = compress(Gaussian(0.05), X, ClusterTree.build(X, 30), compressor)
    least = np.linalg.eigvalsh(H.to_dense()).min()
    assert least < -1e-3
    with pytest.raises(RuntimeError, match="not positive definite"):
        factor(H, shift=-least / 2)
    b = rng.standard_normal(500)
    x = factor(H, shift=-2 * least).solve(b)
    assert_allclose(H @ x - 2 * least * x, b, atol=1e-6 * np.abs(b).max())


def test_no_values_at_new_points(rng):
    X = rng.standard_normal((200, 2))
    H = compress(Gaussian(1.0), X, ClusterTree.build(X, 40), HSSANN())
    with pytest.raises(ValueError, match="predict with the exact kernel"):
        leafwise(H, np.ones((200, 1)))


@pytest.mark.parametrize("parameters", [{"rtol": -1}, {"atol": -1}, {"max_rank": 0}])
def test_parameters_are_checked(parameters):
    with pytest.raises(ValueError, match="at least"):
        HSSANN(**parameters)


def test_parameters_belong_to_the_strategy(rng):
    X = rng.standard_normal((50, 2))
    with pytest.raises(TypeError, match="to the compressor"):
        compress(Gaussian(1.0), X, None, HSSANN(), max_rank=3)
