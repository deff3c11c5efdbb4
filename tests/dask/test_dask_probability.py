"""Probabilities on a cluster, from models that leave out a fold."""

import dask.array as da
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import log_loss

import hssvm
import hssvm.dask
from hssvm import HSS


def noisy(rng, n, n_classes):
    X = rng.standard_normal((n, 2))
    score = X[:, 0] + X[:, 1] ** 2 + 0.7 * rng.standard_normal(n)
    return X, np.digitize(score, np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1]))


@pytest.mark.parametrize(
    "parameters",
    [{"refine": True}, {"approximation": HSS(n_trees=2)}, {"approximation": HSS(n_trees=1)}],
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_as_good_as_on_one_machine(parameters, n_classes, inside, rng):
    X, y = noisy(rng, 4000, n_classes)
    new, truth = noisy(rng, 4000, n_classes)
    parameters = {**parameters, "probability": "sigmoid", "random_state": 0}
    model = hssvm.dask.SVC(**parameters, client=inside).fit(X, y)
    local = hssvm.SVC(**parameters, multi_class="ovr").fit(X, y)
    found, expected = model.predict_proba(new), local.predict_proba(new)
    assert_allclose(found.sum(axis=1), 1)
    assert log_loss(truth, found) < 1.03 * log_loss(truth, expected)
    score = model.fit_report_.out_of_fold_score
    assert abs(score - np.mean(model.predict(new) == truth)) < 0.03
    chosen = model.predict_set(new, 0.9)
    assert abs(chosen[np.arange(4000), truth].mean() - 0.9) < 0.03
    copy = model.to_local()
    assert_allclose(copy.predict_proba(new), found, atol=1e-6)
    assert_array_equal(copy.predict_set(new), chosen)


@pytest.mark.slow
def test_lazy_on_processes(client, rng):
    X, y = noisy(rng, 4000, 3)
    rows = da.from_array(X, chunks=(1500, 2))
    model = hssvm.dask.SVC(probability="isotonic", random_state=0, client=client)
    model.fit(rows, da.from_array(y, chunks=1500))
    lazy = model.predict_proba(rows)
    assert isinstance(lazy, da.Array)
    assert lazy.shape == (4000, 3)
    assert_allclose(lazy.compute(), model.predict_proba(X), atol=1e-9)
    assert_allclose(np.exp(model.predict_log_proba(rows).compute()), lazy.compute(), atol=1e-9)
    sets = model.predict_set(rows)
    assert sets.dtype == bool
    assert_array_equal(sets.compute(), model.predict_set(X))


def test_a_class_that_no_worker_can_leave_out(inside, rng):
    X, y = noisy(rng, 3000, 2)
    model = hssvm.dask.SVC(probability="sigmoid", random_state=0, client=inside)
    y[X[:, 0].argmax()] = 2
    with pytest.raises(ValueError, match="class '2' has fewer than two rows"):
        model.fit(X, y)
    y[X[:, 0].argmin()] = 2
    weight = np.ones(3000)
    weight[X[:, 0].argmin()] = 0
    with pytest.warns(UserWarning, match="class '2' has fewer; add rows, or use fewer workers"):
        model.fit(X, y, weight)
    with pytest.raises(ValueError, match="has no probabilities"):
        model.predict_proba(X)


def test_only_if_asked_for(inside, rng):
    X, y = noisy(rng, 2500, 2)
    model = hssvm.dask.SVC(
        approximation=HSS(n_trees=1), tol=0.1, random_state=0, client=inside
    ).fit(X, y)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(ValueError, match="predict_set needs"):
        model.predict_set(X)
