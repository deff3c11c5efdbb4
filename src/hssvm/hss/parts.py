"""A matrix in parts: subtrees that are compressed and factored apart, and the top that joins them.

The tree is cut at level q. A *part* is a subtree below one of the ``2**q`` *slots* there (a slot
may be empty: any number of parts will do), and knows of the rest only a few rows, its `Outside`.
Its root has a skeleton and a basis like any other inner node; they are all that the *top*, the q
levels above, knows of the part. All terms of K~ are those of the undivided matrix, so K~ is
positive semi-definite::

    part    compress, factor            leaves K_II - U U', transfer V, coupling C, root's L and Q
    top     compress_top, Top.factor    V and C of the levels above, from the roots' skeletons

A sweep goes up in every part, through the top, and down again: rank x k numbers from a part to the
top, and as many back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm import _core
from hssvm._threads import with_serial_blas
from hssvm.hss.coefficients import CoefficientPool
from hssvm.hss.matrix import HSSMatrix, Level, sweep_inner
from hssvm.hss.nystroem import OVERSAMPLING, NestedNystroem
from hssvm.hss.samples import Outside, draw_samples
from hssvm.hss.tree import ClusterTree
from hssvm.hss.ulv import FactorLevel, factor_level, solve_inner
from hssvm.kernels.base import Floats, Kernel, Rows, as_rows, require_finite, stack_rows


@dataclass(frozen=True, eq=False)
class Root:
    """What the root of a part tells the top.

    Attributes
    ----------
    X : (size, p) array or CSR matrix
        Rows of its skeleton.
    rank : int
    cholesky, rotation :
        L and Q of its basis; see `compress.hpp`.
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
    strategy: NestedNystroem,
    outside: Outside,
    *,
    random_state: int | np.random.Generator | None = 0,
) -> tuple[HSSMatrix, Root]:
    """Compress the kernel matrix of a part.

    Parameters
    ----------
    kernel : Kernel
    X : (n, p) array or CSR matrix
        Rows of the part.
    tree : ClusterTree
        Of these rows; trees of all parts are equally deep.
    strategy : NestedNystroem
    outside : Outside
        Without rows, the part is all there is.
    random_state : int, numpy Generator or None

    Returns
    -------
    HSSMatrix
        Its root has a basis.
    Root
    """
    X = as_rows(X)
    require_finite(X)
    K = kernel.matrix(stack_rows([X, outside.X]))
    rng = np.random.default_rng(random_state)
    levels, below = strategy.compress_part(K, X, tree, rng, outside.ends)
    cholesky, rotation = below.arrays()
    root = Root(X[levels[0].skeleton], int(levels[0].ranks[-1]), cholesky, rotation)
    return HSSMatrix(kernel, X, tree, levels), root


@with_serial_blas
def compress_top(
    kernel: Kernel,
    roots: Sequence[Root],
    slots: NDArray[np.int64],
    sample: Rows,
    sample_ends: NDArray[np.int64],
    strategy: NestedNystroem,
    part_depth: int,
    *,
    random_state: int | np.random.Generator | None = 0,
) -> Top:
    """Compress the levels above the parts.

    Parameters
    ----------
    kernel : Kernel
    roots : sequence of Root
        Of all parts, in order.
    slots : (n_parts,) int64
        Slot of each part, increasing.
    sample : (m, p) array or CSR matrix
        Rows of all parts, sorted by slot.
    sample_ends : (2**q + 1,) int64
        Those of slot i lie between ends i and i + 1.
    strategy : NestedNystroem
    part_depth : int
        Depth of the trees of the parts.
    random_state : int, numpy Generator or None

    Returns
    -------
    Top
    """
    n_slots = sample_ends.size - 1
    depth = n_slots.bit_length() - 1
    sizes, ranks = np.zeros((2, n_slots), np.int64)
    sizes[slots] = [root.X.shape[0] for root in roots]
    ranks[slots] = [root.rank for root in roots]
    skeleton_ends, rank_ends = (np.concatenate([[0], np.cumsum(count)]) for count in (sizes, ranks))
    below = _core.Below(
        sizes,
        ranks,
        np.concatenate([root.cholesky for root in roots]),
        np.concatenate([root.rotation for root in roots]),
    )
    X = stack_rows([*(root.X for root in roots), sample])
    K, n = kernel.matrix(X), int(skeleton_ends[-1])
    none = np.empty((0, X.shape[1]), X.dtype), np.empty(0, X.dtype)
    samples_of = ClusterTree(np.arange(n, X.shape[0]), depth, *none, leaf_ends=sample_ends)
    rng = np.random.default_rng(random_state)
    candidates, ends = np.arange(n), skeleton_ends
    levels: list[Level] = []
    for level in reversed(range(depth)):
        offsets = np.ascontiguousarray(ends[::2])
        cap = strategy.largest_rank(depth + part_depth, level) if level else 0
        cap = min(cap, int(np.diff(offsets).max()))
        samples = draw_samples(samples_of, level, OVERSAMPLING * cap, rng)
        here, below = strategy.compress_level(K, X.dtype, candidates, offsets, samples, cap, below)
        levels.append(here)
        candidates, ends = here.skeleton, here.skeleton_ends
    return Top(levels[::-1], rank_ends, X.dtype)


class Top:
    """The levels above the parts; made by `compress_top`.

    Parameters
    ----------
    levels : list of Level
        Root first.
    ranks : (2**depth + 1,) int64
        Running sum of the ranks of the slots' roots.
    dtype : dtype
    """

    def __init__(self, levels: list[Level], ranks: NDArray[np.int64], dtype: np.dtype[Any]) -> None:
        self.levels = levels
        self.ranks = ranks
        self.dtype = np.dtype(dtype)
        child_ranks = [*(level.ranks for level in levels[1:]), ranks]
        self.row_ends = [np.ascontiguousarray(below[::2]) for below in child_ranks]
        self.shapes = [
            _core.Level(ends, level.ranks, below, None)
            for ends, level, below in zip(self.row_ends, levels, child_ranks, strict=False)
        ]
        counts = [*(int(level.ranks[-1]) for level in levels), int(ranks[-1])]
        self.coefficients = CoefficientPool(counts, self.dtype)

    def __reduce__(self) -> tuple[Any, ...]:
        return Top, (self.levels, self.ranks, self.dtype)

    @with_serial_blas
    def far_field(self, c: Floats) -> Floats:
        """What the parts add to each other in a product with K~.

        Parameters
        ----------
        c : (sum of ranks, k)
            Coefficients of the roots of all parts, in order.

        Returns
        -------
        array like c
        """
        with self.coefficients.borrow(c.shape[1]) as room:
            room[-1][:] = c
            sweep_inner(self.shapes, self.levels, room)
            return room[-1].copy()

    @with_serial_blas
    def factor(self, R: Floats) -> TopFactor:
        """Factor, from the R of the roots of all parts, one after the other."""
        levels: list[FactorLevel] = []
        for i in reversed(range(len(self.levels))):
            here, R = factor_level(self.shapes[i], self.levels[i], self.row_ends[i], True, R)
            levels.append(here)
        return TopFactor(self, levels[::-1])


@dataclass(frozen=True, eq=False)
class TopFactor:
    """The top of ``K~ + diag(shift)``, factored."""

    top: Top
    levels: list[FactorLevel]

    @with_serial_blas
    def solve(self, c: Floats) -> Floats:
        """What the parts add to each other in a solve; see `Top.far_field`."""
        with self.top.coefficients.borrow(c.shape[1]) as room:
            room[-1][:] = c
            solve_inner(self.top.shapes, self.levels, room)
            return room[-1].copy()


def join_trees(
    directions: Floats,
    thresholds: Floats,
    trees: Sequence[ClusterTree],
    slots: NDArray[np.int64],
) -> ClusterTree:
    """The undivided tree, over the rows of the parts one after the other.

    Parameters
    ----------
    directions : (2**q - 1, width)
    thresholds : (2**q - 1,)
        Cuts of the top.
    trees : sequence of ClusterTree
        Of the parts, equally deep. Where their rows are gone, so are those of the result.
    slots : (n_parts,) int64
        Slot of each part, increasing.

    Returns
    -------
    ClusterTree
        Leaves of empty slots are empty; no row is routed to them.
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
