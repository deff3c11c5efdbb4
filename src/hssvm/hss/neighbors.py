"""Nearest neighbors, and the samples of a node that are drawn from them."""

from __future__ import annotations

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from hssvm.hss.tree import ClusterTree
from hssvm.kernels.base import Rows
from hssvm.kernels.wide import occurring_columns

LOW_DIMENSION = 20
"""Number of features up to which exact search trees are faster than comparing all pairs."""

DENSE_SIZE = 2**28
"""Number of entries up to which sparse rows are converted to dense; six times faster on a8a."""


def nearest_neighbors(X: Rows, k: int, seed: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return the k nearest other rows of every row, and their distances, (n, k) each.

    In low dimension they are exact, from scikit-learn's search trees. In high dimension they are
    approximate, from PyNNDescent, if it is installed, and else from comparing all pairs.
    """
    from sklearn.neighbors import NearestNeighbors

    (X,) = occurring_columns(X)
    if X.shape[1] > LOW_DIMENSION:
        try:
            from pynndescent import NNDescent
        except ImportError:
            pass
        else:
            index, distance = NNDescent(X, n_neighbors=k + 1, random_state=seed).neighbor_graph
            return index[:, 1:].astype(np.int64), distance[:, 1:].astype(np.float32)
    if scipy.sparse.issparse(X) and X.shape[0] * X.shape[1] <= DENSE_SIZE:
        X = X.toarray()
    algorithm = "brute" if scipy.sparse.issparse(X) or X.shape[1] > LOW_DIMENSION else "kd_tree"
    search = NearestNeighbors(n_neighbors=k, algorithm=algorithm, n_jobs=-1).fit(X)
    distance, index = search.kneighbors()
    return index.astype(np.int64), distance.astype(np.float32)


def neighbor_samples(
    tree: ClusterTree,
    level: int,
    candidates: NDArray[np.int64],
    offsets: NDArray[np.int64],
    neighbors: tuple[NDArray[np.int64], NDArray[np.float32]],
    n_nearest: int,
    n_random: int,
    rng: np.random.Generator,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Select samples outside every node of a level: the nearest points and random ones.

    The nearest points are the neighbors of its candidates outside the node, in order of their
    smallest distance to a candidate: the kernel is largest there.

    Returns
    -------
    samples : (m,) int64
    offsets : (n_nodes + 1,) int64
    """
    index, distance = neighbors
    n, n_nodes, ends = tree.n, 2**level, tree.offsets(level)
    place = np.empty(n, np.int64)
    place[tree.perm] = np.arange(n)
    node_of = np.searchsorted(ends, place, side="right") - 1
    owner = np.repeat(np.arange(n_nodes), np.diff(offsets))[:, None]
    found = index[candidates]
    outside = node_of[found] != owner
    node = np.broadcast_to(owner, found.shape)[outside]
    near_first = np.argsort(distance[candidates][outside], kind="stable")
    node, row = node[near_first], found[outside][near_first]
    _, first = np.unique(node * n + row, return_index=True)
    first.sort()
    node, row = node[first], row[first]
    by_node = np.argsort(node, kind="stable")
    node, row = node[by_node], row[by_node]
    rank = np.arange(node.size) - np.searchsorted(node, np.arange(n_nodes))[node]
    kept = rank < n_nearest
    node, row = node[kept], row[kept]

    size = np.diff(ends)[:, None]
    n_random = n_random if level else 0
    drawn = (rng.random((n_nodes, n_random)) * (n - size)).astype(np.int64)
    drawn += np.where(drawn >= ends[:-1, None], size, 0)
    node = np.concatenate([node, np.repeat(np.arange(n_nodes), n_random)])
    row = np.concatenate([row, tree.perm[drawn.ravel()]])
    order = np.argsort(node, kind="stable")
    return row[order], np.searchsorted(node[order], np.arange(n_nodes + 1))
