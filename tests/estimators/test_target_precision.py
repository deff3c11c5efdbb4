"""Targets and costs in the precision of the rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from hssvm import SVC, SVR, OneClassSVM, svc_path


@pytest.mark.parametrize("n", [50, 2500])
def test_y_beyond_float32(n, rng):
    X, y = rng.standard_normal((n, 2)), np.linspace(-1, 1, n)
    y[0] = 1e39
    with pytest.raises(ValueError, match=r"y has values up to 1e\+39, .* pass X in float64"):
        SVR().fit(X.astype(np.float32), y)
    with pytest.raises(ValueError, match=r"C has values .* pass X in float64"):
        SVC(C=1e39).fit(X.astype(np.float32), y > 0)


@pytest.mark.parametrize("n", [500, 2500])
def test_y_far_from_0_in_float32(n, rng):
    """The difference of two rows is smaller than the rounding error of either."""
    X = rng.uniform(-2, 2, (n, 2)).astype(np.float32)
    y = 1e6 + np.sin(2 * X[:, 0].astype(float))
    single, double = (SVR(C=10, random_state=0).fit(X.astype(t), y) for t in (np.float32, float))
    assert single.fit_report_.status == ["CONVERGED"]
    assert_allclose(single.fit_report_.objective, double.fit_report_.objective, rtol=2e-3)
    assert_allclose(single.intercept_, double.intercept_, atol=0.05)
    assert double.score(X, y) > 0.9
    assert single.certify(X, y).gap[0] <= 2e-3


def test_predictions_far_from_0_have_all_digits(rng):
    X = rng.uniform(-3, 3, (1500, 1)).astype(np.float32)
    y = 1e8 + np.sin(X[:, 0].astype(np.float64))
    assert SVR(epsilon=0.01, random_state=0).fit(X, y).score(X, y) > 0.99


def test_weights_of_novelty_and_paths_beyond_float32(rng):
    X = rng.standard_normal((100, 2)).astype(np.float32)
    with pytest.raises(ValueError, match="sample_weight has values up to 1e\\+39"):
        OneClassSVM().fit(X, sample_weight=np.full(100, 1e39))
    with pytest.raises(ValueError, match="C has values up to 1e\\+39"):
        svc_path(X, X[:, 0] > 0, [1e39])


def test_targets_whose_squares_overflow(rng):
    X = rng.standard_normal((100, 2))
    with pytest.raises(ValueError, match=r"y has values up to .*scale y"):
        SVR().fit(X, X[:, 0] * 1e200)


def test_labels_are_not_targets(rng):
    X = rng.standard_normal((600, 2))
    with pytest.raises(ValueError, match="use SVC for classification"):
        SVR().fit(X, np.where(X[:, 0] > 0, "yes", "no"))
    with pytest.raises(ValueError, match="non-integer values; use SVR"):
        SVC().fit(X[:100], X[:100, 0])
    with pytest.raises(ValueError, match="600 different values in 600 rows; use SVR"):
        SVC().fit(X, np.arange(600))


def test_a_kernel_that_overflows_is_named(rng):
    X = 3 * rng.standard_normal((300, 2))
    with pytest.raises(ValueError, match=r"Polynomial.*lower its degree"):
        SVC(kernel="poly", gamma=1.0, degree=10**6).fit(X, X[:, 0] > 0)
