"""Which rows the cells have: ties, rows of weight 0, and rows that are never reached."""

import time

import numpy as np
import pytest
import scipy.sparse
from helpers.rows import noisy_classes
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from hssvm import SVC, SVR, Cells


def test_the_order_of_equal_rows_does_not_matter(rng):
    """Ten different rows, in many cells: sorted by class, no cell may get the rows of one class."""
    level = rng.integers(0, 10, 4000)
    X, y = level[:, None].astype(float), (rng.random(4000) < 0.5 + 0.04 * level).astype(int)
    best = np.mean(np.maximum(0.5 + 0.04 * level, 0.5 - 0.04 * level))
    for order in (np.argsort(y, kind="stable"), np.argsort(-y, kind="stable")):
        model = SVC(gamma=1.0, approximation=Cells(50, 4), out_of_fold=True, random_state=0)
        model.fit(X[order], y[order])
        assert model.score(X, y) > best - 0.06
        assert abs(model.fit_report_.out_of_fold_score - best) < 0.06
    target = level + rng.standard_normal(4000)
    order = np.argsort(target)
    regression = SVR(C=1, epsilon=0.5, gamma=1.0, approximation=Cells(50, 4), random_state=0)
    regression.fit(X[order], target[order])
    assert_allclose(regression.predict(np.arange(10.0)[:, None]), np.arange(10), atol=0.75)


def test_rows_of_weight_0_change_nothing(rng):
    X, y = noisy_classes(rng, 3000)
    w = rng.uniform(0.5, 2, 3000) * (X[:, 0] < 0.5)
    counts = w > 0
    model = SVC(gamma=0.2, approximation=Cells(200, 3), out_of_fold=True, random_state=0)
    some = model.fit(X[counts], y[counts], w[counts]).decision_function(X)
    everything = model.fit(X, y, w).decision_function(X)
    assert_array_equal(everything, some)
    assert_allclose(model.out_of_fold_decision_[~counts], everything[~counts], atol=1e-9)


@pytest.mark.parametrize("sparse", [False, True])
def test_max_time_is_kept(sparse, rng):
    X, y = rng.standard_normal((40_000, 60)).astype(np.float32), rng.random(40_000) < 0.5
    X = scipy.sparse.csr_array(X) if sparse else X
    model = SVC(approximation=Cells(5000, 4), max_time=0.5)
    start = time.monotonic()
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    assert time.monotonic() - start < 6
