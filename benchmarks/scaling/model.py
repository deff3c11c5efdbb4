"""The cost model: what a fit on many workers takes, from what was measured on few.

With n rows on w workers of t threads with parallel efficiency e, a worker has ``m = n / w`` rows
and does ``t e`` times the work of one thread. Measured constants, by row on one thread: reading
(both passes), compression, factor, iteration, finish. The rest depends on w through the tiers of
coordinators: q of them, with v members in all between a part and the root (see `tops.on_the_way`).
A synchronization takes ``a q + b v`` seconds, and factor and solve of the groups so much per
member, on one thread. The shuffle has a task for every piece and for every part::

    read       m read / (t e) + (pieces + w) task
    build      (m compress + factors m factor + v top_compress) / (t e) + factors v top_factor
    iteration  m iteration / (t e) + syncs (a q + b v) + v top_solve
    finish     m finish / (t e)
    memory     base + m peak, and top_bytes for each member more on a worker with a coordinator

Nothing here is fitted to large clusters: there were none.
"""

from dataclasses import dataclass

import numpy as np

from benchmarks.scaling.tops import on_the_way, tiers
from hssvm.hss.top import FAN_IN

PIECE_BYTES = 128e6
"""Size of a piece in a prediction, such as a row group of a Parquet file."""


@dataclass(frozen=True)
class Constants:
    """What was measured; seconds on one thread, bytes in float32.

    Attributes
    ----------
    row_bytes : float
        Features of a row.
    read, compress, factor, iteration, finish : float
        Seconds per row.
    peak, base : float
        Bytes per row at the peak of a worker, and of a worker without rows.
    n_iterations, n_factors, syncs : float
        Of a fit; synchronizations per iteration.
    sync_fixed, sync_part : float
        Seconds of a synchronization: a per tier, measured with a few parts; and b per member, the
        processor time of a coordinator per message, measured with many.
    top_compress, top_factor, top_solve, top_bytes : float
        Of the groups, per member.
    message : float
        Bytes of a worker and iteration, up and down.
    task : float
        Seconds of a task of the shuffle.
    """

    row_bytes: float
    read: float
    compress: float
    factor: float
    iteration: float
    finish: float
    peak: float
    base: float
    n_iterations: float
    n_factors: float
    syncs: float
    sync_fixed: float
    sync_part: float
    top_compress: float
    top_factor: float
    top_solve: float
    top_bytes: float
    message: float
    task: float

    @classmethod
    def of(cls, runs):
        """From the results of `benchmarks.scaling.cluster`."""
        fit = largest(runs, "fit")
        steps, alone = (largest(runs, kind) for kind in ("iterations", "alone"))
        crowd, top = (runs[f"{kind} {most_parts(runs)}"] for kind in ("crowd", "top"))
        bare, sent = runs[f"sync {fit['workers']}, 1 columns"], runs["messages 1"]
        shuffle = runs["shuffle"]
        rows, seconds = alone["rows"], fit["seconds"]
        syncs = steps["syncs"] / steps["iterations"]
        return cls(
            row_bytes=4 * fit["features"],
            read=(seconds["describe"] + seconds["shuffle"]) / fit["rows"],
            compress=(alone["tree"] + alone["compress"]) / rows,
            factor=alone["factor"] / rows,
            iteration=alone["iteration"] / rows,
            finish=seconds["finish"] / fit["rows"],
            peak=largest_peak(runs),
            base=fit["before"],
            n_iterations=fit["iterations"],
            n_factors=fit["factors"],
            syncs=syncs,
            sync_fixed=(bare["solve"] + (syncs - 1) * bare["sum"]) / syncs,
            sync_part=crowd["processor"] / crowd["parts"],
            top_compress=top["compress"] / top["on the way"],
            top_factor=top["factor"] / top["on the way"],
            top_solve=top["solve 1"] / top["on the way"],
            top_bytes=top["bytes"] / min(top["parts"], FAN_IN),
            message=sent["solve"] + (syncs - 1) * sent["sum"],
            task=shuffle["shuffle"] / (shuffle["pieces"] + shuffle["parts"]),
        )


def largest(runs, kind):
    """The run of a kind with the most rows, of those with the fewest workers."""
    found = [run for key, run in runs.items() if key.startswith(f"{kind} ")]
    fewest = min(run["workers"] for run in found)
    return max((run for run in found if run["workers"] == fewest), key=lambda run: run["rows"])


def largest_peak(runs):
    """Bytes per row of a worker at its peak, in the fit where it was largest."""
    return max(run["peak"] for key, run in runs.items() if key.startswith("fit "))


def most_parts(runs):
    """Largest number of parts of the simulation."""
    return max(run["parts"] for key, run in runs.items() if key.startswith("crowd "))


@dataclass(frozen=True)
class Cluster:
    """Workers with a number of threads each.

    Attributes
    ----------
    workers, threads : int
    efficiency : float
        Share of its full speed that each of the threads keeps.
    """

    workers: int
    threads: int = 16
    efficiency: float = 0.5

    @property
    def speed(self):
        """Of a worker, relative to one thread."""
        return self.threads * self.efficiency


@dataclass(frozen=True)
class Prediction:
    """What a fit takes: seconds, and bytes.

    Attributes
    ----------
    read, build, iteration, sync, total : float
        `sync` is the share of an iteration that is not a worker's own: synchronizations, the top.
    memory, memory_first : float
        Of a worker, and of one with a coordinator.
    traffic : float
        Bytes per iteration at a coordinator.
    """

    read: float
    build: float
    iteration: float
    sync: float
    total: float
    memory: float
    memory_first: float
    traffic: float


def predict(constants, n_rows, cluster, n_pieces=None):
    """Cost of a fit."""
    c, w = constants, cluster.workers
    rows, way, n_tiers = n_rows / w, on_the_way(w), tiers(w)
    if n_pieces is None:
        n_pieces = int(np.ceil(n_rows * c.row_bytes / PIECE_BYTES))
    read = rows * c.read / cluster.speed + (n_pieces + w) * c.task
    compress = (rows * c.compress + way * c.top_compress) / cluster.speed
    factor = rows * c.factor / cluster.speed + way * c.top_factor
    sync = c.syncs * (c.sync_fixed * n_tiers + c.sync_part * way) + way * c.top_solve
    iteration = rows * c.iteration / cluster.speed + sync
    build = compress + c.n_factors * factor
    memory = c.base + rows * c.peak
    return Prediction(
        read=read,
        build=build,
        iteration=iteration,
        sync=sync,
        total=read + build + c.n_iterations * iteration + rows * c.finish / cluster.speed,
        memory=memory,
        memory_first=memory + min(w, FAN_IN) * c.top_bytes,
        traffic=min(w, FAN_IN) * c.message,
    )


def on_this_machine(constants, run, cores):
    """Prediction for a measured fit: workers of one thread that share the cores."""
    efficiency = min(1.0, cores / run["workers"])
    here = Cluster(run["workers"], threads=1, efficiency=efficiency)
    return predict(constants, run["workers"] * run["rows"], here, run["pieces"])
