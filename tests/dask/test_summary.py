from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

from hssvm.dask.partitions import Partition
from hssvm.dask.summary import describe, merge
from hssvm.training.data.scaling import Scaling


def cut_rows(rng, X, y=None, weight=None, n_partitions=7):
    """Partitions of any size, one of them empty."""
    ends = np.sort(rng.integers(0, X.shape[0] + 1, n_partitions - 1))
    ends = np.concatenate([[0], ends, [X.shape[0]], [X.shape[0]]])
    return [
        Partition.of(X[a:b], None if y is None else y[a:b], None if weight is None else weight[a:b])
        for a, b in pairwise(ends)
    ]


def describe_all(partitions, n_keep=100, classify=False):
    return merge([describe(p, [3, i], n_keep, classify) for i, p in enumerate(partitions)], n_keep)


def uneven(rng, n, dtype, sparse):
    """Features of very different sizes, far from zero, one constant, one that is mostly zero."""
    X = rng.standard_normal((n, 5)) * [1e-3, 1e3, 1, 0, 1] + [0, 50, 1e3, 0.1, 0]
    X[rng.random(n) < 0.7, 4] = 0
    X = X.astype(dtype)
    return scipy.sparse.csr_array(X) if sparse else X


def two_valued(rng, X):
    """The rows, with a last column of two values, one of them rare."""
    X = X.tolil() if scipy.sparse.issparse(X) else X
    X[:, 4] = 0
    X[rng.integers(0, X.shape[0], 20), 4] = 3
    return scipy.sparse.csr_array(X) if scipy.sparse.issparse(X) else X


def by_sklearn(X, kind):
    sparse = scipy.sparse.issparse(X)
    if kind is None:
        return Scaling()
    if kind == "standard":
        standard = StandardScaler(with_mean=not sparse).fit(X)
        return Scaling(None if sparse else standard.mean_, 1 / standard.scale_)
    if sparse:
        return Scaling(None, (1 / MaxAbsScaler().fit(X).scale_).astype(np.float64))
    minmax = MinMaxScaler().fit(X)
    return Scaling(minmax.data_min_.astype(np.float64), minmax.scale_.astype(np.float64))


@pytest.mark.parametrize("kind", [None, "standard", "minmax"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("two", [False, True])
def test_scaling_and_variance_are_those_of_all_rows(kind, dtype, sparse, weighted, two, rng):
    X = uneven(rng, 1000, dtype, sparse)
    X = two_valued(rng, X) if two else X
    weight = rng.integers(0, 4, 1000) + 0.5 if weighted else None
    summary = describe_all(cut_rows(rng, X, weight=weight))
    expected = by_sklearn(X, kind)
    if two and kind == "standard":
        expected.factor[4] = 1 / 3
    scaling = summary.scaling(kind)
    # scikit-learn sums sparse float32 rows in float32 only.
    rtol = 1e-10 if dtype == np.float64 else 1e-4
    for name in ("shift", "factor"):
        value, wanted = getattr(scaling, name), getattr(expected, name)
        assert (value is None) == (wanted is None)
        if value is not None:
            assert value.dtype == np.float64
            assert_allclose(value, wanted, rtol=rtol, atol=1e-12)
    share = np.full(1000, 1e-3) if weight is None else weight / weight.sum()
    rtol = 1e-9 if dtype == np.float64 else 1e-3
    scaled = expected(X).astype(np.float64)
    scaled = scaled.toarray() if sparse else scaled
    mean = share @ scaled.mean(axis=1)
    variance = share @ ((scaled - mean) ** 2).mean(axis=1)
    assert_allclose(summary.scale_gamma(None, scaling), 1 / (X.shape[1] * variance), rtol=rtol)


def test_merging_in_groups_is_merging_at_once(rng):
    X = uneven(rng, 1000, np.float64, False)
    y = rng.integers(0, 5, 1000)
    parts = [describe(p, [0, i], 50, True) for i, p in enumerate(cut_rows(rng, X, y))]
    once = merge(parts, 80)
    groups = merge([merge(parts[:3], 80), merge(parts[3:], 80)], 80)
    assert_array_equal(once.partition_rows, groups.partition_rows)
    assert_array_equal(once.sample.keys, groups.sample.keys)
    assert_array_equal(once.sample.X, groups.sample.X)
    assert_array_equal(once.classes.counts, groups.classes.counts)
    assert_allclose(once.moments.variance, groups.moments.variance, rtol=1e-12, atol=1e-25)


@pytest.mark.parametrize("sparse", [False, True])
def test_the_sample_is_uniform(sparse, rng):
    ends = np.cumsum([0, 1000, 5000, 0, 20000])
    X = np.arange(1.0, 26001.0)[:, None]
    X = scipy.sparse.csr_array(X) if sparse else X
    seed = int(rng.integers(2**31))
    partitions = [Partition.of(X[a:b]) for a, b in pairwise(ends)]
    parts = [describe(p, [seed, i], 2000) for i, p in enumerate(partitions)]
    sample = merge(parts, 10**6).sample.X
    rows = (sample.toarray() if sparse else sample)[:, 0] - 1
    assert np.unique(rows).size == rows.size
    counts = np.histogram(rows, ends[[0, 1, 2, 4]])[0]
    expected = np.array([1000, 5000, 20000]) * 0.1
    assert np.all(np.abs(counts - expected) < 6 * np.sqrt(expected))
    # In random order: the first half is like the second.
    assert abs(np.mean(rows[::2]) - np.mean(rows[1::2])) < 6 * 26000 / np.sqrt(12 * rows.size / 4)
    assert merge(parts, 700).sample.X.shape[0] == 700


def test_small_data_are_their_own_sample(rng):
    X = rng.standard_normal((50, 2))
    sample = describe_all(cut_rows(rng, X)).sample.X
    assert_array_equal(np.sort(sample[:, 0]), np.sort(X[:, 0]))


def test_classes_have_counts_and_weights(rng):
    X = rng.standard_normal((300, 2))
    y = rng.choice(["a", "long", "longer"], 300)
    weight = rng.random(300)
    classes = describe_all(cut_rows(rng, X, y, weight), classify=True).classes
    labels, counts = np.unique(y, return_counts=True)
    assert_array_equal(classes.labels, labels)
    assert_array_equal(classes.counts, counts)
    assert_allclose(classes.weights, [weight[y == label].sum() for label in labels])


def test_the_widest_type_wins(rng):
    X = rng.standard_normal((20, 2))
    partitions = [Partition.of(X[:10].astype(np.float32)), Partition.of(X[10:])]
    summary = describe_all(partitions)
    assert summary.dtype == np.float64
    assert summary.sample.X.dtype == np.float64


def test_partitions_must_be_alike(rng):
    X = rng.standard_normal((10, 2))
    y = np.arange(10)
    for partitions, message in [
        ([Partition.of(X), Partition.of(scipy.sparse.csr_array(X))], "sparse"),
        ([Partition.of(X), Partition.of(X[:, :1])], "n_features"),
        ([Partition.of(X, y), Partition.of(X)], "has_y"),
        ([Partition.of(X, y, y), Partition.of(X, y)], "has_weight"),
    ]:
        with pytest.raises(ValueError, match=f"differ in {message}"):
            describe_all(partitions)
    with pytest.raises(ValueError, match="y is missing"):
        describe_all([Partition.of(X)], classify=True)
    with pytest.raises(ValueError, match="y must contain numbers"):
        describe_all([Partition.of(X, y.astype(str))])
    with pytest.raises(ValueError, match="numbers in some partitions"):
        describe_all([Partition.of(X, y), Partition.of(X, y.astype(str))], classify=True)
    with pytest.raises(ValueError, match="scaling must be"):
        describe_all([Partition.of(X)]).scaling("max")
