"""On real data: minutes, by hand."""

import numpy as np
import pytest

import hssvm
import hssvm.dask
from hssvm import HSS


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_covtype_on_four_workers(data, client4, seed):
    """Test accuracy within 0.1 points of the same fit on one machine."""
    X, y, X_test, y_test = data("covtype.binary", scale="minmax")
    parameters = {"C": 32.0, "gamma": 1 / (2 * 0.25**2), "random_state": seed}
    model = hssvm.dask.SVC(**parameters, approximation=HSS(), client=client4).fit(X, y)
    accuracy = 100 * np.mean(model.predict(X_test) == y_test)
    print(f"four workers: {accuracy:.2f} %\n{model.summary()}")
    local = hssvm.SVC(**parameters, approximation=HSS()).fit(X, y)
    expected = 100 * np.mean(local.predict(X_test) == y_test)
    print(f"one machine: {expected:.2f} %\n{local.summary()}")
    assert accuracy > expected - 0.1
