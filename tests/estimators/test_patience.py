"""Fits that end early, and go on."""

import signal
import threading
import time

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning

from hssvm import SVC, SVCCV, SVR, OneClassSVM
from hssvm.estimators.callbacks import ending_on_interrupt


def stripes(rng, n):
    X = rng.uniform(-3, 3, (n, 2))
    return X, np.sin(3 * X[:, 0]) + 0.3 * rng.standard_normal(n) > 0


@pytest.mark.parametrize("refine", [False, True])
def test_ctrl_c_keeps_the_best_so_far(refine, rng):
    X, y = stripes(rng, 3000)
    model = SVC(C=1, gamma=1, refine=refine, tol=1e-9, random_state=0)
    with pytest.warns(ConvergenceWarning, match="Ctrl-C"), ending_on_interrupt():
        signal.raise_signal(signal.SIGINT)
        model.fit(X, y)
    assert model.fit_report_.status == ["STOPPED"]
    assert model.n_iter_[0] == 10
    assert not model.fit_report_.on_true_kernel
    assert model.score(X, y) > 0.7
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_ctrl_c_during_refinement(rng):
    X, y = stripes(rng, 6000)
    model = SVC(C=1e5, gamma=3, refine=True, tol=1e-12, cache_size=0.1, random_state=0)
    main = threading.main_thread().ident

    def interrupt():
        time.sleep(3)
        signal.pthread_kill(main, signal.SIGINT)

    with pytest.warns(ConvergenceWarning), ending_on_interrupt():
        thread = threading.Thread(target=interrupt)
        thread.start()
        model.fit(X, y)
        thread.join()
    assert model.fit_report_.status == ["STOPPED"]
    assert np.isfinite(model.fit_report_.gap[0])


def test_a_second_ctrl_c_ends_the_program():
    with pytest.raises(KeyboardInterrupt), ending_on_interrupt():
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
    with ending_on_interrupt():
        signal.raise_signal(signal.SIGINT)  # the one before is forgotten


@pytest.mark.parametrize("estimator", [SVC(C=1000), SVR(C=1000), OneClassSVM(nu=0.01)])
@pytest.mark.parametrize("refine", [False, True])
def test_max_time_ends_all_iterations(estimator, refine, rng):
    X, y = stripes(rng, 3000)
    estimator.set_params(max_time=1e-9, refine=refine, tol=1e-9, gamma=1, random_state=0)
    with pytest.warns(ConvergenceWarning, match="raise max_time"):
        estimator.fit(X, y)
    assert estimator.fit_report_.status == ["MAX_TIME"]
    assert estimator.n_iter_[0] == 10
    assert np.isfinite(estimator.fit_report_.gap[0])


def test_max_time_must_be_positive(rng):
    X, y = stripes(rng, 50)
    with pytest.raises(ValueError, match="max_time"):
        SVCCV(max_time=0).fit(X, y)


@pytest.mark.parametrize("estimator", [SVC(C=100), SVR(C=10), OneClassSVM(nu=0.1)])
@pytest.mark.parametrize("refine", [False, True])
def test_warm_start_goes_on(estimator, refine, rng):
    X, y = stripes(rng, 3000)
    estimator.set_params(gamma=1, tol=1e-4, refine=refine, random_state=0)
    estimator.fit(X, y)
    cold, values = estimator.n_iter_[0], estimator.fit_report_.objective
    estimator.set_params(warm_start=True).fit(X, y)
    assert estimator.n_iter_[0] <= max(cold, 20)
    assert_allclose(estimator.fit_report_.objective, values, rtol=1e-3)
    if not refine:
        assert estimator.n_iter_[0] < cold or cold <= 20


def test_warm_start_with_other_parameters(rng):
    X, y = stripes(rng, 3000)
    model = SVC(C=1, gamma=1, refine=False, random_state=0, warm_start=True).fit(X, y)
    warm = model.set_params(C=0.5).fit(X, y).fit_report_
    cold = SVC(C=0.5, gamma=1, refine=False, random_state=0).fit(X, y).fit_report_
    assert_allclose(warm.objective, cold.objective, rtol=2e-3)


def test_warm_start_on_other_rows_is_a_cold_one(rng):
    X, y = stripes(rng, 500)
    model = SVC(gamma=1, warm_start=True).fit(X, y)
    again = model.fit(X[:400], y[:400])
    assert_allclose(again.dual_coef_, SVC(gamma=1).fit(X[:400], y[:400]).dual_coef_)
