"""Trees that are trained at the same time are those that are trained one after the other."""

import threading
import time

import pytest
from numpy.testing import assert_array_equal

from hssvm import HSS, SVC, _core
from hssvm._threads import openmp_threads
from hssvm.progress import Share, listening, tell
from hssvm.solvers import Status
from hssvm.training import Monitor, plan
from hssvm.training.routes.forest.threads import train_trees


def test_the_forest_is_the_same(rng, monkeypatch):
    X = rng.standard_normal((3000, 3))
    y = X[:, 0] * X[:, 1] > 0

    def fit(memory):
        monkeypatch.setattr(plan, "DEFAULT_MEMORY", memory)
        with openmp_threads(2):
            return SVC(approximation=HSS(n_trees=3, leaf_size=256), random_state=0).fit(X, y)

    one_by_one, together = fit(1.0), fit(1e9)
    assert_array_equal(together.decision_function(X), one_by_one.decision_function(X))
    assert_array_equal(together.dual_coef_, one_by_one.dual_coef_)
    assert_array_equal(together.fit_report_.n_iter, one_by_one.fit_report_.n_iter)


def test_as_many_at_a_time_as_asked_for_and_in_order():
    running, most, lock, threads = 0, 0, threading.Lock(), []

    def train_one(index, monitor):
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
            threads.append(_core.thread_count())
        time.sleep(0.02 * (5 - index))  # the first one is the last to end
        with lock:
            running -= 1
        return index

    with openmp_threads(4):
        assert list(train_trees(train_one, range(1, 6), Monitor(), 2)) == [1, 2, 3, 4, 5]
    assert most == 2
    assert threads == [2, 2, 2, 2, 4]


def test_trees_tell_the_listeners_of_their_fit():
    """One at a time, although the trees are trained at the same time."""
    inside, most, heard = 0, 0, []

    def listener(event):
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        time.sleep(0.005)
        heard.append(event)
        inside -= 1

    def train_one(index, monitor):
        for _ in range(5):
            tell(Share(index))
        return index

    with openmp_threads(4), listening(listener):
        list(train_trees(train_one, range(4), Monitor(), 4))
    assert most == 1
    assert sorted(event.done for event in heard) == sorted(5 * [0, 1, 2, 3])


@pytest.mark.parametrize("fails", [False, True])
def test_the_others_stop_if_the_caller_does(fails):
    """Also if a tree fails."""
    statuses, begun = [], threading.Event()

    def train_one(index, monitor):
        if index == 0:
            assert begun.wait(10)
            if fails:
                raise ValueError("index 0")
            return index
        begun.set()
        for _ in range(1000):
            time.sleep(0.005)
            if monitor.stop() is not None:
                break
        statuses.append(monitor.stop())
        return index

    with openmp_threads(2):
        trees = train_trees(train_one, range(2), Monitor(), 2)
        if fails:
            with pytest.raises(ValueError, match="index 0"):
                next(trees)
        else:
            assert next(trees) == 0
        trees.close()
    assert statuses == [Status.STOPPED]
