"""A matrix in parts: subtrees that are compressed and factored separately, and the top levels.

The tree is cut at level q, into ``2**q`` *slots*. A *part* is the subtree in one of them; slots may
be empty, so any number of parts is possible. A part sees only a few rows of the rest, its
`FarFieldSample`. Its root has a skeleton and a basis like any other inner node; the *top*, the q
levels above, sees nothing else of the part. K~ has the same terms as the undivided matrix, so it is
positive semi-definite::

    part    compress_part, factor             U, V and C of the subtree; L and Q of its root
    top     compress_top, TopLevels.factor    V and C of the levels above, from the roots' skeletons

A sweep runs up in every part, through the top, and down again: every part sends rank x k numbers to
the top and receives as many.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm import _core
from hssvm._threads import with_serial_blas
from hssvm.hss.coefficients import CoefficientPool
from hssvm.hss.matrix import HSSLevel, HSSMatrix, RootExchange, sweep_inner
from hssvm.hss.nystroem import SAMPLES_PER_RANK, NestedNystroem
from hssvm.hss.samples import FarFieldSample, draw_samples
from hssvm.hss.tree import ClusterTree
from hssvm.hss.ulv import FactorLevel, factor_level, solve_inner
from hssvm.kernels.aligned import Aligned
from hssvm.kernels.base import Floats, Kernel, Rows, as_rows, require_finite, stack_rows


@dataclass(frozen=True, eq=False)
class SubtreeRoot(Aligned):
    """The root of a part, as the top needs it.

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


@with_serial_blas
def compress_top(
    kernel: Kernel,
    roots: Sequence[SubtreeRoot],
    slots: NDArray[np.int64],
    sample: Rows,
    sample_offsets: NDArray[np.int64],
    compressor: NestedNystroem,
    part_depth: int,
    *,
    random_state: int | np.random.Generator | None = 0,
) -> TopLevels:
    """Compress the levels above the parts.

    Parameters
    ----------
    kernel : Kernel
    roots : sequence of SubtreeRoot
        Roots of all parts, in order.
    slots : (n_parts,) int64
        Slot of each part, increasing.
    sample : (m, p) array or CSR matrix
        Rows of all parts, sorted by slot.
    sample_offsets : (2**q + 1,) int64
        The rows of slot i are ``sample[sample_offsets[i] : sample_offsets[i + 1]]``.
    compressor : NestedNystroem
    part_depth : int
        Depth of the parts' trees.
    random_state : int, numpy Generator or None

    Returns
    -------
    TopLevels
    """
    n_slots = sample_offsets.size - 1
    depth = n_slots.bit_length() - 1
    sizes, ranks = np.zeros((2, n_slots), np.int64)
    sizes[slots] = [root.X.shape[0] for root in roots]
    ranks[slots] = [root.rank for root in roots]
    skeleton_offsets, rank_offsets = (
        np.concatenate([[0], np.cumsum(count)]) for count in (sizes, ranks)
    )
    below = _core.ChildBases(
        sizes,
        ranks,
        np.concatenate([root.cholesky for root in roots]),
        np.concatenate([root.rotation for root in roots]),
    )
    X = stack_rows([*(root.X for root in roots), sample])
    K, n = kernel.matrix(X), int(skeleton_offsets[-1])
    no_cuts = np.empty((0, X.shape[1]), X.dtype), np.empty(0, X.dtype)
    sample_tree = ClusterTree(
        np.arange(n, X.shape[0]), depth, *no_cuts, leaf_offsets=sample_offsets
    )
    rng = np.random.default_rng(random_state)
    candidates, ends = np.arange(n), skeleton_offsets
    levels: list[HSSLevel] = []
    for level in reversed(range(depth)):
        offsets = np.ascontiguousarray(ends[::2])
        cap = compressor.largest_rank(depth + part_depth, level) if level else 0
        cap = min(cap, int(np.diff(offsets).max()))
        samples = draw_samples(sample_tree, level, SAMPLES_PER_RANK * cap, rng)
        here, below = compressor.compress_level(
            K, X.dtype, candidates, offsets, samples, cap, below
        )
        levels.append(here)
        candidates, ends = here.skeleton, here.skeleton_offsets
    return TopLevels(levels[::-1], rank_offsets, X.dtype)


class TopLevels:
    """The levels above the parts, as returned by `compress_top`.

    Parameters
    ----------
    levels : list of HSSLevel
        Root first.
    ranks : (2**depth + 1,) int64
        Cumulative sum of the ranks of the slots' roots, starting at 0.
    dtype : dtype
    """

    def __init__(
        self, levels: list[HSSLevel], ranks: NDArray[np.int64], dtype: np.dtype[Any]
    ) -> None:
        self.levels = levels
        self.ranks = np.require(ranks, None, "A")
        self.dtype = np.dtype(dtype)
        child_ranks = [*(level.ranks for level in levels[1:]), ranks]
        self.row_offsets = [np.ascontiguousarray(below[::2]) for below in child_ranks]
        self.layouts = [
            _core.LevelLayout(ends, level.ranks, below, None)
            for ends, level, below in zip(self.row_offsets, levels, child_ranks, strict=False)
        ]
        counts = [*(int(level.ranks[-1]) for level in levels), int(ranks[-1])]
        self.coefficients = CoefficientPool(counts, self.dtype)

    def __reduce__(self) -> tuple[Any, ...]:
        return TopLevels, (self.levels, self.ranks, self.dtype)

    @with_serial_blas
    def far_field(self, c: Floats) -> Floats:
        """Compute what the parts contribute to each other in a product with K~.

        Parameters
        ----------
        c : (sum of ranks, k)
            Coefficients of the roots of all parts, in order.

        Returns
        -------
        array like c
        """
        with self.coefficients.borrow(c.shape[1]) as buffers:
            buffers[-1][:] = c
            sweep_inner(self.layouts, self.levels, buffers)
            return buffers[-1].copy()

    @with_serial_blas
    def factor(self, R: Floats) -> TopFactor:
        """Factor the top, given the concatenated R of the roots of all parts."""
        levels: list[FactorLevel] = []
        for i in reversed(range(len(self.levels))):
            here, R = factor_level(self.layouts[i], self.levels[i], self.row_offsets[i], True, R)
            levels.append(here)
        return TopFactor(self, levels[::-1])


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


@dataclass(frozen=True, eq=False)
class TopFactor:
    """Factorization of the top of ``K~ + diag(shift)``."""

    top: TopLevels
    levels: list[FactorLevel]

    @with_serial_blas
    def solve(self, c: Floats) -> Floats:
        """Compute what the parts contribute to each other in a solve, as `TopLevels.far_field`."""
        with self.top.coefficients.borrow(c.shape[1]) as buffers:
            buffers[-1][:] = c
            solve_inner(self.top.layouts, self.levels, buffers)
            return buffers[-1].copy()


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
