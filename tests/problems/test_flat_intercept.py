"""Intercepts where a whole interval is best, and rounding of the costs must not choose its end."""

import numpy as np
import pytest
from helpers.differences import Box, Comparison
from helpers.parts_in_threads import sums_in_threads
from numpy.testing import assert_allclose
from sklearn import svm
from sklearn.metrics import balanced_accuracy_score
from sklearn.metrics.pairwise import rbf_kernel

from hssvm import SVC
from hssvm.problems.weighted_quantiles import SORTED_POINTS, weighted_quantiles


@pytest.mark.filterwarnings("ignore:Nearly all rows are support vectors")
@pytest.mark.parametrize("n", [600, 3000])
def test_balanced_classes_with_small_C_in_float32(n, rng):
    """All rows are at their bounds: between the two classes no intercept is better than another."""
    for seeded in rng.spawn(5):
        y = np.arange(n) < seeded.integers(n // 20, n // 4)
        X = seeded.standard_normal((n, 4)) + 1.2 * y[:, None]
        single, double = (
            SVC(C=1e-4, class_weight="balanced", random_state=0).fit(X.astype(dtype), y)
            for dtype in (np.float32, np.float64)
        )
        scores = [balanced_accuracy_score(y, model.predict(X)) for model in (single, double)]
        assert min(scores) > 0.8
        assert_allclose(*scores, atol=0.01)
        assert_allclose(single.intercept_, double.intercept_, atol=1e-5)


@pytest.mark.filterwarnings("ignore:Nearly all rows are support vectors")
def test_the_middle_is_what_libsvm_chooses_without_rounding_errors(rng):
    """A coefficient of LIBSVM misses its bound by a rounding error, which moves its intercept to an
    end of the interval: all rows are of one class there."""
    y = np.arange(200) < rng.integers(10, 100)
    X = rng.standard_normal((200, 4)) + 1.2 * y[:, None]
    parameters = {"C": 10.0 ** rng.uniform(-5, -3), "gamma": 0.2, "class_weight": "balanced"}
    models = (
        SVC(scaling=None, **parameters).fit(X, y),
        svm.SVC(tol=1e-6, **parameters).fit(X, y),
    )
    z = np.zeros((2, 200))
    for row, model in zip(z, models, strict=True):
        row[model.support_] = model.dual_coef_[0]
    K, cost = rbf_kernel(X, gamma=0.2), parameters["C"] * models[1].class_weight_[1 * y]
    problem = Box.of_classes(K, np.where(y, 1.0, -1.0), cost)
    intercepts = [model.intercept_[0] for model in models]
    compared = Comparison(problem, z, intercepts, K, np.ones(200), 1.0)
    assert compared.same_but_intercept
    assert compared.flat
    compared.assert_middle()


@pytest.mark.parametrize("n_parts", [1, 3])
@pytest.mark.parametrize("n", [50, 3 * SORTED_POINTS])
@pytest.mark.parametrize("side", [1, -1])
def test_the_middle_of_an_interval_that_is_flat_to_rounding(n_parts, n, side, rng):
    """Also where it spans some points whose weights are smaller than the rounding error."""
    points = np.concatenate([rng.uniform(-2, -1, n), [0.1, 0.2], rng.uniform(1, 2, n)])
    points[[0, -1]] = -1, 1
    weights = np.concatenate([np.ones(n), [1e-8 * n] * 2, np.ones(n)])
    mass, owner = np.array([n * (1 + side * 2e-7)]), rng.integers(0, n_parts, points.size)

    def work(communicator):
        own = owner == communicator.rank
        return weighted_quantiles([points[own]], [weights[own]], mass, communicator, rtol=4e-7)

    for found in sums_in_threads(n_parts, work):
        assert_allclose(found, 0, atol=1e-12)
