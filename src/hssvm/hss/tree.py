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
        rng = np.random.default_rng(random_state)
        depth = max(min_depth, depth_for(n, leaf_size))
        perm = np.arange(n, dtype=np.int64)
        hashed = cut_rows(X, cut_width(X))
        cuts = []
        for level in range(depth):
            emit(Share(level / depth), "tree: splitting level %d of %d", level + 1, depth)
            cuts.append(splitter.split(hashed, 2**level, perm, int(rng.integers(2**63))))
        empty = np.empty((0, hashed.shape[1]), X.dtype), np.empty(0, X.dtype)
        directions, thresholds = (np.concatenate(parts) for parts in zip(empty, *cuts, strict=True))
        return cls(perm, depth, directions, thresholds, n_features=X.shape[1])

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
        n_nodes = 2**level
        if self.leaf_offsets is not None:
            return np.ascontiguousarray(self.leaf_offsets[:: 2 ** (self.depth - level)])
        return np.arange(n_nodes + 1, dtype=np.int64) * self.n // n_nodes

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


def depth_for(n: int, leaf_size: int) -> int:
    """Smallest depth at which no leaf of a tree over n points has more than `leaf_size`."""
    if leaf_size < 2:
        raise ValueError(f"leaf_size must be at least 2, got {leaf_size}")
    depth = 0
    while -(-n // 2**depth) > leaf_size:
        depth += 1
    return depth
