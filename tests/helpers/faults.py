"""A fit on a cluster, and what disturbs it."""

import logging
import os
import signal
import threading
import time

import numpy as np
from dask import delayed

import hssvm.dask
from helpers.rows import waves_and_bowls
from hssvm import HSS


def slow_partition(seed, n=1000):
    time.sleep(0.05)
    return waves_and_bowls(np.random.default_rng(seed), n)


def fit_on_cluster(client, **parameters):
    """A model, of one tree unless told otherwise, and the seconds of its fit."""
    partitions = [delayed(slow_partition)(seed) for seed in range(8)]
    defaults = {"C": 10, "gamma": 0.4, "approximation": HSS(n_trees=1), "random_state": 0}
    model = hssvm.dask.SVC(client=client, **{**defaults, **parameters})
    start = time.monotonic()
    model.fit(partitions)
    return model, time.monotonic() - start


def die_at(client, part, stage, number):
    """Let the worker of a part kill itself at an iteration ('solve') or round ('refine')."""

    def prepare():
        from hssvm.dask.part_monitor import PartMonitor
        from hssvm.progress import Gap, Violation

        listen, kind = PartMonitor.listen, Violation if stage == "refine" else Gap

        def fatal(self, event):
            here = self.run == 0 and self.communicator.rank == part
            if here and isinstance(event, kind) and event.iteration == number:
                self.wait()  # for the last checkpoint
                os.kill(os.getpid(), signal.SIGKILL)
            listen(self, event)

        PartMonitor.listen = fatal

    client.run(prepare)


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
