"""The second pass over the data: it sends every row to its part."""

from __future__ import annotations

import operator
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import dask
import numpy as np
from dask import delayed
from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph, MaterializedLayer
from distributed import Client, Future
from numpy.typing import NDArray

from hssvm.dask.partitions import Partition, identity
from hssvm.dask.plan import Layout
from hssvm.kernels.aligned import Aligned
from hssvm.kernels.base import Floats, Rows, sort_groups, stack_rows


@dataclass(frozen=True, eq=False)
class PartRows(Aligned):
    """The rows of a part, or of a part and one partition.

    Attributes
    ----------
    X : (n, p) array or CSR matrix
        Scaled.
    y : (n,) or None
        Class indices, int64, or target values, float64.
    weight : (n,) float64 or None
    ids : (n,) int64
        Global row indices, ascending.
    """

    X: Rows
    y: NDArray[Any] | None
    weight: Floats | None
    ids: NDArray[np.int64]


def collect_parts(
    client: Client,
    partitions: Sequence[Delayed],
    layout: Layout,
    owners: Sequence[str],
    seed: int,
) -> list[Future]:
    """Read all partitions a second time, and send every row to its part.

    One task per partition splits it into chunks; a tiny task per chunk makes it a separate object,
    so that only this chunk is sent; and one task per part joins its chunks. Only the rows of the
    parts are kept.

    Parameters
    ----------
    client : distributed.Client
    partitions : list of Delayed
        The same partitions as those of the plan, in the same order.
    layout : Layout
        It is part of the graph, not the result of a task: recomputed on another processor after
        the loss of a worker, it might assign some rows to other parts than before.
    owners : (n_parts,) addresses of workers
        The preferred worker of each part; another one is used if it is lost.
    seed : int

    Returns
    -------
    (n_parts,) list of futures of PartRows
    """
    if len(owners) != layout.n_parts:
        raise ValueError(f"expected {layout.n_parts} owners, one per part, got {len(owners)}")
    if len(partitions) != layout.offsets.size - 1:
        raise ValueError(
            f"expected the {layout.offsets.size - 1} partitions of the plan, got {len(partitions)}"
        )
    name = uuid.uuid4().hex
    # Dask treats tasks named split-shuffle as tiny, and runs them on the worker of the partition.
    cut, chunk, part = f"cut-{name}", f"split-shuffle-{name}", f"part-{name}"
    shared = delayed(identity, pure=False, traverse=False)(layout)
    filled = np.flatnonzero(np.diff(layout.offsets)).tolist()
    cuts = {
        (cut, i): (split, partitions[i].key, shared.key, int(layout.offsets[i]), seed)
        for i in filled
    }
    chunks = {
        (chunk, i, j): (operator.getitem, (cut, i), j)
        for i in filled
        for j in range(layout.n_parts)
    }
    graph = HighLevelGraph.from_collections(cut, cuts, [*partitions, shared])
    layers = {**graph.layers, chunk: MaterializedLayer(chunks)}
    needs = {**graph.dependencies, chunk: {cut}}
    for j, owner in enumerate(owners):
        layers[f"{part}-{j}"] = MaterializedLayer(
            {(part, j): (join, [(chunk, i, j) for i in filled])},
            annotations={"workers": [owner], "allow_other_workers": True},
        )
        needs[f"{part}-{j}"] = {chunk}
    graph = HighLevelGraph(layers, needs)
    # The graph has many tiny tasks, and the user cannot make it smaller.
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"}):
        return client.compute(
            [Delayed((part, j), graph, layer=f"{part}-{j}") for j in range(layout.n_parts)]
        )


def split(partition: Partition, layout: Layout, offset: int, seed: int) -> list[PartRows]:
    """Split the rows of a partition by part; `offset` is the global index of its first row."""
    X = layout.scaling(partition.X.astype(layout.dtype, copy=False))
    y = targets(partition.y, layout)
    ids = np.arange(offset, offset + X.shape[0])
    order, ends = sort_groups(layout.splits.assign(X, ids, seed), layout.n_parts)
    return [
        PartRows(
            X[rows],
            None if y is None else y[rows],
            None if partition.weight is None else partition.weight[rows],
            ids[rows],
        )
        for rows in np.split(order, ends[1:-1])
    ]


def targets(y: NDArray[Any] | None, layout: Layout) -> NDArray[Any] | None:
    """Convert y to class indices, or to float64."""
    if y is None:
        return None
    if layout.classes is not None:
        return np.searchsorted(layout.classes.labels, y)
    return y.astype(np.float64)


def join(chunks: Sequence[PartRows]) -> PartRows:
    """Join the chunks of a part, in the order of the partitions."""
    first = chunks[0]
    return PartRows(
        stack_rows([c.X for c in chunks]),
        None if first.y is None else np.concatenate([c.y for c in chunks]),
        None if first.weight is None else np.concatenate([c.weight for c in chunks]),
        np.concatenate([c.ids for c in chunks]),
    )
