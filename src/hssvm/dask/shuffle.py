"""The second pass over the data: it sends every row to its part."""

from __future__ import annotations

import operator
import pickle
import uuid
from collections.abc import Callable, Mapping, Sequence
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
    fold : (n,) int64 or None
        Folds of the rows, if they are assigned before the rows move.
    """

    X: Rows
    y: NDArray[Any] | None
    weight: Floats | None
    ids: NDArray[np.int64]
    fold: NDArray[np.int64] | None = None

    @property
    def weights(self) -> Floats:
        """Weights of the rows, 1 by default."""
        return np.ones(self.ids.size) if self.weight is None else self.weight

    def split(self, part: NDArray[np.int64], n_parts: int) -> list[PartRows]:
        """Split the rows into parts, given the part of each row."""
        order, ends = sort_groups(part, n_parts)
        return [self.at(rows) for rows in np.split(order, ends[1:-1])]

    def at(self, rows: NDArray[np.int64]) -> PartRows:
        """Return some of the rows."""

        def taken(column: NDArray[Any] | None) -> NDArray[Any] | None:
            return None if column is None else column[rows]

        X, ids = self.X[rows], self.ids[rows]
        return PartRows(X, taken(self.y), taken(self.weight), ids, taken(self.fold))


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
    chunks = {
        int(layout.offsets[i]): (split, partitions[i], shared, int(layout.offsets[i]), seed)
        for i in np.flatnonzero(np.diff(layout.offsets)).tolist()
    }
    return move_chunks(client, chunks, owners)


def move_chunks(
    client: Client, chunks: Mapping[int, tuple[Any, ...]], owners: Sequence[str]
) -> list[Future]:
    """Move chunks of rows to their parts.

    Parameters
    ----------
    client : distributed.Client
    chunks : dict of int to tuple
        A function and its arguments, which may be Delayed or Future: it returns a list of
        `PartRows`, one per part. The keys are in the order of the rows.
    owners : (n_parts,) addresses of workers

    Returns
    -------
    (n_parts,) list of futures of PartRows
    """
    move = _move_by_tasks if len(chunks) * len(owners) <= MAX_CHUNK_TASKS else _move_by_p2p
    # The graph has many tiny tasks, and the user cannot make it smaller.
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"}):
        return client.compute(move(chunks, owners))


def _move_by_tasks(chunks: Mapping[int, tuple[Any, ...]], owners: Sequence[str]) -> list[Delayed]:
    """Make every chunk the result of a tiny task, so that only this chunk is sent.

    The chunks of a part are joined on its owner.
    """
    name = uuid.uuid4().hex
    wholes = {i: delayed(function, pure=False)(*own) for i, (function, *own) in chunks.items()}
    # Dask treats tasks named split-shuffle as tiny, and runs them on the worker of the partition.
    chunk, part = f"split-shuffle-{name}", f"part-{name}"
    tiny = {
        (chunk, i, j): (operator.getitem, whole.key, j)
        for i, whole in wholes.items()
        for j in range(len(owners))
    }
    graph = HighLevelGraph.from_collections(chunk, tiny, list(wholes.values()))
    layers, needs = dict(graph.layers), dict(graph.dependencies)
    for j, owner in enumerate(owners):
        layers[f"{part}-{j}"] = MaterializedLayer(
            {(part, j): (join, [(chunk, i, j) for i in chunks])},
            annotations={"workers": [owner], "allow_other_workers": True},
        )
        needs[f"{part}-{j}"] = {chunk}
    graph = HighLevelGraph(layers, needs)
    return [Delayed((part, j), graph, layer=f"{part}-{j}") for j in range(len(owners))]


def _move_by_p2p(chunks: Mapping[int, tuple[Any, ...]], owners: Sequence[str]) -> list[Delayed]:
    """Move the chunks by Dask's P2P shuffle, whose tasks are as many as partitions and parts.

    Like `_move_by_tasks`. P2P moves the rows of data frames: here every row is a chunk, pickled in
    the only column. It writes chunks to disk, and starts again if a worker is lost.
    """
    packed = [delayed(pack, pure=False)(i, *chunk) for i, chunk in chunks.items()]
    graph = HighLevelGraph.merge(*(one.__dask_graph__() for one in packed)).to_dict()
    keys = [one.key for one in packed]
    frame = dd.from_graph(graph, chunk_frame([], 0), [None] * (len(keys) + 1), keys, "chunks")
    divisions = list(range(len(owners) + 1))
    moved = frame.set_index("part", divisions=divisions, shuffle_method="p2p")
    parts = []
    for owner, own in zip(owners, moved.to_delayed(), strict=True):
        with dask.annotate(workers=[owner], allow_other_workers=True):
            parts.append(delayed(unpack, pure=False)(own))
    return parts


def pack(offset: int, function: Callable[..., Sequence[PartRows]], *arguments: Any) -> pd.DataFrame:
    """Return a data frame with a row for the chunk of every part."""
    return chunk_frame([pickle.dumps(chunk) for chunk in function(*arguments)], offset)


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
    rows = converted(partition, layout, offset)
    return rows.split(layout.splits.assign(rows.X, rows.ids, seed), layout.n_parts)


def converted(partition: Partition, layout: Layout, offset: int) -> PartRows:
    """Return the rows of a partition as the model needs them."""
    X = layout.scaling(partition.X.astype(layout.dtype, copy=False))
    ids = np.arange(offset, offset + X.shape[0])
    return PartRows(X, targets(partition.y, layout), partition.weight, ids)


def targets(y: NDArray[Any] | None, layout: Layout) -> NDArray[Any] | None:
    """Convert y to class indices, or to float64."""
    if y is None:
        return None
    if layout.classes is not None:
        return np.searchsorted(layout.classes.labels, y)
    return y.astype(np.float64)


def join(chunks: Sequence[PartRows]) -> PartRows:
    """Join the chunks of a part, in the order of the partitions."""

    def column(name: str) -> NDArray[Any] | None:
        columns = [getattr(chunk, name) for chunk in chunks]
        return None if columns[0] is None else np.concatenate(columns)

    X, ids = stack_rows([chunk.X for chunk in chunks]), [chunk.ids for chunk in chunks]
    return PartRows(X, column("y"), column("weight"), np.concatenate(ids), column("fold"))
