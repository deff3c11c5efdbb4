"""Fits on the exact kernel, which the workers solve together."""

import numpy as np
import pytest
import scipy.sparse
from helpers.rows import waves_and_bowls
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning

import hssvm
import hssvm.dask
from hssvm import HSS

TIGHT = {"tol": 1e-6, "refine": True, "random_state": 0}


def same_model(model, local, X, *targets):
    """The same solution as on one machine, and the same certificate."""
    report = model.fit_report_
    assert report.exact_kernel
    assert set(report.status) == {"CONVERGED"}
    assert_allclose(report.objective, local.fit_report_.objective, rtol=1e-6)
    assert_allclose(model.decision_function(X), local.decision_function(X), atol=2e-3)
    certificate, expected = model.certify(X, *targets), local.certify(X, *targets)
    assert certificate.n_rows == expected.n_rows == X.shape[0]
    assert_allclose(certificate.dual, expected.dual, rtol=1e-6)
    assert (certificate.gap <= 1e-6).all()
    copy = model.to_local()
    assert_allclose(copy.decision_function(X), model.decision_function(X), atol=1e-9)
    assert_allclose(copy.certify(X, *targets).gap, certificate.gap, atol=1e-9)


@pytest.mark.parametrize("sparse", [False, True])
def test_classification(sparse, inside, rng):
    X, y = waves_and_bowls(rng, 4000)
    w = rng.uniform(0.5, 2, 4000)
    if sparse:
        X = scipy.sparse.csr_array(np.where(rng.random(X.shape) < 0.3, 0, X))
    parameters = {"C": 5, "gamma": 0.4, "class_weight": "balanced", **TIGHT}
    model = hssvm.dask.SVC(**parameters, client=inside).fit(X, y, w)
    same_model(model, hssvm.SVC(**parameters).fit(X, y, w), X, y, w)
    assert_allclose(model.score(X, y), np.mean(model.predict(X) == y))


def test_on_processes(client, rng):
    X, y = waves_and_bowls(rng, 4000)
    model = hssvm.dask.SVC(C=5, **TIGHT, client=client).fit(X, y)
    same_model(model, hssvm.SVC(C=5, **TIGHT).fit(X, y), X, y)


def test_three_classes(inside, rng):
    X = rng.standard_normal((3000, 2))
    y = np.digitize(X[:, 0] + X[:, 1] ** 2, [0, 1])
    model = hssvm.dask.SVC(C=3, **TIGHT, client=inside).fit(X, y)
    same_model(model, hssvm.SVC(C=3, multi_class="ovr", **TIGHT).fit(X, y), X, y)


def test_regression(inside, rng):
    X = rng.uniform(-2, 2, (3000, 2))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(3000)
    model = hssvm.dask.SVR(C=3, epsilon=0.1, **TIGHT, client=inside).fit(X, y)
    local = hssvm.SVR(C=3, epsilon=0.1, **TIGHT).fit(X, y)
    assert_allclose(model.predict(X), local.predict(X), atol=2e-3)
    assert_allclose(model.certify(X, y).dual, local.certify(X, y).dual, rtol=1e-6)


def test_novelty(inside, rng):
    X = rng.standard_normal((3000, 3)).astype(np.float32)
    parameters = {"nu": 0.2, "gamma": 0.3, "refine": True, "random_state": 0}
    model = hssvm.dask.OneClassSVM(**parameters, client=inside).fit(X)
    local = hssvm.OneClassSVM(**parameters).fit(X)
    certificate = model.certify(X)
    assert (certificate.gap <= 1e-3).all()
    assert_allclose(certificate.dual, local.certify(X).dual, rtol=1e-3)


def test_a_sample_certifies_a_compressed_model(inside, rng):
    X, y = waves_and_bowls(rng, 4000)
    model = hssvm.dask.SVC(approximation=HSS(n_trees=1), random_state=0, client=inside).fit(X, y)
    assert not model.fit_report_.exact_kernel
    everything, sample = model.certify(X, y), model.certify(X, y, n_rows=1500)
    assert 1500 <= sample.n_rows < 1600
    margin = 2 * (sample.high - sample.low)
    assert (np.abs(sample.gap - everything.gap) <= margin).all()
    with pytest.raises(ValueError, match="X has 3999 rows, but the model was trained on 4000"):
        model.certify(X[1:], y[1:])


@pytest.mark.slow
def test_auto_refines_what_a_single_machine_does(inside, rng):
    X, y = waves_and_bowls(rng, 4000)
    assert hssvm.dask.SVC(client=inside).fit(X, y).fit_report_.exact_kernel
    assert hssvm.dask.SVC(client=inside).fit(X[:1500], y[:1500]).fit_report_.exact_kernel
    assert not hssvm.dask.SVC(refine=False, client=inside).fit(X, y).fit_report_.exact_kernel


@pytest.mark.slow
def test_stops_at_max_time(inside, rng):
    X, y = waves_and_bowls(rng, 6000)
    model = hssvm.dask.SVC(C=1e4, tol=1e-12, max_time=4, refine=True, client=inside)
    with pytest.warns(ConvergenceWarning, match="Reached max_time"):
        model.fit(X, y)
    assert model.score(X, y) > 0.5
