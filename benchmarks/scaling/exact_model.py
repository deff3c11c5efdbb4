"""The cost model of exact fits, which start from the solution on the compressed kernel.

s of the n rows become support vectors, f of them free; both grow like powers of n, through the
two largest measured fits. The working set needs WORKING f rows, u. On w workers of t threads with
efficiency e, the measured constants are kernel values by ``n s`` and by ``s u``, seconds by value,
and for SMO seconds by ``s u``::

    products         n s / w values, on all workers     / (t e)
    working set      s u values, on the first worker    / (t e)
    SMO              s u seconds, on one of its threads
    synchronizations rounds times as many as measured, each as in `model`
    traffic          u bytes by round, at every worker
    memory           4 u**2 bytes, on the first worker
"""

from dataclasses import dataclass

import numpy as np

from benchmarks.scaling.model import Constants
from benchmarks.scaling.tops import on_the_way, tiers

WORKING = 2.5
"""Rows of the working set by free support vector; with fewer, there are many more rounds."""


@dataclass(frozen=True)
class ExactPrediction:
    """What the exact part of a fit takes: seconds, and bytes.

    Attributes
    ----------
    support, working, rounds : float
    products, block, smo, syncs : float
        Seconds.
    traffic, memory : float
        Bytes of a round at a worker, and of the matrix of the working set.
    """

    support: float
    working: float
    rounds: float
    products: float
    block: float
    smo: float
    syncs: float
    traffic: float
    memory: float

    @property
    def total(self):
        """Seconds."""
        return self.products + self.block + self.smo + self.syncs


def exact_runs(runs):
    """The measured fits of the exact solver, by number of rows."""
    found = [run for key, run in runs.items() if key.startswith("exact ")]
    return sorted(found, key=lambda run: run["rows"])


def growth(runs, what):
    """Return ``n -> a n**b`` through the two largest fits, and b."""
    small, large = exact_runs(runs)[-2:]
    power = np.log(large[what] / small[what]) / np.log(large["rows"] / small["rows"])
    return (lambda n: large[what] * (n / large["rows"]) ** power), power


def predict_exact(runs, n_rows, cluster):
    """Cost of the exact part of a fit."""
    c, large = Constants.of(runs), exact_runs(runs)[-1]
    (fit,) = (run for key, run in runs.items() if key.startswith("refine "))
    support, free, rounds = (
        growth(runs, what)[0](n_rows) for what in ("support", "free", "rounds")
    )
    working = WORKING * free
    inner = large["support"] * large["working"]
    w = cluster.workers
    sync = c.sync_fixed * tiers(w) + c.sync_part * on_the_way(w)
    return ExactPrediction(
        support=support,
        working=working,
        rounds=rounds,
        products=large["product"]
        * (n_rows * support)
        / (large["rows"] * large["support"])
        / (w * cluster.speed),
        block=large["block"] * support * working / inner / cluster.speed,
        smo=large["smo"] * support * working / inner,
        syncs=rounds * fit["syncs"] / fit["rounds"] * sync,
        traffic=working * fit["bytes"] / fit["rounds"] / fit["working"],
        memory=4 * working**2,
    )
