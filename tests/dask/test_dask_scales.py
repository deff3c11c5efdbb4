"""Learned scales on a cluster."""

import dask.array as da
import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose
from test_summary import cut_rows, describe_all

import hssvm
import hssvm.dask
from hssvm import HSS, Cells
from hssvm.dask.plan import Plan
from hssvm.kernels import Exponential, Gaussian
from hssvm.training.data.widths import median_gamma, scale_gamma
from hssvm.training.scales.learn import learn_scales, max_sample_rows, sample_rows
from hssvm.training.tasks import class_targets


def one_relevant(rng, n):
    """The class depends on the last feature only; features of all sizes."""
    X = rng.standard_normal((n, 6))
    return X * np.logspace(2, -2, 6) + 5, np.where(np.abs(X[:, 5]) < 0.6, "in", "out")


@pytest.mark.parametrize("approximation", [Cells(n_trees=1), HSS(n_trees=1, leaf_size=256)])
def test_a_classifier_learns_scales(approximation, client, rng):
    X, y = one_relevant(rng, 5000)
    weight = rng.uniform(0.5, 2, 5000)
    new, new_y = one_relevant(rng, 1000)
    parts = [da.from_array(a, chunks=(1000, 6)[: a.ndim]) for a in (X, y, weight)]
    model = hssvm.dask.SVC(
        10, scaling="learned", approximation=approximation, random_state=0, client=client
    ).fit(*parts)
    assert model.score(new, new_y) > 0.95
    assert model.feature_importances_.argmax() == 5
    assert model.fit_report_.n_scale_steps > 0
    assert model.fit_report_.n_scale_rows == 5000
    assert "scales     learned from 5,000 rows" in model.summary()
    local = model.to_local()
    assert_allclose(local.decision_function(new), model.decision_function(new), atol=1e-6)
    assert np.array_equal(local.feature_importances_, model.feature_importances_)
    assert_allclose(local.feature_factor_ * X.std(axis=0), model._feature_scales, rtol=1e-6)


def test_a_regression_learns_scales(client, rng):
    X, y = one_relevant(rng, 3000)
    model = hssvm.dask.SVR(10, scaling="learned", random_state=0, client=client)
    model.fit(da.from_array(X, chunks=(1000, 6)), da.from_array((y == "in") * 1.0, chunks=1000))
    assert model.feature_importances_.argmax() == 5
    assert not hasattr(hssvm.dask.SVR(), "feature_importances_")


def test_scales_are_those_of_the_sample(rng):
    X, y = one_relevant(rng, 900)
    weight = rng.integers(0, 3, 900).astype(float)
    summary = describe_all(cut_rows(rng, X, y, weight), 10**6, classify=True)
    layout = Plan.of(summary, 1, 5, "learned", kernel=Gaussian).layout
    sample = summary.sample
    rows = sample_rows(sample.weight, 5, max_sample_rows(0))
    standard = (sample.X[rows] - X.mean(axis=0)) / X.std(axis=0)
    targets = class_targets((sample.y[rows] == "out").astype(int), 2)
    expected = learn_scales(standard, targets, sample.weight[rows], Gaussian, seed=5)
    assert_allclose(layout.scales.factors, expected.factors, rtol=1e-3)
    scaled = layout.scaling(X)
    assert layout.scale_gamma == pytest.approx(scale_gamma(Gaussian, scaled, weight))
    found = summary.scale_gamma(Exponential, layout.scaling)
    assert found == pytest.approx(median_gamma(Exponential, scaled, weight), rel=0.1)


@pytest.mark.parametrize("kernel", ["rbf", "exponential"])
@pytest.mark.parametrize("kind", ["quantiles", "learned-quantiles"])
def test_a_sample_of_all_rows_has_the_quantiles_of_a_local_fit(kind, kernel, client, rng):
    X, y = one_relevant(rng, 2000)
    X = np.exp((X - 5) / X.std(axis=0)).astype(np.float32)
    chunks = da.from_array(X, chunks=(500, 6)), da.from_array(y, chunks=500)
    parameters = {"C": 10, "kernel": kernel, "scaling": kind, "random_state": 0}
    model = hssvm.dask.SVC(**parameters, refine=True, client=client).fit(*chunks)
    local = hssvm.SVC(**parameters).fit(X, y)
    gathered = model.to_local()
    assert np.array_equal(gathered.feature_quantiles_, local.feature_quantiles_)
    assert model.kernel_.gamma == pytest.approx(local.kernel_.gamma, rel=0.1)
    assert_allclose(gathered.decision_function(X), model.decision_function(X), atol=1e-3)
    assert model.score(X, y) == pytest.approx(local.score(X, y), abs=0.03)
    if kind == "quantiles":
        assert gathered.feature_factor_ is None
    else:
        assert gathered.feature_importances_.argmax() == 5


def test_quantiles_of_sparse_rows_are_refused(client, rng):
    X, y = one_relevant(rng, 200)
    rows = da.from_array(X, chunks=(100, 6)).map_blocks(scipy.sparse.csr_matrix)
    with pytest.raises(ValueError, match="scaling='standard'"):
        hssvm.dask.SVC(scaling="quantiles", client=client).fit(rows, da.from_array(y, chunks=100))


def test_errors_say_what_to_do(client, rng):
    X, _ = one_relevant(rng, 200)
    with pytest.raises(ValueError, match="set scaling='standard'"):
        hssvm.dask.OneClassSVM(scaling="learned", client=client).fit(X)
