"""Which outside points a node looks at when it chooses its skeleton."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hssvm.hss.tree import ClusterTree
from hssvm.kernels.base import Rows


@dataclass(frozen=True, eq=False)
class Outside:
    """The rest of a tree, as a part of it sees it: a few rows.

    Attributes
    ----------
    X : (m, p) array or CSR matrix
    ends : (q + 1,) int64
        For a part at level q: rows between ends a - 1 and a lie in the sibling of its ancestor (or
        of itself) at level a, for a = 1 .. q.
    """

    X: Rows
    ends: NDArray[np.int64]


def draw_samples(
    tree: ClusterTree,
    level: int,
    n_samples: int,
    rng: np.random.Generator,
    outside_ends: NDArray[np.int64] | None = None,
) -> NDArray[np.int64]:
    """Outside points of every node of a level, ``(2**level, n_samples)`` rows of X.

    Equal shares come from the sibling of the node and of each of its ancestors, so near points
    are drawn densely and far ones sparsely. Within a share the points are spaced evenly in tree
    order, from a random start: tree order follows the geometry, so they spread over the subtree.

    Where the tree is a part of a larger one, `outside_ends` are the ends of `Outside`, whose rows
    follow those of X. A sibling without rows has no share.
    """
    n_nodes = 2**level
    node = np.arange(n_nodes, dtype=np.int64)
    siblings = []  # begin and end of their rows for every node, from the top down
    if outside_ends is not None:
        ends = np.broadcast_to(tree.n + outside_ends, (n_nodes, outside_ends.size))
        siblings += [(ends[:, i], ends[:, i + 1]) for i in range(outside_ends.size - 1)]
    for ancestor_level in range(1, level + 1):
        sibling = (node >> (level - ancestor_level)) ^ 1
        offsets = tree.offsets(ancestor_level)
        siblings.append((offsets[sibling], offsets[sibling + 1]))
    if not siblings or n_samples == 0:
        return np.empty((n_nodes, 0), np.int64)
    begin, end = (np.stack(side, axis=1) for side in zip(*siblings, strict=True))
    place = _deal(begin, end, n_samples, rng.random((n_nodes, 1)))
    if outside_ends is None:
        return tree.perm[place]
    inside = place < tree.n
    place[inside] = tree.perm[place[inside]]
    return place


def _deal(
    begin: NDArray[np.int64],
    end: NDArray[np.int64],
    n_samples: int,
    start: NDArray[np.float64],
) -> NDArray[np.int64]:
    """Take samples from the ranges of each node in turn, evenly spaced within a range."""
    columns = np.arange(n_samples, dtype=np.int64)
    full = end > begin
    order = np.argsort(~full, axis=1, kind="stable")  # ranges with rows first
    begin, end = (np.take_along_axis(side, order, axis=1) for side in (begin, end))
    turns = full.sum(axis=1, keepdims=True)
    which = columns % turns
    share = (n_samples - 1 - which) // turns + 1
    place = (columns // turns + start) / share
    first = np.take_along_axis(begin, which, axis=1)
    size = np.take_along_axis(end, which, axis=1) - first
    return first + (size * place).astype(np.int64)
