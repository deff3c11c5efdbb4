"""Workers that are paused at their memory limit: a fit says so, and does not wait for ever."""

import time

import dask
import numpy as np
import pytest
from distributed import Client
from distributed.core import Status
from helpers.clusters import start_cluster
from helpers.faults import Killer, fit_on_cluster
from helpers.rows import waves_and_bowls

import hssvm.dask
import hssvm.dask.waiting
from hssvm import HSS
from hssvm.dask.waiting import ClusterLost, wait_for
from hssvm.dask.workers import Workers

PAUSED = "2 of 2 workers are paused, because they are near their memory limit"


def set_status(status, dask_worker):
    dask_worker.status = status


def pause(client, workers=None):
    client.run(set_status, Status.paused, workers=workers)
    while len(Workers.of(client).paused) != (2 if workers is None else len(workers)):
        time.sleep(0.02)


@pytest.fixture(scope="module")
def cluster():
    with start_cluster(2, memory_limit=0) as cluster:  # without a limit nothing wakes them
        yield cluster


@pytest.fixture
def client(cluster):
    """Two workers that a test may pause."""
    with Client(cluster) as client:
        yield client
        client.run(set_status, Status.running)


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(hssvm.dask.waiting, "IDLE", 3.0)
    monkeypatch.setattr(hssvm.dask.waiting, "IDLE_POLL", 0.3)


def test_workers_that_are_full_from_the_start(impatient, rng):
    memory = {"pause": 0.01, "target": False, "spill": False, "terminate": False}
    with (
        dask.config.set({f"distributed.worker.memory.{k}": v for k, v in memory.items()}),
        start_cluster(2, memory_limit="1GiB") as cluster,
        Client(cluster) as client,
    ):
        while len(Workers.of(client).paused) < 2:
            time.sleep(0.02)
        with pytest.raises(ClusterLost, match=rf"{PAUSED} \(one uses \d.*iB of 1.00 GiB\)"):
            hssvm.dask.SVC(client=client).fit(*waves_and_bowls(rng, 3000))


class Pauser(Killer):
    """Pauses all workers when the log says something for the first time."""

    def __init__(self, client, says):
        super().__init__(client, 0, says)
        self.client = client

    def kill(self):
        pause(self.client)


@pytest.mark.parametrize(
    ("says", "max_time"),
    [
        ("describe:", 0.5),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in [("describe:", None), ("parts of", 0.5), ("compress:", 0.5)]
        ),
    ],
)
def test_paused_at_every_stage(says, max_time, client, impatient, monkeypatch):
    if max_time is not None:
        monkeypatch.setattr(hssvm.dask.waiting, "IDLE", 60.0)
    start = time.monotonic()
    expected = (
        PAUSED
        if max_time is None
        else f"max_time has passed, and the cluster has made no progress.*{PAUSED}"
    )
    with Pauser(client, says) as pauser, pytest.raises(ClusterLost, match=expected):
        fit_on_cluster(client, max_time=max_time)
    assert pauser.killed
    assert time.monotonic() - start < 55  # no minute of doing nothing


@pytest.mark.slow
def test_parts_that_train_are_not_disturbed(client):
    X, _ = waves_and_bowls(np.random.default_rng(99), 500)
    expected = fit_on_cluster(client, tol=1e-6)[0].decision_function(X)
    with Pauser(client, 10) as pauser:
        model, _ = fit_on_cluster(client, tol=1e-6)
    assert pauser.killed
    client.run(set_status, Status.running)
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-6)


def nap(seconds):
    time.sleep(seconds)
    return seconds


def runs(key, dask_worker):
    return any(task.key == key for task in dask_worker.state.executing)


def until_begun(client, future):
    while not any(client.run(runs, future.key).values()):
        time.sleep(0.02)


def test_a_paused_worker_finishes_what_it_has_begun(client, impatient):
    future = client.submit(nap, 4.0, pure=False)
    until_begun(client, future)
    pause(client)
    wait_for(client, [future])
    assert future.result() == 4.0


def test_one_paused_worker_holds_up_tasks_that_wait_for_each_other(client, impatient):
    first, second = sorted(client.nthreads())
    slow = client.submit(nap, 10.0, workers=[first], pure=False)
    until_begun(client, slow)
    pause(client, [second])
    held = client.submit(nap, 0.0, workers=[second], pure=False)
    with pytest.raises(ClusterLost, match=r"1 of 2 workers are paused.*more memory"):
        wait_for(client, [slow, held], together=True)
    assert not slow.done()


@pytest.mark.slow
def test_a_paused_worker_of_others_is_no_obstacle(client, rng):
    """The other worker does the work of both, with the same result."""
    X, y = waves_and_bowls(rng, 4000)
    model = hssvm.dask.SVC(
        C=10, gamma=0.4, approximation=HSS(n_trees=2), random_state=0, client=client
    )
    expected = model.fit(X, y).decision_function(X)
    pause(client, [max(client.nthreads())])
    np.testing.assert_allclose(model.fit(X, y).decision_function(X), expected, atol=1e-6)
