"""Samples: the points outside a node against which its skeleton is chosen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hssvm.hss.tree import ClusterTree
from hssvm.kernels.aligned import Aligned
from hssvm.kernels.base import Rows


@dataclass(frozen=True, eq=False)
class FarFieldSample(Aligned):
    """A few rows that represent the rest of the tree to one part of it.

    Attributes
    ----------
    X : (m, p) array or CSR matrix
    ends : (q + 1,) int64
        For a part whose root is at level q, ``X[ends[a - 1] : ends[a]]`` lie in the sibling of its
        ancestor at level a, for a = 1 .. q; the ancestor at level q is the root of the part.
    """

    X: Rows
    ends: NDArray[np.int64]


def draw_samples(
    tree: ClusterTree,
    level: int,
    n_samples: int,
    rng: np.random.Generator,
    outside_offsets: NDArray[np.int64] | None = None,
) -> NDArray[np.int64]:
    """Draw samples outside every node of a level: ``(2**level, n_samples)`` row indices of X.

    The sibling of the node and the siblings of its ancestors contribute equally, so nearby points
    are sampled densely and distant ones sparsely. Within a sibling, the samples are evenly spaced
    in tree order from a random start; tree order follows the geometry, so they cover the subtree.

    If the tree is a part of a larger one, `outside_offsets` are the offsets of a `FarFieldSample`,
    whose rows follow the rows of X. Siblings without rows contribute no samples.
    """
    n_nodes = 2**level
    node = np.arange(n_nodes, dtype=np.int64)
    siblings = []  # begin and end of their rows, for every node; from the top down
    if outside_offsets is not None:
        ends = np.broadcast_to(tree.n + outside_offsets, (n_nodes, outside_offsets.size))
        siblings += [(ends[:, i], ends[:, i + 1]) for i in range(outside_offsets.size - 1)]
    for ancestor_level in range(1, level + 1):
        sibling = (node >> (level - ancestor_level)) ^ 1
        offsets = tree.offsets(ancestor_level)
        siblings.append((offsets[sibling], offsets[sibling + 1]))
    if not siblings or n_samples == 0:
        return np.empty((n_nodes, 0), np.int64)
    begin, end = (np.stack(side, axis=1) for side in zip(*siblings, strict=True))
    place = _spread_evenly(begin, end, n_samples, rng.random((n_nodes, 1)))
    if outside_offsets is None:
        return tree.perm[place]
    inside = place < tree.n
    place[inside] = tree.perm[place[inside]]
    return place


def _spread_evenly(
    begin: NDArray[np.int64],
    end: NDArray[np.int64],
    n_samples: int,
    start: NDArray[np.float64],
) -> NDArray[np.int64]:
    """Sample the ranges of each node in turn, evenly spaced within a range."""
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
