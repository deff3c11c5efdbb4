"""Real clusters of processes, on this machine only."""

import logging

from distributed import LocalCluster


def start_cluster(n_workers, **options):
    return LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        silence_logs=logging.CRITICAL,
        **options,
    )
