import logging

import pytest
from distributed import Client, LocalCluster


def start_cluster(n_workers):
    return LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        silence_logs=logging.CRITICAL,
    )


@pytest.fixture(scope="session")
def client():
    with start_cluster(2) as cluster, Client(cluster) as client:
        yield client


@pytest.fixture(scope="session")
def client4():
    with start_cluster(4) as cluster, Client(cluster) as client:
        yield client


@pytest.fixture
def mortal():
    """A cluster of two workers that a test may kill."""
    with start_cluster(2) as cluster, Client(cluster) as client:
        yield client
