"""Workers killed at every stage of a fit: it ends, and with the same answer."""

import os
import signal
import time

import numpy as np
import pytest
from helpers.faults import Killer, die_at, fit_on_cluster, slow_partition
from helpers.platforms import posix
from helpers.rows import waves_and_bowls

import hssvm
import hssvm.dask
import hssvm.dask.supervisor
import hssvm.dask.waiting
from hssvm import HSS
from hssvm.dask.waiting import ClusterLost

pytestmark = posix

STAGES = {  # what the log says when the stage begins, and how long it runs before the kill
    "shuffle": ("describe:", 0.3),
    "compress": ("parts of", 0.2),
    "factor": ("compress:", 0.05),
    "iterate": (30, 0.0),  # the checkpoint of iteration 20 has arrived
}


@pytest.fixture(scope="module")
def undisturbed(client):
    """Decision values and seconds of a fit that nobody disturbs."""
    model, seconds = fit_on_cluster(client)
    return model.decision_function(waves_and_bowls(np.random.default_rng(99), 3000)[0]), seconds


@pytest.mark.parametrize(  # the coordinator is on the worker of the first part
    ("stage", "victim"),
    [
        ("iterate", 0),
        *(pytest.param(s, 0, marks=pytest.mark.slow) for s in ("shuffle", "compress", "factor")),
        *(pytest.param(s, 1, marks=pytest.mark.slow) for s in STAGES),
    ],
)
def test_a_worker_is_killed(stage, victim, mortal, undisturbed):
    expected, seconds = undisturbed
    with Killer(mortal, victim, *STAGES[stage]) as killer:
        model, elapsed = fit_on_cluster(mortal)
    assert killer.killed
    assert elapsed < 3 * seconds + 60
    new, truth = waves_and_bowls(np.random.default_rng(99), 3000)
    assert model.fit_report_.gap[0] <= 1e-3
    accuracy, before = (
        np.mean((values > 0) == (truth == "out"))
        for values in (model.decision_function(new), expected)
    )
    assert abs(accuracy - before) < 0.005
    if stage == "iterate":
        assert "was lost" in killer.log
        assert "resuming from iteration" in killer.log


class KillerInSecondTree(Killer):
    n_compressed = 0

    def hears(self, record):
        self.n_compressed += record.getMessage().startswith("compress:")
        return self.n_compressed == 2 and super().hears(record)


@pytest.mark.slow
@pytest.mark.parametrize("victim", [0, 1])
def test_a_worker_is_killed_in_the_second_tree(victim, client, mortal):
    """The first tree is kept, and the second one begins again."""
    parameters = {"approximation": HSS(n_trees=2, leaf_size=256, max_rank=40), "tol": 1e-4}
    new, _ = waves_and_bowls(np.random.default_rng(99), 3000)
    expected, _ = fit_on_cluster(client, **parameters)
    with KillerInSecondTree(mortal, victim, 20) as killer:
        model, _ = fit_on_cluster(mortal, **parameters)
    assert killer.killed
    assert "was lost" in killer.log
    assert model.fit_report_.status == ["CONVERGED"]
    assert model.fit_report_.n_trees == 2
    local = model.to_local()
    assert len(local._compressed.trees) == 2
    values = expected.decision_function(new)
    scale = np.abs(values).max()
    np.testing.assert_allclose(model.decision_function(new), values, atol=1e-2 * scale)
    np.testing.assert_allclose(
        local.decision_function(new), model.decision_function(new), atol=1e-6
    )


class KillerInRefinement(Killer):
    def hears(self, record):
        return record.msg.startswith("round") and record.args[0] >= self.says


def slow_rounds():
    """Rounds on the exact kernel take half a second, so that the driver hears of most of them."""
    from hssvm.dask.part_monitor import PartMonitor
    from hssvm.progress import Violation

    listen = PartMonitor.listen

    def slow(self, event):
        if isinstance(event, Violation):
            time.sleep(0.5)
        listen(self, event)

    PartMonitor.listen = slow


@pytest.mark.slow
@pytest.mark.parametrize("victim", [0, 1])
def test_a_worker_is_killed_on_the_exact_kernel(victim, mortal):
    mortal.run(slow_rounds)
    with KillerInRefinement(mortal, victim, 6) as killer:
        model, _ = fit_on_cluster(mortal, approximation=None, refine=True, tol=1e-6)
    assert killer.killed
    assert "was lost" in killer.log
    assert "resuming from round" in killer.log
    assert model.fit_report_.gap[0] <= 1e-6
    X, y = (np.concatenate(both) for both in zip(*map(slow_partition, range(8)), strict=True))
    expected = hssvm.SVC(C=10, gamma=0.4, refine=True, tol=1e-6, random_state=0).fit(X, y)
    np.testing.assert_allclose(
        model.fit_report_.objective, expected.fit_report_.objective, rtol=2e-6
    )


@pytest.fixture(scope="module")
def undisturbed_on_the_exact_kernel(client):
    return fit_on_cluster(client, approximation=None, refine=True)[0]


@pytest.mark.parametrize(
    ("stage", "number", "resumes"),
    [
        ("refine", 6, "resuming from round 5"),
        pytest.param("refine", 2, "resuming from round 0", marks=pytest.mark.slow),
        pytest.param("refine", 5, "resuming from round 5", marks=pytest.mark.slow),
        pytest.param("solve", 20, "", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("part", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_a_restart_repeats_an_exact_fit(
    part, stage, number, resumes, mortal, undisturbed_on_the_exact_kernel, caplog
):
    """Whatever the moment, the fit ends with the same bits."""
    expected = undisturbed_on_the_exact_kernel
    die_at(mortal, part, stage, number)
    with caplog.at_level("INFO", "hssvm"):
        model, _ = fit_on_cluster(mortal, approximation=None, refine=True)
    assert "was lost" in caplog.text
    assert resumes in caplog.text
    assert resumes or "resuming" not in caplog.text
    new, _ = waves_and_bowls(np.random.default_rng(99), 3000)
    np.testing.assert_array_equal(model.decision_function(new), expected.decision_function(new))
    np.testing.assert_array_equal(model.n_iter_, expected.n_iter_)
    np.testing.assert_array_equal(model.fit_report_.gap, expected.fit_report_.gap)


@pytest.mark.slow
def test_killed_between_the_last_synchronization_and_the_end(mortal, undisturbed):
    """Some parts have left their model already: it is none of the next run."""
    expected, seconds = undisturbed
    mortal.run(store_models_late)
    with Killer(mortal, 1, "compress:") as killer:
        killer.after = seconds  # parts are done by then, and wait
        model, elapsed = fit_on_cluster(mortal)
    assert elapsed < 3 * seconds + 60
    new, _ = waves_and_bowls(np.random.default_rng(99), 3000)
    assert np.mean((model.decision_function(new) > 0) == (expected > 0)) > 0.99


def store_models_late():
    """Part 1 stores its model late."""
    from hssvm.dask import train

    put = train._save_model

    def slow(stores, part, run, model):
        if part == 1 and run == 0:
            time.sleep(30)
        put(stores, part, run, model)

    train._save_model = slow


@pytest.mark.slow
def test_too_many_losses_are_an_error(mortal, monkeypatch):
    monkeypatch.setattr(hssvm.dask.supervisor, "RETRIES", 0)
    with (
        Killer(mortal, 1, 10),
        pytest.raises(ClusterLost, match=r"interrupted 1 times.*was lost.*memory"),
    ):
        fit_on_cluster(mortal, tol=1e-7)


@pytest.mark.slow
def test_no_workers_left_is_an_error(mortal, monkeypatch):
    monkeypatch.setattr(hssvm.dask.waiting, "IDLE", 3.0)
    monkeypatch.setattr(hssvm.dask.waiting, "IDLE_POLL", 0.5)
    start = time.monotonic()

    class Closer(Killer):
        def kill(self):
            mortal.cluster.scale(0)

    with Closer(mortal, 0, 10), pytest.raises(ClusterLost, match="start workers"):
        fit_on_cluster(mortal, tol=1e-9)
    assert time.monotonic() - start < 60
    with pytest.raises(ClusterLost, match="wait_for_workers"):
        fit_on_cluster(mortal)


@pytest.mark.slow
def test_a_model_outlives_one_of_its_workers(mortal):
    model, _ = fit_on_cluster(mortal)
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
