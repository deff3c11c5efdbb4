"""The rows that explanations compare with."""

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal

from hssvm import SVC, SVR, OneClassSVM
from hssvm.estimators.models import background as module
from hssvm.estimators.models.background import (
    N_BACKGROUND,
    choose_background,
    pack_background,
    target_strata,
    unpack_background,
)
from hssvm.training.data.scaling import Scaling


def row_numbers(background, X):
    """Indices of the background among the rows."""
    return [int(np.flatnonzero((row == X).all(axis=1))[0]) for row in background]


@pytest.mark.parametrize("csr", [False, True], ids=["dense", "sparse"])
def test_a_background_consists_of_rows_of_all_strata(csr, rng):
    X = rng.standard_normal((5000, 4)) * (rng.random((5000, 4)) < 0.8)
    strata = np.digitize(X[:, 0], [-2.2, 0.0])  # the first is rare
    weight = rng.random(5000) * (rng.random(5000) < 0.9)
    given = scipy.sparse.csr_array(X) if csr else X
    rows, share = choose_background(given, strata, weight, Scaling(), 3)
    assert scipy.sparse.issparse(rows) == csr
    rows = rows.toarray() if csr else rows
    places = row_numbers(rows, X)
    assert (weight[places] > 0).all()
    assert N_BACKGROUND - 5 <= len(rows) <= N_BACKGROUND + 2
    total = np.bincount(strata, weight) / weight.sum()
    assert_allclose(np.bincount(strata[places], share), total, rtol=1e-10)
    again = choose_background(given, strata, weight, Scaling(), 3)[1]
    assert_array_equal(share, again)


def test_means_over_the_background_are_about_those_over_all_rows(rng):
    """More so than those over random rows."""
    X = rng.standard_normal((3000, 2)) + 6 * rng.integers(0, 3, (3000, 2))
    ones = np.ones(3000)
    chosen = [choose_background(X, np.zeros(3000, int), ones, Scaling(), i) for i in range(20)]
    errors = [share @ rows - X.mean(axis=0) for rows, share in chosen]
    draws = [X[rng.choice(3000, 20)].mean(axis=0) - X.mean(axis=0) for _ in range(200)]
    assert np.abs(errors).mean() < np.abs(draws).mean() / 2


def test_clusters_are_those_of_the_scaled_rows(rng):
    """The second feature has four clusters, but its numbers are small."""
    X = np.c_[1e4 * rng.integers(0, 2, 400), 1e-3 * rng.integers(0, 4, 400)]
    ones, strata = np.ones(400), np.zeros(400, int)
    rows, share = choose_background(X, strata, ones, Scaling.of(X, "standard"), 0)
    assert_array_equal(np.unique(np.round(rows[:, 1] * 1e3)), np.arange(4))
    assert len(rows) == 8 and share.sum() == pytest.approx(1)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_few_rows_and_equal_rows(n):
    rows, share = choose_background(np.zeros((n, 2)), np.zeros(n, int), np.ones(n), Scaling(), 0)
    assert_array_equal(rows, np.zeros((1, 2)))
    assert_array_equal(share, [1.0])


def test_wide_sparse_rows_are_not_made_dense(rng, monkeypatch):
    monkeypatch.setattr(module, "MAX_CENTER_VALUES", 10)
    X = scipy.sparse.random_array((300, 50), density=0.1, random_state=rng, format="csr")
    rows, share = choose_background(X, np.zeros(300, int), np.ones(300), Scaling(), 0)
    assert share.sum() == pytest.approx(1) and 1 < rows.shape[0] <= N_BACKGROUND


def test_many_classes_are_all_there(rng):
    X, y = rng.standard_normal((400, 3)), np.arange(400) % 50
    model = SVC().fit(X, y)
    assert model.background_.shape[0] == 50
    assert_array_equal(np.sort(y[row_numbers(model.background_, X)]), np.arange(50))


def test_targets_are_represented_by_quantiles(rng):
    y = np.sort(rng.exponential(size=1000))
    strata = target_strata(y)
    assert (np.diff(strata) >= 0).all()
    assert_array_equal(np.bincount(strata), np.full(5, 200))
    assert_array_equal(target_strata(np.ones(7)), np.zeros(7))
    assert np.unique(target_strata(y > 1)).size == 2  # booleans are numbers, too
    X = np.c_[y, rng.standard_normal(1000)]
    model = SVR().fit(X, y)
    chosen = np.bincount(strata[row_numbers(model.background_, X)], minlength=5)
    assert chosen.min() > 0


def test_the_background_is_in_units_of_the_features(rng):
    X = 100 + 10 * rng.standard_normal((200, 3))
    for model in (SVC(scaling="standard"), OneClassSVM(scaling="minmax")):
        model.fit(X, X[:, 0] > 100)
        row_numbers(model.background_, X)
        assert model.background_weight_.sum() == pytest.approx(1)
    seeds = [SVC(random_state=seed).fit(X, X[:, 0] > 100).background_ for seed in (1, 1)]
    assert_array_equal(*seeds)


@pytest.mark.parametrize("csr", [False, True], ids=["dense", "sparse"])
def test_damaged_backgrounds_are_refused(csr, rng):
    X = rng.standard_normal((3, 2))
    X, weight = scipy.sparse.csr_array(X) if csr else X, np.array([0.5, 0.25, 0.25])
    arrays = pack_background(X, weight)
    found, _ = unpack_background(dict(arrays), 2)
    assert_array_equal(found.toarray() if csr else found, X.toarray() if csr else X)
    values = "background_data" if csr else "background"
    damaged = [
        {"background_weight": np.array([0.5, 0.25])},
        {"background_weight": np.array([0.5, 0.25, 0.2])},
        {"background_weight": np.array([1.5, 0.25, -0.75])},
        {"background_weight": weight.astype(np.float32)},
        {values: np.full_like(arrays[values], np.nan)},
        {values: arrays[values].astype(np.int64)},
    ]
    for change in damaged:
        with pytest.raises(ValueError, match="background"):
            unpack_background({**arrays, **change}, 2)
    with pytest.raises(ValueError, match="background"):
        unpack_background(dict(arrays), 1)
    assert unpack_background({}, 2) == (None, None)
    assert pack_background(None, None) == {}
