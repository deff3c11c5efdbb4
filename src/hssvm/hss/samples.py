"""Which outside points a node looks at when it chooses its skeleton."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hssvm.hss.tree import ClusterTree


def draw_samples(
    tree: ClusterTree, level: int, n_samples: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Outside points of every node of a level, ``(2**level, n_samples)`` rows of X.

    Equal shares come from the sibling of the node and of each of its ancestors, so near points
    are drawn densely and far ones sparsely. Within a share the points are spaced evenly in tree
    order, from a random start: tree order follows the geometry, so they spread over the subtree.
    """
    n_nodes = 2**level
    columns = np.arange(n_samples, dtype=np.int64)
    ancestor_level = 1 + columns % level if level else np.zeros_like(columns)
    ancestor = np.arange(n_nodes, dtype=np.int64)[:, None] >> (level - ancestor_level)
    sibling = ancestor ^ 1
    begin = sibling * tree.n >> ancestor_level
    end = (sibling + 1) * tree.n >> ancestor_level
    share = (n_samples - ancestor_level) // max(level, 1) + 1
    place = (columns // max(level, 1) + rng.random((n_nodes, 1))) / share
    return tree.perm[begin + ((end - begin) * place).astype(np.int64)]
