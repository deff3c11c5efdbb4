"""Cross-validation on a cluster."""

import numpy as np
import pytest
from helpers.rows import waves_and_bowls
from sklearn.model_selection import cross_val_score

import hssvm
import hssvm.dask
from hssvm import HSS
from hssvm.estimators.inputs.parameters import InvalidParameterError
from hssvm.exceptions import DataWarning


@pytest.mark.filterwarnings("ignore:The best C")
@pytest.mark.parametrize("n_classes", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_scores_are_those_of_fits_without_the_fold(n_classes, inside, rng):
    X, y = waves_and_bowls(rng, 2000)
    y = np.where(rng.random(2000) < 0.1, "in", y)
    if n_classes == 3:
        y = np.where(X[:, 0] > 1, "far", y)
    Cs = [10.0, 0.01, 1.0]
    parameters = {"approximation": HSS(n_trees=1), "tol": 0.02, "random_state": 0}
    model = hssvm.dask.SVCCV(Cs, [0.3, "scale"], **parameters, client=inside)
    fresh = list(vars(model))
    model.fit(X, y)
    assert model.scores_.shape == (2, 3, 5)
    for c, C in enumerate(Cs):
        local = hssvm.SVC(C, gamma=0.3, multi_class="ovr", **parameters)
        expected = cross_val_score(local, X, y, cv=5)
        error = (expected.std() + model.scores_[0, c].std()) / 5**0.5
        assert abs(expected.mean() - model.scores_[0, c].mean()) < 3 * error + 0.01
    g, c = divmod(model.scores_.mean(axis=2).argmax(), 3)
    assert Cs[c] == model.C_
    assert model.best_score_ == model.scores_[g, c].mean()
    assert model.gamma_ == (0.3 if g == 0 else model.kernel_.gamma)
    assert model.best_params_ == {"C": model.C_, "gamma": model.gamma_}
    set_by_fit = {name for name in vars(model) if not name.startswith("_")} - set(fresh)
    assert all(name.endswith("_") for name in set_by_fit)
    alone = hssvm.dask.SVC(model.C_, gamma=model.gamma_, **parameters, client=inside).fit(X, y)
    np.testing.assert_array_equal(alone.decision_function(X), model.decision_function(X))
    local = model.to_local()
    assert (local.C, local.gamma) == (model.C_, [0.3, "scale"][g])
    np.testing.assert_allclose(local.decision_function(X), model.decision_function(X), atol=1e-6)


def test_kernels_without_a_gamma(inside, rng):
    X, y = waves_and_bowls(rng, 1000)
    parameters = {"approximation": HSS(n_trees=1), "tol": 0.1, "random_state": 0}
    model = hssvm.dask.SVCCV([1.0], kernel="linear", **parameters, client=inside).fit(X, y)
    assert model.best_params_ == {"C": 1.0}
    assert np.isnan(model.gamma_)


def test_warnings_and_errors(inside, rng):
    X, y = waves_and_bowls(rng, 3000)
    with pytest.warns(DataWarning, match=r"best C is at the edge of Cs, .* add larger values\.$"):
        hssvm.dask.SVCCV(
            [1e-4, 1e-3, 1e-1], approximation=HSS(n_trees=1), random_state=0, client=inside
        ).fit(X, y)
    with pytest.raises(InvalidParameterError, match="Cs must be a non-empty sequence"):
        hssvm.dask.SVCCV([], client=inside).fit(X, y)
    with pytest.raises(InvalidParameterError, match="gammas must be"):
        hssvm.dask.SVCCV(gammas=["wide"], client=inside).fit(X, y)
