"""Targets and costs in the precision of the rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from hssvm import SVC, SVR


@pytest.mark.parametrize("n", [50, 2500])
def test_y_beyond_float32(n, rng):
    X, y = rng.standard_normal((n, 2)), np.linspace(-1, 1, n)
    y[0] = 1e39
    with pytest.raises(ValueError, match=r"y has values up to 1e\+39, .* give X in float64"):
        SVR().fit(X.astype(np.float32), y)
    with pytest.raises(ValueError, match=r"C has values .* give X in float64"):
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
