from concurrent.futures import ThreadPoolExecutor

import pytest
from helpers.rows import noisy_classes
from numpy.testing import assert_array_equal

from hssvm import HSS, SVC


@pytest.mark.parametrize(
    "parameters",
    [
        {"probability": "sigmoid"},
        {"approximation": HSS(n_trees=2, leaf_size=64), "prediction": "compressed"},
    ],
)
def test_threads_that_predict_at_once_do_not_disturb_each_other(parameters, rng):
    """With one model, and with different numbers of rows."""
    X, y = noisy_classes(rng, 2100)
    model = SVC(random_state=0, **parameters).fit(X, y)
    assert (model._predictor().n_leaves > 1) == ("approximation" in parameters)
    sizes = [1, 7, 300, 1500, 2, 900]
    expected = [model.decision_function(X[:n]) for n in sizes]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda n: model.decision_function(X[:n]), sizes * 20))
    for values, wanted in zip(found, expected * 20, strict=True):
        assert_array_equal(values, wanted)
