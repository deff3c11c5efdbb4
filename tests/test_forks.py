"""Children of fork, which have none of their parent's threads."""

import pytest
from helpers.platforms import linux
from helpers.processes import run_python

pytestmark = linux

FITTED = """
    import os
    import numpy as np
    from hssvm import HSS, SVC, _core

    rng = np.random.default_rng({seed})
    X = rng.standard_normal((2500, 4))
    y = X[:, 0] * X[:, 1] > 0

    def fitted():
        return SVC(C=10.0, gamma=0.2, approximation=HSS(), random_state=0).fit(X, y)

    model = fitted()
    expected = model.decision_function(X)

    def same(_=None):
        return all(np.array_equal(m.decision_function(X), expected) for m in (model, fitted()))
"""


def run_fitted(code, rng, **environment):
    return run_python(
        FITTED.format(seed=rng.integers(2**31)) + code, **{"OMP_NUM_THREADS": "2", **environment}
    )


def test_a_child_fits_and_predicts_as_its_parent(rng):
    code = """
    assert _core.thread_count() == 2
    child = os.fork()
    if child == 0:
        os._exit(0 if same() and _core.thread_count() == 1 else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert _core.thread_count() == 2 and same()
    """
    run_fitted(code, rng)


@pytest.mark.slow
def test_a_child_of_a_thread(rng):
    code = """
    import threading

    def fork_here():
        assert same()
        child = os.fork()
        if child == 0:
            os._exit(0 if same() else 1)
        codes.append(os.waitpid(child, 0)[1])

    codes = []
    thread = threading.Thread(target=fork_here)
    thread.start()
    thread.join()
    assert codes == [0]
    """
    run_fitted(code, rng)


def test_a_pool_of_processes(rng):
    code = """
    from multiprocessing import get_context

    with get_context("fork").Pool(2) as pool:
        assert all(pool.map(same, range(3)))
    """
    run_fitted(code, rng)


@pytest.mark.slow
def test_joblib_with_processes(rng):
    code = """
    from joblib import Parallel, delayed

    assert all(Parallel(2, backend="multiprocessing")(delayed(same)(i) for i in range(3)))
    """
    run_fitted(code, rng)


def test_a_lock_that_another_thread_holds_at_the_fork():
    code = """
    import os, signal, threading, time
    from hssvm._threads import SharedSetting

    setting, inside, undone = SharedSetting(), threading.Event(), []

    def slowly():
        inside.set()
        time.sleep(0.5)
        return lambda: undone.append("undone")

    def hold():
        with setting.held(slowly):
            leave.wait(30)

    leave = threading.Event()
    thread = threading.Thread(target=hold)
    thread.start()
    inside.wait(30)
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        with setting.held(slowly):  # made already, by a thread that is not here
            pass
        os._exit(0 if undone == ["undone"] else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert undone == []
    leave.set()
    thread.join()
    assert undone == ["undone"]
    """
    run_python(code)
