import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from reference import AWKWARD, awkward_points

from hssvm.hss import ClusterTree, TwoMeansSplitter, compress, estimate_error
from hssvm.hss.hashing import cut_rows, cut_width
from hssvm.hss.samples import draw_samples
from hssvm.kernels import Gaussian

trees = {
    "seed": st.integers(0, 2**32 - 1),
    "n": st.integers(1, 500),
    "p": st.integers(1, 8),
    "leaf_size": st.integers(2, 80),
    "kind": st.sampled_from(AWKWARD),
}


@given(**trees)
def test_nodes_partition_their_parent(seed, n, p, leaf_size, kind):
    X = awkward_points(np.random.default_rng(seed), n, p, kind)
    tree = ClusterTree.build(X, leaf_size, random_state=seed)
    assert_array_equal(np.sort(tree.perm), np.arange(n))
    assert np.diff(tree.offsets(tree.depth)).max() <= leaf_size
    assert tree.depth == 0 or np.diff(tree.offsets(tree.depth - 1)).max() > leaf_size
    for level in range(tree.depth + 1):
        sizes = np.diff(tree.offsets(level))
        assert sizes.sum() == n
        assert sizes.max() - sizes.min() <= 1
        if level:
            assert_array_equal(tree.offsets(level)[::2], tree.offsets(level - 1))


@given(**trees)
def test_cuts_separate_the_halves(seed, n, p, leaf_size, kind):
    X = awkward_points(np.random.default_rng(seed), n, p, kind)
    tree = ClusterTree.build(X, leaf_size, random_state=seed)
    for level in range(tree.depth):
        offsets, halves = tree.offsets(level), tree.offsets(level + 1)
        for node in range(2**level):
            cut = 2**level - 1 + node
            value = X[tree.perm[offsets[node] : offsets[node + 1]]] @ tree.directions[cut]
            middle = halves[2 * node + 1] - offsets[node]
            slack = 1e-12 * (1 + np.abs(X).max() * p)
            assert value[:middle].max() <= tree.thresholds[cut] + slack
            assert value[middle:].min() >= tree.thresholds[cut] - slack


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sparse", [False, True])
def test_points_are_routed_to_their_leaf(dtype, sparse, rng):
    X = rng.standard_normal((3001, 5)).astype(dtype)
    rows = scipy.sparse.csr_array(X) if sparse else X
    tree = ClusterTree.build(rows, leaf_size=100, random_state=rng)
    expected = np.empty(3001, dtype=np.int64)
    expected[tree.perm] = np.repeat(np.arange(tree.n_leaves), np.diff(tree.offsets(tree.depth)))
    # Rounding may move the points next to a cut.
    assert (tree.route(rows) != expected).mean() < 0.01
    assert (tree.route(scipy.sparse.csr_array(X)) != tree.route(X)).mean() < 0.01


def wide_rows(rng, n, p, dtype):
    """Eight groups with words of their own, and words that all have in common."""
    words = rng.integers(0, p, (8, 50))
    group = rng.integers(0, 8, n)
    own = words[group[:, None], rng.integers(0, 50, (n, 20))]
    columns = np.where(rng.random((n, 20)) < 0.7, own, rng.integers(0, p, (n, 20)))
    ends = np.arange(0, 20 * n + 1, 20)
    X = scipy.sparse.csr_array((rng.random(20 * n).astype(dtype), columns.ravel(), ends), (n, p))
    X.sum_duplicates()
    return X, group


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_cuts_of_wide_rows_are_small(dtype, rng):
    X, group = wide_rows(rng, 3000, 2**20, dtype)
    tree = ClusterTree.build(X, leaf_size=100, random_state=rng)
    assert tree.directions.nbytes < 2.5e6
    leaf = np.empty(3000, dtype=np.int64)
    leaf[tree.perm] = np.repeat(np.arange(tree.n_leaves), np.diff(tree.offsets(tree.depth)))
    assert (tree.route(X) != leaf).mean() < 0.01
    assert_array_equal(tree.route(scipy.sparse.csr_matrix(X)), tree.route(X))
    assert_array_equal(tree.route(X[:5].toarray()), tree.route(X[:5]))
    most = [np.bincount(group[leaf == i]).max() / (leaf == i).sum() for i in range(tree.n_leaves)]
    assert np.mean(most) > 0.8
    with pytest.raises(ValueError, match="built on 1048576"):
        tree.route(X[:, : tree.directions.shape[1]])


def test_compression_of_wide_rows_is_that_of_narrow_ones(rng):
    """Errors scatter; but trees that know nothing of the rows are five times worse."""
    n = 2000
    narrow, _ = wide_rows(rng, n, cut_width(scipy.sparse.csr_array((1, 10**6))), np.float64)
    renumbered = rng.choice(2**20, narrow.shape[1], replace=False)
    wide = scipy.sparse.csr_array(
        (narrow.data, renumbered[narrow.indices], narrow.indptr), (n, 2**20)
    )

    def error(X, rows):
        trees = [ClusterTree.build(rows, leaf_size=100, random_state=seed) for seed in range(3)]
        matrices = (compress(Gaussian(1.0), X, tree, rtol=1e-2, random_state=0) for tree in trees)
        return np.mean([estimate_error(H, n_rows=n, random_state=0) for H in matrices])

    of_wide = error(wide, wide)
    assert of_wide < 2 * error(narrow, narrow)
    assert of_wide < 0.5 * error(narrow, narrow[rng.permutation(n)])


def test_hashes_are_those_of_saved_models():
    X = scipy.sparse.csr_array(([1.0, 2, 3, 4], [0, 1, 99_999, 2**31 - 2], [0, 4]), (1, 2**31 - 1))
    hashed = cut_rows(X, cut_width(X))
    assert_array_equal(hashed.indices, [3503, 7361, 4902, 5854])
    assert_array_equal(hashed.data, [1, 2, 3, -4])
    assert cut_rows(X[:, :8000], 8000).shape == (1, 8000)
    assert cut_width(np.ones((1, 10_000))) == 10_000


def test_groups_are_not_cut(rng):
    centers = np.array([[0, 0], [0, 9], [30, 0], [30, 9]])
    which = rng.permutation(np.repeat(np.arange(4), 100))
    X = centers[which] + rng.standard_normal((400, 2))
    tree = ClusterTree.build(X, leaf_size=100, random_state=rng)
    leaves = which[tree.perm].reshape(4, 100)
    assert (leaves == leaves[:, :1]).all()


def test_a_seed_gives_one_tree_on_any_number_of_threads(rng):
    from threadpoolctl import threadpool_limits

    X = rng.standard_normal((5000, 4))
    trees = []
    for n_threads in (1, 2, 3):
        with threadpool_limits(n_threads):
            trees.append(ClusterTree.build(X, leaf_size=64, random_state=7))
    for tree in trees[1:]:
        assert_array_equal(tree.perm, trees[0].perm)
        assert_array_equal(tree.directions, trees[0].directions)
    other = ClusterTree.build(X, leaf_size=64, random_state=8)
    assert not np.array_equal(other.perm, trees[0].perm)


def test_splitter_parameters_matter(rng):
    X = rng.standard_normal((2000, 4))
    few = ClusterTree.build(X, 64, TwoMeansSplitter(n_samples=8, n_starts=1, n_iterations=1))
    many = ClusterTree.build(X, 64)
    assert not np.array_equal(few.perm, many.perm)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ClusterTree.build(np.empty((0, 2))), "no rows"),
        (lambda: ClusterTree.build(np.array([[0.0], [np.nan]])), "first in row 1"),
        (
            lambda: ClusterTree.build(scipy.sparse.csr_array([[0.0, 1.0], [0, 2], [np.inf, 0]])),
            "first in row 2",
        ),
        (lambda: ClusterTree.build(np.ones((5, 2)), leaf_size=1), "leaf_size must be at least 2"),
        (lambda: ClusterTree.build(np.ones((5, 2))).route(np.ones((1, 3))), "built on 2"),
    ],
)
def test_errors(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@given(**trees, n_samples=st.integers(0, 60))
def test_samples_lie_outside_and_in_equal_shares(seed, n, p, leaf_size, kind, n_samples):
    rng = np.random.default_rng(seed)
    tree = ClusterTree.build(awkward_points(rng, n, p, kind), leaf_size, random_state=seed)
    position = np.empty(n, dtype=int)
    position[tree.perm] = np.arange(n)
    for level in range(1, tree.depth + 1):
        samples = draw_samples(tree, level, n_samples, rng)
        assert samples.shape == (2**level, n_samples)
        node = np.searchsorted(tree.offsets(level), position[samples], side="right") - 1
        # Level of the ancestor whose sibling a sample lies in: where the paths part.
        parted = node ^ np.arange(2**level)[:, None]
        assert (parted > 0).all()
        ancestor = level - np.floor(np.log2(parted)).astype(int)
        for row in ancestor:
            counts = np.bincount(row, minlength=level + 1)[1:]
            assert counts.max(initial=0) - counts.min(initial=n_samples) <= 1


def test_wide_rows_with_spare_room(rng):
    X, *_ = wide_rows(rng, 300, 20_000, np.float64)
    spare = X.copy()
    spare.data, spare.indices = (np.append(a, a[:7]) for a in (X.data, X.indices))
    width = cut_width(X)
    assert_array_equal(cut_rows(spare, width).toarray(), cut_rows(X, width).toarray())
