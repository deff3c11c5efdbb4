import pytest
from distributed import Client
from helpers.clusters import start_cluster


@pytest.fixture(scope="module")
def client():
    with start_cluster(2) as cluster, Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def client4():
    with start_cluster(4) as cluster, Client(cluster) as client:
        yield client


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


@pytest.fixture(scope="module")
def inside():
    """Two workers in this process, where functions can be replaced."""
    with Client(
        processes=False, n_workers=2, threads_per_worker=1, dashboard_address=":0"
    ) as client:
        yield client
