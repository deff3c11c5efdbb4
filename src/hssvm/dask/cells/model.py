"""A forest of cells on a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from dask import delayed
from dask.delayed import Delayed
from distributed import Client, Future
from numpy.typing import NDArray

from hssvm.dask.cells.train import NodeModel
from hssvm.dask.model import DistributedModel, Gathered, join_values, model_rows
from hssvm.dask.partitions import identity
from hssvm.dask.plan import Layout
from hssvm.dask.waiting import value_of, values_of
from hssvm.hss import ClusterTree
from hssvm.hss.parts import join_trees
from hssvm.kernels.base import Floats, Rows, sort_groups, stack_rows
from hssvm.predictors import ExpansionPredictor, LeafExpansions, LeafwisePredictor


class CellsModel(DistributedModel):
    """Computes decision values from the cells of all trees.

    Parameters
    ----------
    client : distributed.Client
    layout : Layout
    tops : list of ClusterTree
        Cuts of the top levels of the trees.
    trees : list of list of Future
        Futures of the `NodeModel` of every node below them.
    k : int
        Number of columns.
    """

    exact = False

    def __init__(
        self,
        client: Client,
        layout: Layout,
        tops: Sequence[ClusterTree],
        trees: Sequence[Sequence[Future]],
        k: int,
    ) -> None:
        super().__init__(client, layout, np.zeros(k))  # the cells have their own intercepts
        self.tops = tops
        self.trees = trees

    def _values(self, partitions: Sequence[Delayed]) -> list[Delayed]:
        layout, *tops = map(delayed(identity, pure=False, traverse=False), self._shared)
        values = []
        for partition in partitions:
            X = delayed(model_rows, pure=False)(partition, layout)
            values.append(delayed(mean_of, pure=False)(self._values_of_trees(X, tops)))
        return values

    def decisions_of_trees(self, X: Future) -> Floats:
        """Decision values of each tree at scaled rows, (n_trees, m, k)."""
        _, *tops = map(delayed(identity, pure=False, traverse=False), self._shared)
        trees = self._values_of_trees(X, tops)
        return np.stack(values_of(self.client, self.client.compute(trees)))

    @property
    def _shared(self) -> list[Any]:
        return [self.layout, *self.tops]

    def _values_of_trees(self, X: Delayed | Future, tops: Sequence[Delayed]) -> list[Delayed]:
        """Decision values of each tree at scaled rows, (m, k) each."""
        values = []
        for top, nodes in zip(tops, self.trees, strict=True):
            groups = delayed(group_by_node, pure=False)(X, top)
            parts = [
                delayed(node_values, pure=False)(node, groups[i]) for i, node in enumerate(nodes)
            ]
            values.append(delayed(join_values, pure=False)(groups[-1], parts, self.intercept))
        return values

    def n_support(self) -> int:
        """Number of different support vectors of all trees."""
        ids = [self.client.submit(ids_of, node, pure=False) for own in self.trees for node in own]
        return int(value_of(self.client, self.client.submit(count_distinct, ids, pure=False)))

    def gather(self) -> Gathered:
        """Gather the model on the driver."""
        return join_cells(self.tops, [values_of(self.client, nodes) for nodes in self.trees])


def group_by_node(X: Rows, top: ClusterTree) -> list[Any]:
    """Return the rows of every node below the top of a tree, and, last, their positions in X."""
    order, ends = sort_groups(top.route(X), top.n_leaves)
    return [*(X[order[a:b]] for a, b in pairwise(ends)), order]


def node_values(model: NodeModel, X: Rows) -> Floats:
    """Decision values at rows of a node."""
    return model.predictor(X)


def mean_of(trees: Sequence[Floats]) -> Floats:
    """Mean over the trees, as computed on one machine."""
    total = trees[0].copy()
    for values in trees[1:]:
        total += values
    total /= len(trees)
    return total


def ids_of(model: NodeModel) -> NDArray[np.int64]:
    """Indices of the support vectors of a node."""
    return model.ids


def count_distinct(ids: Sequence[NDArray[np.int64]]) -> int:
    """Number of different indices."""
    return int(np.unique(np.concatenate(ids)).size)


def join_cells(tops: Sequence[ClusterTree], trees: Sequence[Sequence[NodeModel]]) -> Gathered:
    """Join the models of all nodes into a model on one machine."""
    nodes = [node for own in trees for node in own]
    kernel, clip = nodes[0].predictor.kernel, nodes[0].predictor.clip
    ids, first = np.unique(np.concatenate([node.ids for node in nodes]), return_index=True)
    X = stack_rows([node.predictor.X for node in nodes])[first]
    y = [node.y for node in nodes if node.y is not None]
    expansions = [_joined(top, own, ids) for top, own in zip(tops, trees, strict=True)]
    Z: Floats = np.zeros((ids.size, expansions[0].weights.shape[1]), X.dtype)
    for index, tree in enumerate(expansions):  # the mean, as computed on one machine
        own: Floats = np.zeros_like(Z)
        own[tree.rows] = tree.weights
        Z = Z + (own - Z) / (index + 1) if index else own
    used = np.flatnonzero(Z.any(axis=1))
    predictor = LeafwisePredictor.of(kernel, X, expansions, clip)
    assert predictor.ids is not None
    predictor.ids = ids[predictor.ids]
    return Gathered(
        predictor,
        ExpansionPredictor(kernel, X[used], Z[used]),
        ids[used],
        np.concatenate(y)[first][used] if y else None,
    )


def _joined(top: ClusterTree, nodes: Sequence[NodeModel], ids: NDArray[np.int64]) -> LeafExpansions:
    """Join the expansions of a tree; its rows are positions in `ids`."""
    own = [node.predictor.trees[0] for node in nodes]
    # The points of a node are stored leaf by leaf, and so are their indices.
    rows = np.searchsorted(ids, np.concatenate([node.ids for node in nodes]))
    sizes = np.concatenate([np.diff(one.ends) for one in own])
    return LeafExpansions(
        join_trees(top.directions, top.thresholds, [one.tree for one in own], np.arange(len(own))),
        rows,
        np.concatenate([[0], np.cumsum(sizes)]),
        np.concatenate([one.weights for one in own]),
        own[0].intercept,
        np.concatenate([one.constants for one in own if one.constants is not None]),
    )
