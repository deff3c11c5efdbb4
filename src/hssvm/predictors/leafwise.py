"""Prediction from the points of one leaf per tree, with compressed kernels or with cells.

Every cell has its own coefficients and constant. Under a compressed kernel k~, the rest of the tree
affects a point t only through the basis of its leaf I, so

    f(t) = k(t, X_I) w_I,    w_I = z_I + scatter_J(P delta_I),

where ``k(t, J) P`` is that basis at t, and delta_I are the coefficients of the leaf after the
downward sweep of K~ z. `HSSMatrix.leaf_weights` computes w. The predictions of several trees are
averaged; the rows of all trees are stored once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm.hss.matrix import HSSMatrix, RootExchange
from hssvm.hss.tree import ClusterTree
from hssvm.kernels.aligned import Aligned
from hssvm.kernels.base import Floats, Kernel, Rows, rows_like, sort_groups
from hssvm.predictors.base import LeafArrays, Predictor


@dataclass(frozen=True, eq=False)
class LeafExpansions(Aligned):
    """The kernel expansions of all leaves of one tree.

    Attributes
    ----------
    tree : ClusterTree
        Only its cuts are used.
    rows : (m,) int64
        Row indices of the points, leaf by leaf; their weights are not all 0.
    ends : (n_leaves + 1,) int64
        Offsets of the leaves in `rows`.
    weights : (m, k)
    intercept : (k,) float64
        Intercept of the model of this tree.
    constants : (n_leaves, k), optional
        Intercepts of the single leaves, if each has a model of its own.
    """

    tree: ClusterTree
    rows: NDArray[np.int64]
    ends: NDArray[np.int64]
    weights: Floats
    intercept: NDArray[np.float64]
    constants: Floats | None = None

    @classmethod
    def of(
        cls,
        matrix: HSSMatrix,
        Z: Floats,
        intercept: NDArray[np.float64],
        exchange: RootExchange | None = None,
    ) -> LeafExpansions:
        """Return the expansions of ``K~ Z``, with row indices of ``matrix.X``.

        Parameters
        ----------
        matrix : HSSMatrix
        Z : (n, k)
        intercept : (k,)
        exchange : callable, optional
            Communicates with the levels above if the matrix is a part of a larger one.
        """
        return cls._of_leaves(matrix.tree, matrix.leaf_weights(Z, exchange), intercept)

    @classmethod
    def of_cells(cls, tree: ClusterTree, Z: Floats, constants: Floats) -> LeafExpansions:
        """Return the expansions of models that were trained on the rows of one leaf each.

        Parameters
        ----------
        tree : ClusterTree
        Z : (n, k)
        constants : (n_leaves, k)
        """
        return cls._of_leaves(tree, Z, np.zeros(Z.shape[1]), constants)

    @classmethod
    def _of_leaves(
        cls,
        tree: ClusterTree,
        weights: Floats,
        intercept: NDArray[np.float64],
        constants: Floats | None = None,
    ) -> LeafExpansions:
        used = np.any(weights[tree.perm] != 0, axis=1)
        rows = tree.perm[used]
        ends = np.concatenate([[0], np.cumsum(used)])[tree.offsets(tree.depth)]
        cuts = replace(tree, perm=np.empty(0, np.int64))
        return cls(cuts, rows, ends, weights[rows], intercept, constants)


class LeafwisePredictor(Predictor):
    """Evaluates the mean of ``sum_i k~(., x_i) z_i`` over several trees at new points.

    The cells of a tree are the case in which k~ is k within a leaf, and 0 between leaves.

    Parameters
    ----------
    kernel : Kernel
    X : (m, p) array or CSR matrix
    trees : sequence of LeafExpansions
        Their row indices refer to X.
    ids : (m,) int64, optional
        Indices of the rows of X among the training rows; see `of`.
    clip : float, default=inf
        The values of a tree are clipped to [-clip, clip] before they are averaged.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.hss import compress
    >>> from hssvm.kernels import Gaussian
    >>> from hssvm.predictors import LeafExpansions, LeafwisePredictor
    >>> X = np.random.default_rng(0).standard_normal((2000, 3))
    >>> H = compress(Gaussian(gamma=0.1), X)
    >>> Z = np.random.default_rng(1).standard_normal((2000, 1))
    >>> f = LeafwisePredictor.of(H.kernel, X, [LeafExpansions.of(H, Z, np.zeros(1))])
    >>> bool(np.allclose(f(X), H @ Z))  # at the points themselves
    True
    """

    kind = "leafwise"

    def __init__(
        self,
        kernel: Kernel,
        X: Rows,
        trees: Sequence[LeafExpansions],
        ids: NDArray[np.int64] | None = None,
        clip: float = math.inf,
    ) -> None:
        self.kernel = kernel
        self.X = X
        self.trees = list(trees)
        self.ids = ids
        self.clip = clip

    @classmethod
    def of(
        cls, kernel: Kernel, X: Rows, trees: Sequence[LeafExpansions], clip: float = math.inf
    ) -> LeafwisePredictor:
        """Return a predictor with the training rows of `X` that the trees use.

        They are in the order of the leaves of the first tree, followed by the rows that only later
        trees use.
        """
        position = np.full(X.shape[0], -1, np.int64)
        ids = np.empty(0, np.int64)
        for tree in trees:
            new = tree.rows[position[tree.rows] < 0]
            position[new] = np.arange(ids.size, ids.size + new.size)
            ids = np.concatenate([ids, new])
        own = [replace(tree, rows=position[tree.rows]) for tree in trees]
        return cls(kernel, X[ids], own, ids, clip)

    @property
    def compressed(self) -> LeafwisePredictor:
        """The predictor itself."""
        return self

    @property
    def rows_are_support(self) -> bool:
        """Whether nothing is compressed, so that the rows are the support vectors."""
        return self.trees[0].tree.depth == 0

    @property
    def is_average(self) -> bool:
        """Whether several models are averaged, of trees or of cells."""
        return len(self.trees) > 1 or bool(self.constants)

    @property
    def weights(self) -> Floats:
        """Weights of the rows of the first tree, (n, k)."""
        return self.trees[0].weights

    def stored_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays of a model file, besides the rows."""
        trees, index = self.trees, np.int32 if self.X.shape[0] < 2**31 else np.int64
        arrays = {
            "W": np.concatenate([tree.weights for tree in trees]),
            "rows": np.concatenate([tree.rows for tree in trees]).astype(index),
            "ends": np.stack([tree.ends for tree in trees]),
            "directions": np.stack([tree.tree.directions for tree in trees]),
            "thresholds": np.stack([tree.tree.thresholds for tree in trees]),
            "intercepts": np.stack([tree.intercept for tree in trees]),
        }
        if self.constants:
            arrays |= {"constants": np.stack(self.constants), "clip": np.array([self.clip])}
        return arrays

    def trees_of_training_rows(self) -> list[LeafExpansions]:
        """Return the trees with indices of the training rows, for `of`."""
        if self.ids is None:
            raise ValueError("the predictor does not know the indices of its rows")
        return [replace(tree, rows=self.ids[tree.rows]) for tree in self.trees]

    @property
    def constants(self) -> list[Floats]:
        """The constants of the leaves, for each tree; empty if there are none."""
        return [tree.constants for tree in self.trees if tree.constants is not None]

    @property
    def intercept(self) -> NDArray[np.float64]:
        """Mean intercept of the trees, (k,)."""
        return np.mean([tree.intercept for tree in self.trees], axis=0)

    @property
    def n_columns(self) -> int:
        """Number of columns, k."""
        return int(self.trees[0].weights.shape[1])

    @property
    def n_leaves(self) -> int:
        """Number of leaves of the first tree."""
        return self.trees[0].tree.n_leaves

    def __call__(self, X: Rows) -> Floats:
        """Mean over the trees at the rows of `X`, (m, k), in the precision of the training rows."""
        few = self._values_of_few(X)
        if few is not None:
            return few
        X = rows_like(X, self.X)
        total = self._values(X, self.trees[0])
        for tree in self.trees[1:]:
            total += self._values(X, tree)
        total /= len(self.trees)
        return total

    def leaf_arrays(self) -> Iterator[LeafArrays]:
        """Yield the arrays of each tree."""
        for tree in self.trees:
            cuts = tree.tree.directions, tree.tree.thresholds
            yield LeafArrays(tree.rows, tree.ends, tree.weights, *cuts, tree.constants)

    def decisions(self, X: Rows) -> Floats:
        """Decision values of each tree, with its own intercept, (n_trees, m, k)."""
        X = rows_like(X, self.X)
        return np.stack(
            [self._values(X, tree) + tree.intercept.astype(X.dtype) for tree in self.trees]
        )

    def _values(self, X: Rows, tree: LeafExpansions) -> Floats:
        leaves = tree.tree.route(self.kernel.coordinates(X))
        values = self.kernel.grouped_product(X, leaves, self.X, tree.rows, tree.ends, tree.weights)
        if tree.constants is None:
            return values
        values += tree.constants[leaves]
        return np.clip(values, -self.clip, self.clip, out=values)


def leaves_of(
    kernel: Kernel, tree: LeafExpansions, X: Rows
) -> Iterator[tuple[NDArray[np.int64], int]]:
    """Yield the indices of the rows of `X` in each leaf of a tree that has some, and the leaf."""
    leaves = tree.tree.route(kernel.coordinates(X))
    order, ends = sort_groups(leaves, tree.tree.n_leaves)
    for leaf in np.flatnonzero(np.diff(ends)):
        yield order[ends[leaf] : ends[leaf + 1]], int(leaf)
