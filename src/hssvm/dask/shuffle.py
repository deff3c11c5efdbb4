"""The second pass over the data: it sends every row to its part."""

from __future__ import annotations

import operator
import pickle
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
from dask import delayed
from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph, MaterializedLayer
from distributed import Client, Future
from numpy.typing import NDArray

from hssvm.dask.partitions import Partition, identity
from hssvm.dask.plan import Layout
from hssvm.kernels.aligned import Aligned
from hssvm.kernels.base import Floats, Rows, sort_groups, stack_rows

MAX_CHUNK_TASKS = 2000
"""Number of chunks up to which each is a task; a scheduler handles about a thousand per second."""


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

    One task per partition splits it into chunks, and one per part joins its chunks. Only the rows
    of the parts are kept.

    Parameters
    ----------
    client : distributed.Client
    partitions : list of Delayed
        The partitions of the plan, in the same order.
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
    shared = delayed(identity, pure=False, traverse=False)(layout)
    filled = {
        int(layout.offsets[i]): partitions[i]
        for i in np.flatnonzero(np.diff(layout.offsets)).tolist()
    }
    if len(filled) * layout.n_parts <= MAX_CHUNK_TASKS:
        parts = _move_by_tasks(filled, shared, owners, seed)
    else:
        parts = _move_by_p2p(filled, shared, owners, seed)
    # The graph has many tiny tasks, and the user cannot make it smaller.
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"}):
        return client.compute(parts)


def _move_by_tasks(
    partitions: Mapping[int, Delayed], layout: Delayed, owners: Sequence[str], seed: int
) -> list[Delayed]:
    """Make every chunk the result of a tiny task, so that only this chunk is sent.

    `partitions` are the nonempty ones, by the global index of their first row; the chunks of a part
    are joined on its owner.
    """
    name = uuid.uuid4().hex
    # Dask treats tasks named split-shuffle as tiny, and runs them on the worker of the partition.
    cut, chunk, part = f"cut-{name}", f"split-shuffle-{name}", f"part-{name}"
    cuts = {
        (cut, i): (split, partition.key, layout.key, i, seed) for i, partition in partitions.items()
    }
    chunks = {
        (chunk, i, j): (operator.getitem, (cut, i), j)
        for i in partitions
        for j in range(len(owners))
    }
    graph = HighLevelGraph.from_collections(cut, cuts, [*partitions.values(), layout])
    layers = {**graph.layers, chunk: MaterializedLayer(chunks)}
    needs = {**graph.dependencies, chunk: {cut}}
    for j, owner in enumerate(owners):
        layers[f"{part}-{j}"] = MaterializedLayer(
            {(part, j): (join, [(chunk, i, j) for i in partitions])},
            annotations={"workers": [owner], "allow_other_workers": True},
        )
        needs[f"{part}-{j}"] = {chunk}
    graph = HighLevelGraph(layers, needs)
    return [Delayed((part, j), graph, layer=f"{part}-{j}") for j in range(len(owners))]


def _move_by_p2p(
    partitions: Mapping[int, Delayed], layout: Delayed, owners: Sequence[str], seed: int
) -> list[Delayed]:
    """Move the chunks by Dask's P2P shuffle, whose tasks are as many as partitions and parts.

    Like `_move_by_tasks`. P2P moves the rows of data frames: here every row is a chunk, pickled in
    the only column. It writes chunks to disk, and starts again if a worker is lost.
    """
    packed = [
        delayed(pack, pure=False)(partition, layout, i, seed) for i, partition in partitions.items()
    ]
    graph = HighLevelGraph.merge(*(chunks.__dask_graph__() for chunks in packed)).to_dict()
    keys = [chunks.key for chunks in packed]
    frame = dd.from_graph(graph, chunk_frame([], 0), [None] * (len(keys) + 1), keys, "chunks")
    divisions = list(range(len(owners) + 1))
    moved = frame.set_index("part", divisions=divisions, shuffle_method="p2p")
    parts = []
    for owner, chunks in zip(owners, moved.to_delayed(), strict=True):
        with dask.annotate(workers=[owner], allow_other_workers=True):
            parts.append(delayed(unpack, pure=False)(chunks))
    return parts


def pack(partition: Partition, layout: Layout, offset: int, seed: int) -> pd.DataFrame:
    """Split the rows of a partition into a data frame with a row for every part."""
    return chunk_frame([pickle.dumps(c) for c in split(partition, layout, offset, seed)], offset)


def chunk_frame(chunks: Sequence[bytes], offset: int) -> pd.DataFrame:
    """Return a data frame with pickled chunks of all parts."""
    dtype = pd.ArrowDtype(pa.large_binary())
    return pd.DataFrame(
        {
            "part": np.arange(len(chunks)),
            "offset": np.full(len(chunks), offset),
            "chunk": pd.Series(chunks, dtype=dtype),
        }
    )


def unpack(chunks: pd.DataFrame) -> PartRows:
    """Join the pickled chunks of a part, in the order of the partitions."""
    return join([pickle.loads(chunk) for chunk in chunks.sort_values("offset")["chunk"]])


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
