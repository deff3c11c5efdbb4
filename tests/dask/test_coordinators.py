"""Coordinators in tiers: with few members each, four workers have as many as dozens do."""

from functools import partial

import numpy as np
import pytest
from helpers.faults import Killer, fit_on_cluster
from helpers.platforms import posix
from helpers.rows import waves_and_bowls
from numpy.testing import assert_allclose

import hssvm
import hssvm.dask
from hssvm import HSS
from hssvm.hss.top import group_parts


@pytest.fixture
def few_members(monkeypatch):
    monkeypatch.setattr("hssvm.dask.fit.group_parts", partial(group_parts, fan_in=2))


def coordinators(dask_worker):
    actors = dask_worker.state.actors.values()
    return [actor.n_members for actor in actors if type(actor).__name__ == "Coordinator"]


class Counter:
    """Looks for coordinators whenever the driver asks whether to stop."""

    def __init__(self, client):
        self.client, self.most = client, []

    def __call__(self):
        found = self.client.run(coordinators).values()
        self.most = max(self.most, sorted(n for some in found for n in some), key=len)


@pytest.mark.usefixtures("few_members")
def test_the_same_model_as_on_one_machine(client4, rng):
    X, y = waves_and_bowls(rng, 4000)
    new, truth = waves_and_bowls(rng, 2000)
    parameters = {"C": 5.0, "gamma": 0.4, "tol": 1e-4, "random_state": 0}
    exact = hssvm.dask.SVC(**parameters, refine=True, client=client4).fit(X, y)
    local = hssvm.SVC(**parameters, refine=True).fit(X, y)
    assert_allclose(exact.fit_report_.objective, local.fit_report_.objective, rtol=1e-4)
    assert_allclose(exact.decision_function(new), local.decision_function(new), atol=0.05)
    compressed = hssvm.dask.SVC(**parameters, approximation=HSS(n_trees=1), client=client4)
    compressed.fit(X, y)
    assert compressed.fit_report_.status == ["CONVERGED"]
    assert abs(compressed.score(new, truth) - local.score(new, truth)) < 0.02
    error = np.abs(compressed.decision_function(new) - local.decision_function(new))
    assert np.median(error) < 0.1


@pytest.mark.usefixtures("few_members")
def test_no_coordinator_has_more_members(client4, rng, monkeypatch):
    counter = Counter(client4)
    monkeypatch.setattr(
        "hssvm.dask.supervisor.Supervisor._watch",
        lambda self, *args, watch=hssvm.dask.supervisor.Supervisor._watch: (
            counter() or watch(self, *args)
        ),
    )
    X, y = waves_and_bowls(rng, 5000)
    hssvm.dask.SVC(approximation=HSS(n_trees=1), random_state=0, client=client4).fit(X, y)
    assert counter.most == [2, 2, 2]


@posix
@pytest.mark.slow
@pytest.mark.parametrize("victim", range(4))
@pytest.mark.usefixtures("few_members")
def test_a_worker_is_killed(victim, mortal4):
    """Whichever coordinators it has, of either tier or none."""
    with Killer(mortal4, victim, 20) as killer:
        model, elapsed = fit_on_cluster(mortal4, refine=False, tol=1e-4)
    assert killer.killed
    assert elapsed < 120
    new, truth = waves_and_bowls(np.random.default_rng(99), 3000)
    assert model.fit_report_.gap[0] <= 1e-3
    assert model.score(new, truth) > 0.9
    assert "resuming from iteration" in killer.log
