"""Faults of hosts and links: every fit ends, with the right answer or one clear error."""

import importlib
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
from dask import delayed
from distributed import Client
from helpers.faults import Killer, fit_on_cluster
from helpers.hosts import hosts_needed, start_hosts
from helpers.rows import waves_and_bowls

import hssvm.dask
from hssvm.dask.waiting import ClusterLost

pytestmark = [hosts_needed, pytest.mark.slow]

LONG = {"tol": 1e-9, "max_iter": 3000}
LIMIT = 120


class Fault(Killer):
    """Calls a function, in a thread, when the solver has begun."""

    def __init__(self, client, function, says=20):
        super().__init__(client, 0, says)
        self.function = function

    def kill(self):
        self.thread = threading.Thread(target=self.function)
        self.thread.start()

    def __exit__(self, *error):
        super().__exit__(*error)
        self.thread.join()


@pytest.fixture
def hosts():
    with start_hosts(2) as hosts:
        yield hosts


@pytest.fixture
def client(hosts):
    with Client(hosts.address, timeout=30) as client:
        client.wait_for_workers(2, timeout=60)
        yield client


def check(model, seconds):
    assert seconds < LIMIT
    assert model.fit_report_.status == ["CONVERGED"]
    new, truth = waves_and_bowls(np.random.default_rng(99), 3000)
    assert np.mean((model.decision_function(new) > 0) == (truth == "out")) > 0.9


@pytest.mark.parametrize("refine", [False, True])
@pytest.mark.parametrize("seconds", [30, 90])
@pytest.mark.parametrize("fault", ["cut_off", "freeze"])
def test_a_worker_is_away_for_a_while(fault, seconds, refine, hosts, client):
    parameters = {"approximation": None, "refine": True, "tol": 1e-7} if refine else LONG
    away = partial(getattr(hosts.workers[1], fault), seconds)
    with Fault(client, away, says="compress:" if refine else 20) as happened:
        model, elapsed = fit_on_cluster(client, **parameters)
    assert happened.killed
    check(model, elapsed)


def test_the_scheduler_restarts(hosts, client):
    def restart():
        hosts.scheduler.kill()
        time.sleep(1)
        hosts.start_scheduler()

    start = time.monotonic()
    with Fault(client, restart), pytest.raises(ClusterLost, match="scheduler"):
        fit_on_cluster(client, **LONG)
    assert time.monotonic() - start < LIMIT


CALLER = """
import sys
from distributed import Client
from helpers.faults import fit_on_cluster

with Client(sys.argv[1]) as client:
    fit_on_cluster(client, tol=1e-12, max_iter=100_000, verbose=1)
"""


def test_a_client_disconnects(hosts, client):
    command = [sys.executable, "-c", CALLER, hosts.address]
    path = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=path) as caller:
        for line in caller.stderr:
            if "iteration" in line:
                caller.kill()
                break
    check(*fit_on_cluster(client))


def test_two_fits_at_once(hosts, client):
    with Client(hosts.address) as other, ThreadPoolExecutor(2) as pool:
        fits = [pool.submit(fit_on_cluster, one, tol=1e-6) for one in (client, other)]
        for fit in fits:
            check(*fit.result())


def test_a_module_that_only_the_client_has(hosts, client, tmp_path, monkeypatch):
    (tmp_path / "only_here.py").write_text("def rows():\n    raise AssertionError\n")
    monkeypatch.syspath_prepend(tmp_path)
    rows = importlib.import_module("only_here").rows
    with pytest.raises(
        ClusterLost, match=r"cannot import a module .* check its log, and fit again"
    ):
        hssvm.dask.SVC(client=client).fit([delayed(rows)()])
