"""Which outside points a node looks at when it chooses its skeleton."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hssvm.hss.tree import ClusterTree
from hssvm.kernels.base import Rows


@dataclass(frozen=True, eq=False)
class Outside:
    """Samples of the rest of the points, for a tree that is a subtree of a larger one.

    Attributes
    ----------
    X : (m, p) array or CSR matrix
    ends : (depth + 1,) int64
        Rows of X between ``ends[a - 1]`` and ``ends[a]`` are from the sibling of the node of level
        a that the subtree lies in, a = 1..depth; the subtree is at level depth, the root of all at
        level 0.
    """

    X: Rows
    ends: NDArray[np.int64]


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
