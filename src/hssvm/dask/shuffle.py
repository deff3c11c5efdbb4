"""The second pass: every row to its part."""

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

from hssvm.dask.pieces import Piece, itself
from hssvm.dask.plan import Layout
from hssvm.kernels.base import Floats, Rows, sort_groups, stack_rows


@dataclass(frozen=True, eq=False)
class PartRows:
    """The rows of a part, or those of them that come from one piece.

    Attributes
    ----------
    X : (n, p) array or CSR matrix
        Scaled.
    y : (n,) or None
        Numbers of the classes, int64; or values, float64.
    weight : (n,) float64 or None
    ids : (n,) int64
        Global row numbers, ascending.
    """

    X: Rows
    y: NDArray[Any] | None
    weight: Floats | None
    ids: NDArray[np.int64]


def collect_parts(
    client: Client,
    pieces: Sequence[Delayed],
    layout: Layout,
    owners: Sequence[str],
    seed: int,
) -> list[Future]:
    """Read all pieces a second time, and bring every row to its part.

    A piece is cut into chunks by one task, a tiny task for every chunk makes it an object of its
    own, so that only that travels, and one task for every part puts its chunks together. No rows
    are kept but those of the parts.

    Parameters
    ----------
    client : distributed.Client
    pieces : list of Delayed
        The same as those of the plan, in the same order.
    layout : Layout
        It is part of the graph, not a result: if it were computed again after a loss, and on
        another processor, some rows might change sides while others have left already.
    owners : (n_parts,) addresses of workers
        Where each part should be; it goes elsewhere if that worker is lost.
    seed : int

    Returns
    -------
    (n_parts,) list of futures of PartRows
    """
    if len(owners) != layout.n_parts:
        raise ValueError(f"{layout.n_parts} parts need as many owners, got {len(owners)}")
    if len(pieces) != layout.offsets.size - 1:
        raise ValueError(
            f"the layout is of {layout.offsets.size - 1} pieces, not {len(pieces)}; plan again"
        )
    name = uuid.uuid4().hex
    # Dask knows that tasks called split-shuffle are tiny, and leaves them where the piece is.
    cut, chunk, part = f"cut-{name}", f"split-shuffle-{name}", f"part-{name}"
    shared = delayed(itself, pure=False, traverse=False)(layout)
    filled = np.flatnonzero(np.diff(layout.offsets)).tolist()
    cuts = {
        (cut, i): (split, pieces[i].key, shared.key, int(layout.offsets[i]), seed) for i in filled
    }
    chunks = {
        (chunk, i, j): (operator.getitem, (cut, i), j)
        for i in filled
        for j in range(layout.n_parts)
    }
    graph = HighLevelGraph.from_collections(cut, cuts, [*pieces, shared])
    layers = {**graph.layers, chunk: MaterializedLayer(chunks)}
    needs = {**graph.dependencies, chunk: {cut}}
    for j, owner in enumerate(owners):
        layers[f"{part}-{j}"] = MaterializedLayer(
            {(part, j): (join, [(chunk, i, j) for i in filled])},
            annotations={"workers": [owner], "allow_other_workers": True},
        )
        needs[f"{part}-{j}"] = {chunk}
    graph = HighLevelGraph(layers, needs)
    # Many tiny tasks: nobody could make this graph smaller.
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"}):
        return client.compute(
            [Delayed((part, j), graph, layer=f"{part}-{j}") for j in range(layout.n_parts)]
        )


def split(piece: Piece, layout: Layout, offset: int, seed: int) -> list[PartRows]:
    """Rows of a piece by part; `offset` is the global number of its first row."""
    X = layout.scaling(piece.X.astype(layout.dtype, copy=False))
    y = _targets(piece.y, layout)
    ids = np.arange(offset, offset + X.shape[0])
    order, ends = sort_groups(layout.cuts.assign(X, ids, seed), layout.n_parts)
    return [
        PartRows(
            X[rows],
            None if y is None else y[rows],
            None if piece.weight is None else piece.weight[rows],
            ids[rows],
        )
        for rows in np.split(order, ends[1:-1])
    ]


def _targets(y: NDArray[Any] | None, layout: Layout) -> NDArray[Any] | None:
    """Y as the solvers want it."""
    if y is None:
        return None
    if layout.classes is not None:
        return np.searchsorted(layout.classes.labels, y)
    return y.astype(np.float64)


def join(chunks: Sequence[PartRows]) -> PartRows:
    """Rows of a part, from the chunks of all pieces in their order."""
    first = chunks[0]
    return PartRows(
        stack_rows([c.X for c in chunks]),
        None if first.y is None else np.concatenate([c.y for c in chunks]),
        None if first.weight is None else np.concatenate([c.weight for c in chunks]),
        np.concatenate([c.ids for c in chunks]),
    )
