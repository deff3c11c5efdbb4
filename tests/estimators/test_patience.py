"""Fits that end early, and go on."""

import logging
import signal
import threading
import time

import numpy as np
import pytest
from helpers.rows import stripes
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from hssvm import HSS, SVC, SVCCV, SVR, OneClassSVM
from hssvm.estimators.monitoring.callbacks import stop_on_interrupt
from hssvm.kernels import Polynomial


@pytest.fixture(autouse=True)
def interrupts():
    """Ctrl-C raises, also in processes that were started in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("refine", [False, True])
def test_ctrl_c_keeps_the_best_so_far(refine, rng):
    X, y = stripes(rng, 3000)
    model = SVC(C=1, gamma=1, refine=refine, approximation=HSS(), tol=1e-9, random_state=0)
    with pytest.warns(ConvergenceWarning, match="Ctrl-C"), stop_on_interrupt():
        signal.raise_signal(signal.SIGINT)
        model.fit(X, y)
    report = model.fit_report_
    assert report.status == ["STOPPED"]
    assert report.exact_kernel == refine
    assert report.gap[0] == 1 if refine else report.n_iter[0] == 10
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


class InterruptAt(logging.Handler):
    """Ctrl-C when the log says for the first time that a stage begins."""

    def __init__(self, stage):
        super().__init__(logging.DEBUG)
        self.says, self.pressed = f"{stage} begins", False

    def emit(self, record):
        if record.getMessage() == self.says and not self.pressed:
            self.pressed = True
            signal.raise_signal(signal.SIGINT)


def test_ctrl_c_during_refinement(rng, caplog, monkeypatch):
    X, y = stripes(rng, 3000)
    monkeypatch.setattr("hssvm.training.plan.DEFAULT_MEMORY", 1e5)
    model = SVR(C=1e5, gamma=3, refine=True, tol=1e-12, random_state=0)
    key = InterruptAt("refine")
    logging.getLogger("hssvm").addHandler(key)
    try:
        with (
            caplog.at_level(logging.DEBUG, "hssvm"),
            pytest.warns(ConvergenceWarning, match="Ctrl-C"),
            stop_on_interrupt(),
        ):
            model.fit(X, y)
    finally:
        logging.getLogger("hssvm").removeHandler(key)
    assert key.pressed
    report = model.fit_report_
    assert report.status == ["STOPPED"]
    assert report.exact_kernel
    assert 1e-12 < report.gap[0] < 1
    assert_allclose(model.certify(X, y).gap, report.gap, rtol=1e-3)


def test_a_second_ctrl_c_ends_the_program():
    with pytest.raises(KeyboardInterrupt), stop_on_interrupt():
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
    with stop_on_interrupt():
        signal.raise_signal(signal.SIGINT)  # the one before is forgotten


@pytest.mark.parametrize("estimator", [SVC(C=1000), SVR(C=1000), OneClassSVM(nu=0.01)])
@pytest.mark.parametrize("refine", [False, True])
def test_max_time_ends_all_iterations(estimator, refine, rng):
    X, y = stripes(rng, 3000)
    model = clone(estimator).set_params(refine=refine, approximation=HSS())
    model.set_params(max_time=1e-9, tol=1e-9, gamma=1, random_state=0)
    with pytest.warns(ConvergenceWarning, match="raise max_time"):
        model.fit(X, y)
    report = model.fit_report_
    assert report.status == ["MAX_TIME"]
    assert report.n_iter[0] == (10 if report.n_factors else 0)
    assert np.isfinite(report.gap[0])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("n_rows", [2, 3])
def test_max_time_of_few_rows(n_rows):
    """Steps are cheap, but there may be a billion of them."""
    X, y, weight = np.ones((n_rows, 3)), np.arange(n_rows) > 0, np.array([1.0, 2.0, 0.5])
    model = SVC(kernel=Polynomial(1.8e16, 1.0, 3), max_time=0.5, refine=True)
    start = time.perf_counter()
    model.fit(X, y, sample_weight=weight[:n_rows])
    assert time.perf_counter() - start < 1.5


def test_ctrl_c_during_smo(rng):
    """Between two checks of the gap, too."""
    X = rng.standard_normal((2500, 3)) * 1e4
    y = rng.random(2500) < 0.5
    model = SVC(C=1e4, kernel="linear", refine=True)
    timer = threading.Timer(1.0, signal.raise_signal, [signal.SIGINT])
    with pytest.warns(ConvergenceWarning, match="Ctrl-C"), stop_on_interrupt():
        start = time.perf_counter()
        timer.start()
        model.fit(X, y)
        assert time.perf_counter() - start < 2.5
    assert model.fit_report_.status == ["STOPPED"]


def test_max_time_must_be_positive(rng):
    X, y = stripes(rng, 50)
    with pytest.raises(ValueError, match="max_time"):
        SVCCV(max_time=0).fit(X, y)


@pytest.mark.parametrize("estimator", [SVC(C=100), SVR(C=10), OneClassSVM(nu=0.1)])
@pytest.mark.parametrize("refine", [False, True])
def test_warm_start_goes_on(estimator, refine, rng):
    """At a solution there is little left to do, and the solution stays."""
    X, y = stripes(rng, 3000)
    model = clone(estimator).set_params(gamma=1, tol=1e-4, refine=refine, random_state=0)
    if not refine:
        model.set_params(approximation=HSS(n_trees=1))
    assert not model.warm_start
    cold = model.fit(X, y).fit_report_
    cold_values = model._decision_values(X)
    if not refine:  # with the same tol, the tree is kept
        model.set_params(tol=0.99e-4)
    warm = model.set_params(warm_start=True).fit(X, y).fit_report_
    assert warm.status == ["CONVERGED"]
    assert_allclose(warm.objective, cold.objective, rtol=2e-4)
    error = np.abs(model._decision_values(X) - cold_values).max()
    assert error <= 0.1 * np.abs(cold_values).max()
    if refine:  # it starts where the last fit has ended
        assert warm.n_iter[0] == 0
        assert warm.n_steps[0] < cold.n_steps[0]
    else:
        assert warm.n_iter[0] < cold.n_iter[0]
        first, cold_first = (report.history["solve"][0][1][0] for report in (warm, cold))
        assert first < 0.1 * cold_first


@pytest.mark.parametrize("n_trees", [1, 2])
def test_warm_start_with_other_parameters(n_trees, rng):
    X, y = stripes(rng, 3000)
    parameters = {"gamma": 1, "approximation": HSS(n_trees=n_trees), "tol": 1e-3, "random_state": 0}
    model = SVC(C=1, warm_start=True, **parameters).fit(X, y)
    warm = model.set_params(C=0.5).fit(X, y).fit_report_
    cold = SVC(C=0.5, **parameters).fit(X, y).fit_report_
    assert_allclose(warm.objective, cold.objective, rtol=2e-3)
    assert warm.history["solve"][0][1][0] < cold.history["solve"][0][1][0]


def test_warm_start_on_other_rows_is_a_cold_one(rng):
    X, y = stripes(rng, 500)
    model = SVC(gamma=1, warm_start=True).fit(X, y)
    again = model.fit(X[:400], y[:400])
    assert_allclose(again.dual_coef_, SVC(gamma=1).fit(X[:400], y[:400]).dual_coef_)
