"""The cluster tree: it groups nearby points in nodes, with all leaves on the same level."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hssvm import _core
from hssvm.hss.hashing import cut_rows, cut_width
from hssvm.hss.splitters import Splitter, TwoMeansSplitter
from hssvm.kernels.aligned import Aligned
from hssvm.kernels.base import Floats, Rows, as_rows, core_rows, require_finite
from hssvm.progress import Share, emit


@dataclass(frozen=True)
class Node:
    """A node of a tree over n points.

    Attributes
    ----------
    n, level, index : int
    """

    n: int
    level: int = 0
    index: int = 0

    def offsets(self, level: int) -> NDArray[np.int64]:
        """Offsets in the node of its descendants on a level below it, relative to that of the node.

        Examples
        --------
        >>> from hssvm.hss.tree import Node
        >>> Node(10, level=1, index=1).offsets(1)
        array([0, 2, 5])
        """
        n_nodes, width = 2 ** (self.level + level), 2**level
        first = self.index * width
        offsets = np.arange(first, first + width + 1, dtype=np.int64) * self.n // n_nodes
        return offsets - offsets[0]


@dataclass(frozen=True, eq=False)
class ClusterTree(Aligned):
    """A perfect binary tree over n points.

    Level 0 is the root; level l has ``2**l`` nodes. Node i of level l owns the rows
    ``perm[offsets(l)[i] : offsets(l)[i + 1]]`` of X, and its children are nodes 2i and 2i + 1 of
    level l + 1. n need not be a power of two: the sizes of the nodes of a level differ by at most
    one, unless the tree was joined from parts (see `join_trees`).

    Parameters
    ----------
    perm : (n,) int64
        Tree order to user order: ``X_tree = X[perm]``.
    depth : int
        Level of the leaves.
    directions : (2**depth - 1, width)
    thresholds : (2**depth - 1,)
        The cuts of all inner nodes, root first; see `route`. The width is p, or less for wide
        sparse rows, whose columns are hashed; see `hssvm.hss.hashing`.
    leaf_offsets : (2**depth + 1,) int64, optional
        Offsets of the leaves in tree order; by default the leaves are of equal size, up to one.
    n_features : int, optional
        p; by default the width of the cuts.
    """

    perm: NDArray[np.int64]
    depth: int
    directions: Floats
    thresholds: Floats
    leaf_offsets: NDArray[np.int64] | None = None
    n_features: int | None = None

    @classmethod
    def build(
        cls,
        X: Rows,
        leaf_size: int = 256,
        splitter: Splitter | None = None,
        random_state: int | np.random.Generator | None = 0,
        min_depth: int = 0,
        node: Node | None = None,
    ) -> ClusterTree:
        """Split `X` level by level until no leaf has more than `leaf_size` points.

        Parameters
        ----------
        X : (n, p) array or CSR matrix
        leaf_size : int
        splitter : Splitter, default TwoMeansSplitter()
        random_state : int, numpy Generator or None
        min_depth : int
            Minimum depth; the parts of one tree must have the same depth.
        node : Node, optional
            If `X` are the rows of a node of a larger tree, in their order in X of that tree:
            return its subtree below the node.

        Examples
        --------
        >>> import numpy as np
        >>> from hssvm.hss import ClusterTree
        >>> tree = ClusterTree.build(np.arange(10.0)[:, None], leaf_size=3)
        >>> tree.depth, tree.offsets(2)
        (2, array([ 0,  2,  5,  7, 10]))
        """
        X = as_rows(X)
        n = X.shape[0]
        if n < 1:
            raise ValueError("X has no rows")
        require_finite(X)
        splitter = TwoMeansSplitter() if splitter is None else splitter
        node = Node(n) if node is None else node
        depth = max(min_depth, depth_for(node.n, leaf_size) - node.level)
        perm = np.arange(n, dtype=np.int64)
        hashed = cut_rows(X, cut_width(X))
        cuts = []
        for level, seeds in enumerate(level_seeds(random_state, node.level + depth)[node.level :]):
            emit(Share(level / depth), "tree: splitting level %d of %d", level + 1, depth)
            own = seeds[node.index * 2**level : (node.index + 1) * 2**level]
            cuts.append(splitter.split(hashed, node.offsets(level + 1), perm, own))
        empty = np.empty((0, hashed.shape[1]), X.dtype), np.empty(0, X.dtype)
        directions, thresholds = (np.concatenate(parts) for parts in zip(empty, *cuts, strict=True))
        leaf_offsets = node.offsets(depth) if node.level else None
        return cls(perm, depth, directions, thresholds, leaf_offsets, X.shape[1])

    @property
    def n(self) -> int:
        """Number of points."""
        return int(self.perm.shape[0])

    @property
    def n_leaves(self) -> int:
        """Number of leaves, ``2**depth``."""
        return 2**self.depth

    def offsets(self, level: int) -> NDArray[np.int64]:
        """Offsets of the nodes of a level in tree order, ``(2**level + 1,)``."""
        if self.leaf_offsets is not None:
            return np.ascontiguousarray(self.leaf_offsets[:: 2 ** (self.depth - level)])
        return Node(self.n).offsets(level)

    def route(self, X: Rows) -> NDArray[np.int64]:
        """Return the leaf of every row of new data.

        A training point that lies exactly on a cut (a duplicate of a median point) may be routed to
        a different leaf than in `perm`.

        Parameters
        ----------
        X : (m, p) array or CSR matrix

        Returns
        -------
        (m,) int64, between 0 and n_leaves - 1
        """
        X = as_rows(X)
        width = self.directions.shape[1]
        n_features = self.n_features or width
        if X.shape[1] != n_features:
            raise ValueError(f"X has {X.shape[1]} features, but the tree was built on {n_features}")
        leaf = np.empty(X.shape[0], dtype=np.int64)
        X = X.astype(self.directions.dtype, copy=False)
        rows = core_rows(cut_rows(X, width))
        _core.route(rows, self.depth, self.directions, self.thresholds, leaf)
        return leaf


def level_seeds(
    random_state: int | np.random.Generator | None, depth: int
) -> list[NDArray[np.uint64]]:
    """Seeds of all nodes, level by level, of a tree of the given depth."""
    rng = np.random.default_rng(random_state)
    return [rng.integers(2**63, size=2**level, dtype=np.uint64) for level in range(depth)]


def depth_for(n: int, leaf_size: int) -> int:
    """Smallest depth at which no leaf of a tree over n points has more than `leaf_size`."""
    if leaf_size < 2:
        raise ValueError(f"leaf_size must be at least 2, got {leaf_size}")
    depth = 0
    while -(-n // 2**depth) > leaf_size:
        depth += 1
    return depth
