"""A matrix in parts: subtrees that are compressed and factored separately, and the top levels.

The tree is cut at level q, into ``2**q`` *slots*. A *part* is the subtree in one of them; slots may
be empty, so any number of parts is possible. A part sees only a few rows of the rest, its
`FarFieldSample`. Its root has a skeleton and a basis like any other inner node; the *top*, the q
levels above, sees nothing else of the part. K~ has the same terms as the undivided matrix, so it is
positive semi-definite::

    part    compress_part, factor             U, V and C of the subtree; L and Q of its root
    top     compress_top, TopLevels.factor    V and C of the levels above, from the roots' skeletons

A sweep runs up in every part, through the top, and down again: every part sends rank x k numbers to
the top and receives the same amount.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hssvm._threads import with_serial_blas
from hssvm.hss.matrix import HSSMatrix, RootExchange
from hssvm.hss.nystroem import NestedNystroem
from hssvm.hss.samples import FarFieldSample
from hssvm.hss.tree import ClusterTree
from hssvm.kernels.aligned import Aligned
from hssvm.kernels.base import Floats, Kernel, Rows, as_rows, require_finite, stack_rows


@dataclass(frozen=True, eq=False)
class SubtreeRoot(Aligned):
    """The root of a part, or of a group of parts, as the levels above need it.

    Attributes
    ----------
    X : (size, p) array or CSR matrix
        Rows of the skeleton.
    rank : int
    cholesky, rotation :
        L and Q of the basis; see `compress.hpp`.
    """

    X: Rows
    rank: int
    cholesky: NDArray[np.float64]
    rotation: NDArray[np.float64]


@with_serial_blas
def compress_part(
    kernel: Kernel,
    X: Rows,
    tree: ClusterTree,
    compressor: NestedNystroem,
    outside: FarFieldSample,
    *,
    random_state: int | np.random.Generator | None = 0,
) -> tuple[HSSMatrix, SubtreeRoot]:
    """Compress the kernel matrix of a part.

    Parameters
    ----------
    kernel : Kernel
    X : (n, p) array or CSR matrix
        Rows of the part.
    tree : ClusterTree
        Tree of these rows; the trees of all parts must have the same depth.
    compressor : NestedNystroem
    outside : FarFieldSample
        Empty if there is only one part.
    random_state : int, numpy Generator or None

    Returns
    -------
    HSSMatrix
        Its root has a basis, unlike the root of an undivided matrix.
    SubtreeRoot
    """
    X = as_rows(X)
    require_finite(X)
    K = kernel.matrix(stack_rows([X, outside.X]))
    rng = np.random.default_rng(random_state)
    levels, below = compressor.compress_part(K, X, tree, rng, outside.ends)
    cholesky, rotation = below.arrays()
    root = SubtreeRoot(X[levels[0].skeleton], int(levels[0].ranks[-1]), cholesky, rotation)
    return HSSMatrix(kernel, X, tree, levels), root


class TopConnection(ABC):
    """One part's connection to the levels above the parts.

    All parts must make the same calls in the same order.
    """

    @abstractmethod
    def far_field(self, c: Floats) -> Floats:
        """Send the root's coefficients (rank, k); return the contributions of the other parts."""

    @abstractmethod
    def factor(self, R: Floats) -> RootExchange:
        """Factor the top from the R of all parts; return the exchange for solves with it."""


def join_trees(
    directions: Floats,
    thresholds: Floats,
    trees: Sequence[ClusterTree],
    slots: NDArray[np.int64],
) -> ClusterTree:
    """Join the trees of the parts into one tree over their concatenated rows.

    Parameters
    ----------
    directions : (2**q - 1, width)
    thresholds : (2**q - 1,)
        Cuts of the top.
    trees : sequence of ClusterTree
        Trees of the parts, of the same depth. The result has a `perm` only if they have one.
    slots : (n_parts,) int64
        Slot of each part, increasing.

    Returns
    -------
    ClusterTree
        The leaves of empty slots are empty, and no row is routed to them.
    """
    n_slots, depth, width = thresholds.size + 1, trees[0].depth, directions.shape[1]
    all_directions, all_thresholds = [directions], [thresholds]
    for level in range(depth):
        cuts = slice(2**level - 1, 2 ** (level + 1) - 1)
        here: Floats = np.zeros((n_slots, 2**level, width), directions.dtype)
        at: Floats = np.full((n_slots, 2**level), np.inf, thresholds.dtype)
        here[slots] = [tree.directions[cuts] for tree in trees]
        at[slots] = [tree.thresholds[cuts] for tree in trees]
        all_directions.append(here.reshape(-1, width))
        all_thresholds.append(at.ravel())
    begins = np.cumsum([0, *(tree.n for tree in trees)])[:-1]
    sizes = np.zeros((n_slots, 2**depth), np.int64)
    sizes[slots] = [np.diff(tree.offsets(depth)) for tree in trees]
    return ClusterTree(
        np.concatenate([begin + tree.perm for begin, tree in zip(begins, trees, strict=True)]),
        n_slots.bit_length() - 1 + depth,
        np.concatenate(all_directions),
        np.concatenate(all_thresholds),
        np.concatenate([[0], np.cumsum(sizes)]),
        trees[0].n_features,
    )
