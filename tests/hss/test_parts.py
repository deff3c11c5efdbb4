"""A matrix in parts is the undivided one."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse
from helpers.parts_in_threads import Parts, served_slots
from helpers.predictors import leafwise
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import hssvm.hss.nystroem
import hssvm.hss.parts
from hssvm.hss import ClusterTree, NestedNystroem, compress, factor
from hssvm.hss.parts import SubtreeRoot
from hssvm.hss.top import TopLevels, group_parts
from hssvm.kernels import Exponential, Gaussian

some_parts = {
    "seed": st.integers(0, 2**31 - 1),
    "n": st.integers(100, 500),
    "p": st.integers(1, 5),
    "n_parts": st.integers(1, 9),
    "fan_in": st.sampled_from([2, 4, 32]),
    "leaf_size": st.integers(8, 40),
    "max_rank": st.integers(1, 30),
}


def make(seed, n, p, n_parts, leaf_size, max_rank, fan_in=32, dtype=np.float64):
    X = np.random.default_rng(seed).standard_normal((n, p)).astype(dtype)
    compressor = NestedNystroem(rtol=0, max_rank=max_rank)
    return Parts(Gaussian(0.3), X, n_parts, compressor, leaf_size, seed, fan_in=fan_in)


@settings(max_examples=25)
@given(**some_parts)
def test_products_and_solves_are_those_of_one_psd_matrix(
    seed, n, p, n_parts, fan_in, leaf_size, max_rank
):
    parts = make(seed, n, p, n_parts, leaf_size, max_rank, fan_in)
    rng = np.random.default_rng(seed)
    b, shift = rng.standard_normal((n, 2)), 10.0 ** rng.uniform(-2, 1, n)

    def work(operator, rows):
        dense = operator.matmul(np.eye(n)[rows])  # from kernel values
        factor = operator.factor(shift[rows])
        x = factor.solve(b[rows])
        return dense, x, operator.matmul(x)  # from the factor

    dense, x, Kx = np.empty((n, n)), np.empty((n, 2)), np.empty((n, 2))
    for rows, (block, *vectors) in zip(parts.rows, parts.together(work), strict=True):
        dense[rows] = block
        x[rows], Kx[rows] = vectors
    assert_allclose(dense, dense.T, atol=1e-9)
    assert np.linalg.eigvalsh((dense + dense.T) / 2).min() > -1e-9 * n
    assert_allclose(Kx + shift[:, None] * x, b, atol=1e-7 * np.abs(b).max())
    assert_allclose(dense @ x, Kx, atol=1e-9 * n * np.abs(x).max())
    # blocks of the leaves are exact
    K = Gaussian(0.3).block(parts.X)
    tree = parts.joined_tree()
    for begin, end in pairwise(tree.offsets(tree.depth)):
        leaf = tree.perm[begin:end]
        assert_allclose(dense[np.ix_(leaf, leaf)], K[np.ix_(leaf, leaf)], atol=1e-8)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n_parts", "fan_in"), [(2, 32), (4, 32), (4, 2), (8, 4)])
def test_equals_the_joined_matrix(n_parts, fan_in, dtype, rng):
    n = 2000
    parts = make(rng.integers(2**31), n, 3, n_parts, 64, 20, fan_in, dtype)
    whole = parts.joined()
    b = rng.standard_normal((n, 3)).astype(dtype)

    def work(operator, rows):
        predictor = leafwise(operator.matrix, b[rows], operator.top.far_field)
        x = operator.factor(0.5).solve(b[rows])
        return operator.matmul(b[rows]), x, predictor.trees[0].weights

    results = parts.together(work)
    tol = 1e-9 if dtype == np.float64 else 2e-3
    for rows, (Kb, x, _) in zip(parts.rows, results, strict=True):
        assert_allclose(Kb, (whole @ b)[rows], atol=tol * np.abs(Kb).max())
        assert_allclose(x, factor(whole, 0.5).solve(b)[rows], atol=tol * np.abs(x).max())
    weights = np.concatenate([result[2] for result in results])
    assert_allclose(weights, leafwise(whole, b).trees[0].weights, atol=tol * np.abs(weights).max())


@pytest.mark.parametrize("n_parts", [2, 4])
def test_equals_local_compression_with_the_same_samples(n_parts, rng, monkeypatch):
    """Compression in parts is `compress` on the joined tree, sample for sample."""
    drawn = []
    draw = hssvm.hss.nystroem.draw_samples

    def record(*args):
        drawn.append(draw(*args))
        return drawn[-1]

    monkeypatch.setattr(hssvm.hss.nystroem, "draw_samples", record)
    monkeypatch.setattr(hssvm.hss.top, "draw_samples", record)
    n = 1024 * n_parts
    parts = make(rng.integers(2**31), n, 3, n_parts, 64, 12)
    depth, top_depth = parts.matrices[0].tree.depth, parts.top_depth
    n_levels = depth + 1
    by_level = {}
    for level in range(n_levels):  # of a part, leaves first
        blocks = []
        for part in range(n_parts):
            here = drawn[part * n_levels + level]
            blocks.append(np.concatenate([parts.rows[part], parts.outside[part]])[here])
        by_level[top_depth + depth - level] = np.concatenate(blocks)
    for i, here in enumerate(drawn[n_parts * n_levels :]):
        by_level[top_depth - 1 - i] = parts.sample[here]

    monkeypatch.setattr(
        hssvm.hss.nystroem, "draw_samples", lambda tree, level, *rest: by_level[level]
    )
    compressor = NestedNystroem(rtol=0, max_rank=12)
    local = compress(Gaussian(0.3), parts.X, parts.joined_tree(), compressor)
    whole = parts.joined()
    b = rng.standard_normal((n, 2))
    assert [r.tolist() for r in local.ranks] == [r.tolist() for r in whole.ranks]
    assert_allclose(local @ b, whole @ b, atol=1e-9 * np.abs(b).sum())


def test_one_part_is_the_matrix(rng):
    X = rng.standard_normal((1000, 3))
    compressor = NestedNystroem(max_rank=20)
    parts = Parts(Exponential(0.5), X, 1, compressor, 50, seed=7)
    rows = parts.rows[0]
    tree = ClusterTree.build(X[rows], 50, random_state=7)
    H = compress(Exponential(0.5), X[rows], tree, compressor, random_state=7)
    b = rng.standard_normal(1000)
    (product_in_parts,) = parts.together(lambda operator, _: operator.matmul(b))
    assert_allclose(product_in_parts, H @ b, atol=1e-10 * np.abs(b).sum())


def test_sparse_rows(rng):
    X = rng.random((600, 20)) * (rng.random((600, 20)) < 0.2)
    X[:, 0] = rng.random(600)  # no two rows are equal: rounding would decide between them
    X = scipy.sparse.csr_array(X)
    compressor = NestedNystroem(rtol=0, max_rank=15)
    sparse = Parts(Gaussian(0.3), X, 3, compressor, 40, seed=1)
    dense = Parts(Gaussian(0.3), X.toarray(), 3, compressor, 40, seed=1)
    b = rng.standard_normal(600)
    products = [
        parts.together(lambda operator, rows: operator.matmul(b[rows])) for parts in (sparse, dense)
    ]
    for one, other, rows, same in zip(*products, sparse.rows, dense.rows, strict=True):
        assert_array_equal(rows, same)
        assert_allclose(one, other, atol=1e-6)


def test_top_and_roots_can_travel(rng):
    parts = make(3, 400, 2, 3, 20, 10)
    top = parts.tops[0][0]
    c = rng.standard_normal((int(top.ranks[-1]), 2))
    copy = pickle.loads(pickle.dumps(top))
    assert isinstance(copy, TopLevels)
    assert_array_equal(copy.far_field(c), top.far_field(c))
    assert isinstance(pickle.loads(pickle.dumps(parts.roots[0])), SubtreeRoot)


@settings(max_examples=50)
@given(n_parts=st.integers(1, 3000), fan_in=st.sampled_from([2, 8, 32]))
def test_groups_are_a_tree_over_all_parts(n_parts, fan_in):
    depth = (n_parts - 1).bit_length()
    slots = served_slots(n_parts, depth)
    below, nodes = [[part] for part in range(n_parts)], slots
    tiers = group_parts(slots, depth, fan_in)
    for groups in tiers:
        assert max(group.members.size for group in groups) <= fan_in
        assert np.concatenate([group.members for group in groups]).tolist() == [*range(len(below))]
        for group in groups:
            assert group.first_part == below[group.members[0]][0]
            first = group.node << group.depth
            assert (first + group.slots).tolist() == nodes[group.members].tolist()
        below = [[part for m in group.members for part in below[m]] for group in groups]
        nodes = np.array([group.node for group in groups])
    assert below == [list(range(n_parts))]
    assert [tiers[-1][0].level, sum(groups[0].depth for groups in tiers)] == [0, depth]
