"""Nearest neighbours, and samples of a node from them."""

from __future__ import annotations

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from hssvm.hss.tree import ClusterTree
from hssvm.kernels.base import Rows

LOW_DIMENSION = 20
"""Up to so many features exact search trees are faster than comparing all pairs."""

DENSE_SIZE = 2**28
"""Up to so many entries sparse rows are compared as dense ones, six times as fast on a8a."""


def nearest_neighbours(X: Rows, k: int, seed: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The k nearest other rows of every row, and their distances, (n, k) each.

    Exact in few dimensions, by scikit-learn's trees. In many, approximate by PyNNDescent where
    that is installed, else by comparing all pairs.
    """
    from sklearn.neighbors import NearestNeighbors

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


def neighbour_samples(
    tree: ClusterTree,
    level: int,
    candidates: NDArray[np.int64],
    offsets: NDArray[np.int64],
    neighbours: tuple[NDArray[np.int64], NDArray[np.float32]],
    n_nearest: int,
    n_random: int,
    rng: np.random.Generator,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Outside points of every node of a level: its nearest, and random ones.

    The nearest are the neighbours of its candidates that lie outside, those with the smallest
    distance to any of them first: there the kernel has its dominating entries.

    Returns
    -------
    samples, and the running sum of their numbers
    """
    index, distance = neighbours
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
