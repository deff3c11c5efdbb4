"""Clusters of processes, which the tests of a process share, and clusters that a test may kill."""

import pytest
from distributed import Client
from helpers.clusters import start_cluster


@pytest.fixture(scope="session")
def two_workers():
    with start_cluster(2) as cluster, Client(cluster, set_as_default=False) as client:
        yield client


@pytest.fixture(scope="session")
def four_workers():
    with start_cluster(4) as cluster, Client(cluster, set_as_default=False) as client:
        yield client


@pytest.fixture(scope="session")
def workers_inside():
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with Client(processes=False, set_as_default=False, **options) as client:
        yield client


@pytest.fixture(scope="module")
def client(two_workers):
    with two_workers.as_current():
        yield two_workers


@pytest.fixture(scope="module")
def client4(four_workers):
    with four_workers.as_current():
        yield four_workers


@pytest.fixture(scope="module")
def inside(workers_inside):
    """Two workers in this process, where functions can be replaced."""
    with workers_inside.as_current():
        yield workers_inside


@pytest.fixture
def mortal():
    """A cluster of two workers that a test may kill."""
    with start_cluster(2) as cluster, Client(cluster) as client:
        yield client


@pytest.fixture
def mortal4():
    """A cluster of four workers that a test may kill."""
    with start_cluster(4) as cluster, Client(cluster) as client:
        yield client
