"""Workers killed at every stage of a fit: it ends, and with the same answer."""

import logging
import os
import signal
import threading
import time

import numpy as np
import pytest
from dask import delayed
from test_dask_estimators import rings

import hssvm.dask
import hssvm.dask.runs
import hssvm.dask.waiting
from hssvm.dask.waiting import ClusterLost

STAGES = {  # what the log says when the stage begins, and how long it goes on before the kill
    "shuffle": ("describe:", 0.3),
    "compress": ("parts of", 0.2),
    "factor": ("compress:", 0.05),
    "iterate": (20, 0.0),
}


def slow_piece(seed, n=1000):
    time.sleep(0.05)
    return rings(np.random.default_rng(seed), n)


class Killer(logging.Handler):
    """Kills a worker when the log says something for the first time."""

    def __init__(self, client, victim, says, after=0.0):
        super().__init__()
        pids = client.run(os.getpid)
        self.pid = pids[sorted(pids)[victim]]
        self.says, self.after, self.log, self.killed = says, after, "", False

    def emit(self, record):
        self.log += record.getMessage() + "\n"
        if not self.killed and self.hears(record):
            self.killed = True
            self.kill()

    def hears(self, record):
        if isinstance(self.says, str):
            return self.says in record.getMessage()
        return record.msg.startswith("iteration") and record.args[0] >= self.says

    def kill(self):
        threading.Timer(self.after, os.kill, (self.pid, signal.SIGKILL)).start()

    def __enter__(self):
        logger = logging.getLogger("hssvm")
        logger.addHandler(self)
        logger.setLevel(logging.INFO)
        return self

    def __exit__(self, *error):
        logger = logging.getLogger("hssvm")
        logger.removeHandler(self)
        logger.setLevel(logging.NOTSET)


def fit(client, **parameters):
    pieces = [delayed(slow_piece)(seed) for seed in range(8)]
    model = hssvm.dask.SVC(C=10, gamma=0.4, random_state=0, client=client, **parameters)
    start = time.monotonic()
    model.fit(pieces)
    return model, time.monotonic() - start


@pytest.fixture(scope="module")
def undisturbed(client):
    """Decision values and seconds of a fit that nobody disturbs."""
    model, seconds = fit(client)
    return model.decision_function(rings(np.random.default_rng(99), 3000)[0]), seconds


@pytest.mark.parametrize(  # the meeting is on the worker of the first part
    ("stage", "victim"),
    [
        ("compress", 0),
        ("iterate", 0),
        ("iterate", 1),
        *(pytest.param(s, 0, marks=pytest.mark.slow) for s in ("shuffle", "factor")),
        *(pytest.param(s, 1, marks=pytest.mark.slow) for s in ("shuffle", "compress", "factor")),
    ],
)
def test_a_worker_is_killed(stage, victim, mortal, undisturbed):
    expected, seconds = undisturbed
    with Killer(mortal, victim, *STAGES[stage]) as killer:
        model, elapsed = fit(mortal)
    assert killer.killed
    assert elapsed < 3 * seconds + 60
    new, truth = rings(np.random.default_rng(99), 3000)
    assert model.fit_report_.gap[0] <= 1e-3
    accuracy, before = (
        np.mean((values > 0) == (truth == "out"))
        for values in (model.decision_function(new), expected)
    )
    assert abs(accuracy - before) < 0.005
    if stage == "iterate":
        assert "was lost" in killer.log
        assert "going on from iteration" in killer.log


def test_killed_between_the_last_meeting_and_the_end(mortal, undisturbed):
    """Some parts have left their model already: it is none of the next run."""
    expected, seconds = undisturbed
    mortal.run(slow_to_put_models)
    with Killer(mortal, 1, "compress:") as killer:
        killer.after = seconds  # parts are done by then, and wait
        model, elapsed = fit(mortal)
    assert elapsed < 3 * seconds + 60
    new, _ = rings(np.random.default_rng(99), 3000)
    assert np.mean((model.decision_function(new) > 0) == (expected > 0)) > 0.99


def slow_to_put_models():
    """Part 1 takes its time to put its model by."""
    from hssvm.dask import train

    put = train._put_model

    def slow(shelves, part, run, model):
        if part == 1 and run == 0:
            time.sleep(30)
        put(shelves, part, run, model)

    train._put_model = slow


def test_too_many_losses_are_an_error(mortal, monkeypatch):
    monkeypatch.setattr(hssvm.dask.runs, "RETRIES", 0)
    with (
        Killer(mortal, 1, 10),
        pytest.raises(ClusterLost, match=r"broken off 1 times.*was lost.*memory"),
    ):
        fit(mortal, tol=1e-7)


def test_no_workers_left_is_an_error(mortal, monkeypatch):
    monkeypatch.setattr(hssvm.dask.waiting, "IDLE", 3.0)
    monkeypatch.setattr(hssvm.dask.waiting, "IDLE_POLL", 0.5)
    start = time.monotonic()

    class Closer(Killer):
        def kill(self):
            mortal.cluster.scale(0)

    with Closer(mortal, 0, 10), pytest.raises(ClusterLost, match="Start workers"):
        fit(mortal, tol=1e-9)
    assert time.monotonic() - start < 60
    with pytest.raises(ClusterLost, match="wait_for_workers"):
        fit(mortal)


def test_a_model_outlives_one_of_its_workers(mortal):
    model, _ = fit(mortal)
    new = np.random.default_rng(5).standard_normal((200, 3))
    expected = model.decision_function(new)
    pids = mortal.run(os.getpid)
    time.sleep(3)  # longer than Dask keeps replicas that nobody needs
    os.kill(min(pids.values()), signal.SIGKILL)
    while len(set(mortal.nthreads()) & set(pids)) > 1:
        time.sleep(0.05)
    start = time.monotonic()
    np.testing.assert_array_equal(model.decision_function(new), expected)
    np.testing.assert_array_equal(model.to_local().decision_function(new), expected)
    assert time.monotonic() - start < 30
