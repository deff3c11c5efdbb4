"""Normal scores, beside ranks of SciPy and interpolation of NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm, rankdata

from hssvm.training.data.quantiles import (
    MAX_KNOTS,
    are_quantiles,
    quantiles_of,
    to_normal_scores,
)

DTYPES = [np.float32, np.float64]


def scores_by_rank(X):
    """Quantiles of the middle of the ranks, as in the definition; -1/2 and 1/2 for two values."""
    scores = norm.ppf((rankdata(X, "average", axis=0) - 0.5) / len(X))
    for j, column in enumerate(X.T):
        if np.unique(column).size == 2:
            scores[:, j] = (column == column.max()) - 0.5
    return scores


@st.composite
def tables(draw, max_rows=60):
    """Rows with ties, in any order, and new rows around them."""
    dtype = draw(st.sampled_from(DTYPES))
    p = draw(st.integers(1, 3))
    numbers = st.one_of(
        st.integers(-3, 3).map(float), st.floats(-1e6, 1e6, width=32, allow_subnormal=False)
    )
    X, new = (
        draw(arrays(dtype, st.tuples(st.integers(1, n), st.just(p)), elements=numbers))
        for n in (max_rows, 20)
    )
    return X, new


def many_values(rng, n, dtype):
    """Skewed, with frequent values, and with a gap."""
    X = rng.lognormal(0, 2, (n, 4))
    X[: n // 2, 1] = 0.0
    X[: n // 3, 2] = np.median(X[:, 2])
    X[:, 3] = np.round(X[:, 3], 1) + 1e3 * (X[:, 3] > 1)
    return rng.permuted(X, axis=0).astype(dtype)


@given(tables())
def test_few_values_have_the_scores_of_their_ranks(rows):
    X, _ = rows
    found = to_normal_scores(X, quantiles_of(X))
    assert found.dtype == X.dtype
    assert_allclose(found, scores_by_rank(X), atol=1e-6 if X.dtype == np.float32 else 1e-12)


@given(tables())
def test_the_map_is_monotone_and_bounded(rows):
    X, new = rows
    quantiles = quantiles_of(X)
    every = np.sort(np.concatenate([X, new, X - 1e7, X + 1e7]), axis=0)
    found = to_normal_scores(every.astype(X.dtype), quantiles)
    assert (np.diff(found, axis=0) >= 0).all()
    lowest, highest = quantiles[1, :, 0], quantiles[1, :, -1]
    assert_array_equal(found[0], lowest.astype(X.dtype))
    assert_array_equal(found[-1], highest.astype(X.dtype))


@given(tables())
def test_new_values_are_interpolated(rows):
    X, new = rows
    quantiles = quantiles_of(X)
    found = to_normal_scores(new.astype(np.float64), quantiles)
    for j in range(X.shape[1]):
        expected = np.interp(new[:, j].astype(np.float64), *quantiles[:, j])
        assert_allclose(found[:, j], expected, atol=1e-9)


@pytest.mark.parametrize("dtype", DTYPES)
def test_many_values_have_about_the_scores_of_their_ranks(dtype, rng):
    X = many_values(rng, int(rng.integers(1000, 5000)), dtype)
    quantiles = quantiles_of(X)
    assert quantiles.shape[2] <= MAX_KNOTS
    expected = scores_by_rank(X)
    error = np.abs(to_normal_scores(X, quantiles) - expected)
    assert 0 < error.max() <= 1.001 * np.ptp(expected) / (MAX_KNOTS / 2 - 1)
    for j, (values, scores) in enumerate(quantiles.swapaxes(0, 1)):
        rows = np.searchsorted(X[:, j], values, sorter=np.argsort(X[:, j]))
        known = np.argsort(X[:, j])[rows]
        assert_array_equal(X[known, j], values)
        assert_allclose(scores, expected[known, j], atol=1e-12)
        assert_array_equal(values[[0, -1]], [X[:, j].min(), X[:, j].max()])


def test_a_constant_feature_has_score_0(rng):
    X = np.full((int(rng.integers(1, 10)), 1), rng.standard_normal())
    new = rng.standard_normal((5, 1))
    assert_array_equal(to_normal_scores(new, quantiles_of(X)), np.zeros((5, 1)))


def test_rows_of_any_layout(rng):
    X = many_values(rng, 700, np.float64)
    quantiles = quantiles_of(X)
    expected = to_normal_scores(X, quantiles)
    assert_array_equal(to_normal_scores(np.asfortranarray(X), quantiles), expected)
    assert_array_equal(to_normal_scores(X[::2], quantiles), expected[::2])
    assert to_normal_scores(X[:0], quantiles).shape == (0, 4)


@given(tables())
def test_what_quantiles_are(rows):
    quantiles = quantiles_of(rows[0])
    p = quantiles.shape[1]
    assert are_quantiles(quantiles, p)
    assert not are_quantiles(quantiles, p + 1)
    assert not are_quantiles(quantiles[:1], p)
    assert not are_quantiles(quantiles[..., :0], p)
    assert not are_quantiles(quantiles.astype(np.float32), p)
    assert not are_quantiles(np.where(quantiles == quantiles.max(), np.nan, quantiles), p)
    if np.diff(quantiles).any():
        assert not are_quantiles(-quantiles, p)
