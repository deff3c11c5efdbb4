import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from reference import AWKWARD, awkward_points

from hssvm.dask.splits import SAMPLE_PER_PART, TopSplits
from hssvm.hss import ClusterTree
from hssvm.hss.parts import join_trees

KINDS = [*AWKWARD, "categories", "mostly zero"]
cases = {
    "seed": st.integers(0, 2**32 - 1),
    "p": st.integers(1, 5),
    "n_parts": st.integers(1, 9),
    "kind": st.sampled_from(KINDS),
    "dtype": st.sampled_from([np.float32, np.float64]),
}


def points(seed, n, p, kind, dtype):
    rng = np.random.default_rng(seed)
    if kind == "categories":
        X = rng.choice(3, (n, p), p=[0.6, 0.3, 0.1])
    elif kind == "mostly zero":
        X = rng.standard_normal((n, p)) * (rng.random((n, p)) < 0.1)
    else:
        X = awkward_points(rng, n, p, kind)
    return X.astype(dtype)


@settings(max_examples=40)
@given(**cases)
def test_parts_are_of_equal_share(seed, p, n_parts, kind, dtype):
    n = 5000 * n_parts
    X = points(seed, n, p, kind, dtype)
    sample = np.random.default_rng(seed).permutation(n)[: SAMPLE_PER_PART * n_parts]
    splits = TopSplits.make(X[sample], n_parts, seed)
    part = splits.assign(X, np.arange(n), seed)
    sizes = np.bincount(part, minlength=n_parts)
    assert sizes.size == n_parts
    assert np.abs(sizes / 5000 - 1).max() < 0.1


@given(**cases, n=st.integers(0, 300))
def test_routing_is_that_of_a_cluster_tree(seed, n, p, n_parts, kind, dtype):
    X = points(seed, n, p, kind, dtype)
    splits = TopSplits.make(X, n_parts, seed)
    tree = ClusterTree(np.arange(n), splits.depth, splits.directions, splits.thresholds)
    assert_array_equal(splits.slots[splits.route(X)], tree.route(X))
    rows = scipy.sparse.csr_array(X)
    assert_array_equal(splits.route(rows), splits.route(X))


def test_trees_of_wide_parts_join(rng):
    X = scipy.sparse.random_array((4000, 2**20), density=2e-5, format="csr", rng=rng)
    splits = TopSplits.make(X, 3, 0)
    part = splits.route(X)
    trees = [ClusterTree.build(X[part == i], leaf_size=200, min_depth=4) for i in range(3)]
    whole = join_trees(splits.directions, splits.thresholds, trees, splits.slots)
    leaf = whole.route(X)
    for i, tree in enumerate(trees):
        expected = splits.slots[i] * tree.n_leaves + tree.route(X[part == i])
        assert (leaf[part == i] != expected).mean() < 0.01


@given(**cases, n=st.integers(0, 300), data=st.data())
def test_a_row_is_assigned_alike_in_any_partition(seed, n, p, n_parts, kind, dtype, data):
    X = points(seed, n, p, kind, dtype)
    ids = np.arange(n) + data.draw(st.integers(0, 10**12))
    splits = TopSplits.make(X, n_parts, seed)
    expected = splits.assign(X, ids, seed)
    order = np.random.default_rng(seed).permutation(n)
    end = data.draw(st.integers(0, n))
    for rows in (order[:end], order[end:]):
        assert_array_equal(splits.assign(X[rows], ids[rows], seed), expected[rows])
        sparse = scipy.sparse.csr_array(X[rows])
        assert_array_equal(splits.assign(sparse, ids[rows], seed), expected[rows])


@given(**cases, n=st.integers(0, 300))
def test_only_rows_at_a_cut_are_drawn(seed, n, p, n_parts, kind, dtype):
    X = points(seed, n, p, kind, dtype)
    splits = TopSplits.make(X, n_parts, seed)
    drawn = splits.floors < splits.thresholds
    assert_array_equal(splits.tie_shares > 0, drawn)
    if kind == "plain" and n >= 4 * n_parts:
        assert not drawn.any()
        assert_array_equal(splits.assign(X, np.arange(n), seed), splits.route(X))


def test_another_seed_draws_other_rows(rng):
    X = np.ones((1000, 2))
    splits = TopSplits.make(X, 2, 0)
    one, other = (splits.assign(X, np.arange(1000), seed) for seed in (1, 2))
    assert 400 < (one == other).sum() < 600


def test_rounding_does_not_separate_rows(rng):
    X = 1 + np.finfo(np.float64).eps * rng.integers(0, 4, (10_000, 1))
    splits = TopSplits.make(X, 2, 0)
    assert_array_equal(splits.floors, -np.inf)
    assert_array_equal(splits.thresholds, np.inf)
    assert 4000 < splits.assign(X, np.arange(10_000), 0).sum() < 6000


def test_five_parts_have_five_of_eight_slots(rng):
    splits = TopSplits.make(rng.standard_normal((500, 3)), 5, 0)
    assert splits.depth == 3
    assert_array_equal(splits.slots, [0, 1, 2, 4, 6])
    single = np.isinf(splits.thresholds)
    assert_array_equal(np.flatnonzero(single), [4, 5, 6])
    assert_array_equal(splits.directions[single], 0)


def test_one_part_needs_no_cut(rng):
    X = rng.standard_normal((10, 3))
    splits = TopSplits.make(X, 1, 0)
    assert splits.directions.shape == (0, 3)
    assert_array_equal(splits.route(X), np.zeros(10))


def test_groups_stay_together(rng):
    centers = np.array([[0, 0], [0, 9], [30, 0], [30, 9]])
    which = rng.permutation(np.repeat(np.arange(4), 100))
    X = centers[which] + rng.standard_normal((400, 2))
    part = TopSplits.make(X, 4, int(rng.integers(2**31))).route(X)
    assert len(set(zip(which, part, strict=True))) == 4


def test_no_parts_is_an_error(rng):
    with pytest.raises(ValueError, match="at least 1"):
        TopSplits.make(rng.standard_normal((10, 3)), 0, 0)
