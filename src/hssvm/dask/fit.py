"""The stages of a fit, as the driver sees them."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from distributed import Client

from hssvm.dask.build import Recipe, build_part, build_top, n_rows_of, root_of, top_ranks
from hssvm.dask.columns import Columns
from hssvm.dask.model import DistributedModel
from hssvm.dask.pieces import as_pieces
from hssvm.dask.plan import Layout, outside_of, plan
from hssvm.dask.runs import Asked, Runs
from hssvm.dask.shuffle import collect_parts
from hssvm.dask.train import Training
from hssvm.dask.waiting import ClusterLost, live_workers, value_of, wait_for
from hssvm.estimators.report import FitReport
from hssvm.hss.tree import depth_for

logger = logging.getLogger(__name__)


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
    report = FitReport()
    with report.stage("describe"):
        pieces = as_pieces(client, *data)
        layout, planned = plan(client, pieces, seed=seed, scaling=scaling, classify=classify)
    recipe, columns = describe(layout)
    parts = range(layout.n_parts)
    with report.stage("shuffle"):
        rows = collect_parts(client, pieces, layout, owners[: layout.n_parts], seed)
        sizes = [client.submit(n_rows_of, part, pure=False) for part in rows]
        wait_for(client, sizes)
        n_rows = client.gather(sizes)
    logger.info("%d parts of %d to %d rows", len(rows), min(n_rows), max(n_rows))
    depth = depth_for(max(n_rows), recipe.leaf_size)
    if min(n_rows) < 2**depth:
        raise ValueError(
            f"the parts have {min(n_rows)} to {max(n_rows)} rows: too different for one tree. Are "
            "the rows in pieces of very different kinds? Shuffle them, or use fewer workers"
        )
    with report.stage("compress"):
        built = [
            client.submit(
                build_part,
                rows[part],
                client.submit(outside_of, planned, part, pure=False),
                part,
                depth,
                recipe,
                workers=[owners[part]],
                allow_other_workers=True,
                pure=False,
            )
            for part in parts
        ]
        del rows  # their memory; should a part be lost, the scheduler makes its rows again
        roots = [client.submit(root_of, part, pure=False) for part in built]
        top = client.submit(build_top, roots, planned, depth, recipe, pure=False)
        ranks = value_of(client, client.submit(top_ranks, top, pure=False))
    training = Training(columns, tol, max_iter, beta, layout.n_rows, seed)
    runs = Runs(client, built, top, layout.cuts.slots, training, asked)
    models, trained, intercept = runs.train()
    stages = {name: trained.seconds[name] for name in ("factor", "solve", "finish")}
    trained.seconds = {**report.seconds, **stages}
    trained.ranks = [*ranks, *trained.ranks]
    return DistributedModel(client, layout, models, intercept, runs.spare_models()), trained
