"""Warnings name the line that fits."""

import warnings

import numpy as np
import pytest

from hssvm import SVC, SVCCV, SVR
from hssvm.exceptions import DataWarning


@pytest.mark.parametrize("model", [SVC(), SVCCV([1.0], gammas=["scale"], scaling=None), SVR()])
def test_a_warning_names_the_file_of_the_caller(model, rng):
    X = rng.standard_normal((600, 4)) * [1, 1, 1, 1e4]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, X[:, 0] > 0)
    found = [warning for warning in caught if warning.category is DataWarning]
    assert found
    assert {warning.filename for warning in found} == {__file__}


def test_one_cause_is_one_warning(rng):
    X = rng.standard_normal((2000, 4)) * [1, 1, 1, 1e4]
    with pytest.warns(DataWarning) as caught:
        SVC(C=1e-3).fit(X, X[:, 0] > 0)
    assert [str(w.message)[:12] for w in caught] == ["The features"]


def test_a_grid_of_two_features_is_not_one_of_components():
    x, t = (a.ravel() for a in np.meshgrid(np.linspace(0, 1, 40), np.linspace(0, 1e4, 40)))
    X = np.column_stack([x, t])
    inside = (x - 0.5) ** 2 + (t / 1e4 - 0.5) ** 2 < 0.1
    with pytest.warns(DataWarning, match="different scales"):
        SVC().fit(X, inside)
    assert SVCCV(Cs=[10.0], gammas=["scale"], random_state=0).fit(X, inside).score(X, inside) > 0.95


def test_kernels_without_gamma_are_not_called_narrow():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        SVC(kernel="linear").fit(np.eye(600), np.arange(600) % 2)
    assert not any("lower gamma, or leave it" in str(warning.message) for warning in caught)
