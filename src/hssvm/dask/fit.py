"""The stages of a fit, as the driver sees them."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from distributed import Client, Future

from hssvm.dask.build import Recipe, build_part, build_top, n_rows_of, root_of, top_ranks
from hssvm.dask.columns import Columns
from hssvm.dask.model import DistributedModel
from hssvm.dask.pieces import as_pieces
from hssvm.dask.plan import LEAST_ROWS, Layout, outside_of, plan
from hssvm.dask.runs import Runs
from hssvm.dask.shuffle import collect_parts
from hssvm.dask.train import Training
from hssvm.dask.waiting import Asked, ClusterLost, live_workers, value_of, values_of, wait_for
from hssvm.estimators.report import FitReport
from hssvm.hss.tree import depth_for

logger = logging.getLogger(__name__)

SECONDS_PER_CHUNK = 0.002
"""That the scheduler may take to read a task of the shuffle."""


def fit(
    client: Client,
    data: tuple[Any, Any, Any],
    describe: Callable[[Layout], tuple[Recipe, Columns]],
    *,
    scaling: str | None,
    classify: bool,
    tol: float | None,
    max_iter: int,
    beta: float | str | None,
    seed: int,
    asked: Asked,
) -> tuple[DistributedModel, FitReport]:
    """Train on the workers of a client.

    Parameters
    ----------
    client : distributed.Client
    data : (X, y, sample_weight)
        What `as_pieces` takes.
    describe : callable
        Makes recipe and columns when it is known what the rows are like.
    scaling, tol, max_iter, beta
        As in `hssvm.SVC`.
    classify : bool
        Whether y are labels.
    seed : int
    asked : callable
        Asked now and then whether to stop.

    Returns
    -------
    DistributedModel
    FitReport
    """
    owners = live_workers(client)
    if not owners:
        raise ClusterLost("the cluster has no workers; wait for them: client.wait_for_workers(1)")
    report, temporary = FitReport(), list[Future]()

    def submit(*args: Any, **options: Any) -> Future:
        temporary.append(client.submit(*args, **options, pure=False))
        return temporary[-1]

    try:
        with report.stage("describe"):
            pieces = as_pieces(client, *data)
            layout, planned = plan(
                client,
                pieces,
                len(owners),
                seed=seed,
                scaling=scaling,
                classify=classify,
                least_rows=LEAST_ROWS,
                asked=asked,
            )
            temporary.append(planned)
        recipe, columns = describe(layout)
        with report.stage("shuffle"):
            rows = collect_parts(client, pieces, layout, owners[: layout.n_parts], seed)
            temporary += rows
            sizes = [submit(n_rows_of, part) for part in rows]
            reading = SECONDS_PER_CHUNK * len(pieces) * len(rows)
            wait_for(client, sizes, reading=reading, asked=asked)
            n_rows = values_of(client, sizes)
            del pieces  # of rows on the driver the workers have blocks
        logger.info("%d parts of %d to %d rows", len(rows), min(n_rows), max(n_rows))
        depth = depth_for(max(n_rows), recipe.leaf_size)
        if min(n_rows) < 2**depth:
            raise ValueError(
                f"the parts have {min(n_rows)} to {max(n_rows)} rows: too different for one tree. "
                "Is one of the pieces far larger than the others? Make them equal, or use fewer "
                "workers"
            )
        with report.stage("compress"):
            built = [
                submit(
                    build_part,
                    own,
                    submit(outside_of, planned, part),
                    part,
                    depth,
                    recipe,
                    workers=[owners[part]],
                    allow_other_workers=True,
                )
                for part, own in enumerate(rows)
            ]
            for own in rows:  # should a part be lost, the scheduler makes its rows again
                own.release()
            top = submit(
                build_top, [submit(root_of, part) for part in built], planned, depth, recipe
            )
            ranks = value_of(client, submit(top_ranks, top), asked)
        training = Training(columns, tol, max_iter, beta, layout.n_rows, seed)
        runs = Runs(client, built, top, layout.cuts.slots, training, asked)
        try:
            with FitReport().stage("solve", goal=tol):  # for the log: workers measure the time
                told, models = runs.train()
        finally:
            runs.release()
    finally:
        for future in temporary:
            future.release()
    trained = told[0].report
    trained.seconds = {**report.seconds, **trained.seconds}
    trained.ranks = [*ranks, *trained.ranks]
    return DistributedModel(client, layout, models, told[0].intercept), trained
