"""The levels above the parts of a matrix, in one piece or in groups.

The parts are indexed by their *slots*, the nodes of level q. With many parts, the q levels are cut
into *tiers*, so that no process has more than `FAN_IN` nodes below it: a *group* is a subtree of a
tier, and its root serves the tier above as the root of a part serves the lowest tier. For 1,000
parts::

    tier 2      1 group of 8 groups      levels 0 to 2
    tier 1      8 groups of 8 groups     levels 3 to 5
    tier 0     64 groups of 16 parts     levels 6 to 9
    parts   1,000                        level 10
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm import _core
from hssvm._threads import with_serial_blas
from hssvm.hss.coefficients import CoefficientPool
from hssvm.hss.matrix import HSSLevel, RootExchange, sweep_inner
from hssvm.hss.nystroem import SAMPLES_PER_RANK, NestedNystroem
from hssvm.hss.parts import SubtreeRoot
from hssvm.hss.samples import FarFieldSample, draw_samples
from hssvm.hss.tree import ClusterTree
from hssvm.hss.ulv import FactorLevel, factor_level, solve_inner
from hssvm.kernels.base import Floats, Kernel, Rows, stack_rows

FAN_IN = 16
"""Maximum number of parts or groups in a group. A synchronization costs some ten milliseconds per
tier and about one per member."""


@dataclass(frozen=True, eq=False)
class Group:
    """A subtree of a tier.

    Attributes
    ----------
    level, node : int
        Level of its root, and index of the root among the nodes of that level.
    depth : int
        Number of levels.
    first_part : int
        The first part below it.
    members : (m,) int64
        The groups of the tier below, or the parts, that are below it, ascending.
    slots : (m,) int64
        The nodes of the members, counted from the first of the ``2**depth`` nodes below the group.
    """

    level: int
    node: int
    depth: int
    first_part: int
    members: NDArray[np.int64]
    slots: NDArray[np.int64]


def group_parts(slots: NDArray[np.int64], depth: int, fan_in: int = FAN_IN) -> list[list[Group]]:
    """Cut the levels above the parts into tiers of groups; return the lowest tier first.

    Parameters
    ----------
    slots : (n_parts,) int64
        Slot of each part, increasing.
    depth : int
        Number of levels above the parts.
    fan_in : int
        Maximum number of members of a group, a power of two.
    """
    n_tiers = max(1, math.ceil(depth / (fan_in.bit_length() - 1)))
    ends = [depth * i // n_tiers for i in reversed(range(n_tiers + 1))]
    tiers, first_part = [], np.arange(slots.size)
    for bottom, top in pairwise(ends):
        width = 2 ** (bottom - top)
        nodes, begins = np.unique(slots // width, return_index=True)
        first_part = first_part[begins]
        tiers.append(
            [
                Group(
                    top,
                    int(node),
                    bottom - top,
                    int(first),
                    np.arange(begin, end),
                    slots[begin:end] % width,
                )
                for node, first, (begin, end) in zip(
                    nodes, first_part, pairwise([*begins, slots.size]), strict=True
                )
            ]
        )
        slots = nodes
    return tiers


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
    outside: FarFieldSample | None = None,
    random_state: int | np.random.Generator | None = 0,
) -> tuple[TopLevels, SubtreeRoot]:
    """Compress the levels above the parts, or the levels of a group.

    Parameters
    ----------
    kernel : Kernel
    roots : sequence of SubtreeRoot
        Roots of all parts, or of the members of the group, in order.
    slots : (n_parts,) int64
        Slot of each part, increasing.
    sample : (m, p) array or CSR matrix
        Rows of all parts, sorted by slot.
    sample_offsets : (2**q + 1,) int64
        The rows of slot i are ``sample[sample_offsets[i] : sample_offsets[i + 1]]``.
    compressor : NestedNystroem
    part_depth : int
        Depth of the trees below.
    outside : FarFieldSample, optional
        Rows outside the group; if there are none, the root has no basis.
    random_state : int, numpy Generator or None

    Returns
    -------
    TopLevels
    SubtreeRoot
        Its rank is 0 if the root has no basis.
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
    far = [] if outside is None else [outside.X]
    X = stack_rows([sample, *far, *(root.X for root in roots)])
    K, n_sampled = kernel.matrix(X), sample.shape[0] + sum(rows.shape[0] for rows in far)
    has_basis = n_sampled > sample.shape[0]
    no_cuts = np.empty((0, X.shape[1]), X.dtype), np.empty(0, X.dtype)
    tree = ClusterTree(np.arange(sample.shape[0]), depth, *no_cuts, leaf_offsets=sample_offsets)
    rng = np.random.default_rng(random_state)
    candidates, ends = np.arange(n_sampled, X.shape[0]), skeleton_offsets
    levels: list[HSSLevel] = []
    for level in reversed(range(depth)):
        offsets = np.ascontiguousarray(ends[::2])
        cap = compressor.largest_rank(depth + part_depth, level) if level or has_basis else 0
        cap = min(cap, int(np.diff(offsets).max()))
        samples = draw_samples(
            tree, level, SAMPLES_PER_RANK * cap, rng, None if outside is None else outside.ends
        )
        here, below = compressor.compress_level(
            K, X.dtype, candidates, offsets, samples, cap, below
        )
        levels.append(here)
        candidates, ends = here.skeleton, here.skeleton_offsets
    rank = int(levels[-1].ranks[-1] if levels else rank_offsets[-1])
    root = SubtreeRoot(X[candidates], rank, *below.arrays())
    return TopLevels(levels[::-1], rank_offsets, X.dtype), root


class TopLevels:
    """The levels above the parts, or the levels of a group, as returned by `compress_top`.

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
    def far_field(self, c: Floats, exchange: RootExchange | None = None) -> Floats:
        """Compute what the parts contribute to each other in a product with K~.

        Parameters
        ----------
        c : (sum of ranks, k)
            Coefficients of the roots of all parts, in order.
        exchange : callable, optional
            Communicates with the tier above; needed for a group.

        Returns
        -------
        array like c
        """
        with self.coefficients.borrow(c.shape[1]) as buffers:
            buffers[-1][:] = c
            sweep_inner(self.layouts, self.levels, buffers, exchange)
            return buffers[-1].copy()

    @with_serial_blas
    def factor(self, R: Floats) -> TopFactor:
        """Factor the top, given the concatenated R of the roots of all parts."""
        levels: list[FactorLevel] = []
        for i in reversed(range(len(self.levels))):
            here, R = factor_level(self.layouts[i], self.levels[i], self.row_offsets[i], True, R)
            levels.append(here)
        return TopFactor(self, levels[::-1], R)


@dataclass(frozen=True, eq=False)
class TopFactor:
    """Factorization of the top of ``K~ + diag(shift)``.

    Attributes
    ----------
    top : TopLevels
    levels : list of FactorLevel
        Root first.
    R : array
        The R of the root, for the tier above.
    """

    top: TopLevels
    levels: list[FactorLevel]
    R: Floats

    @with_serial_blas
    def solve(self, c: Floats, exchange: RootExchange | None = None) -> Floats:
        """Compute what the parts contribute to each other in a solve, as `TopLevels.far_field`."""
        with self.top.coefficients.borrow(c.shape[1]) as buffers:
            buffers[-1][:] = c
            solve_inner(self.top.layouts, self.levels, buffers, exchange)
            return buffers[-1].copy()
