"""Exact medians of values in several blocks, from a few numbers per block.

There are several groups of values, the nodes of a level of all trees. In every group, the element
of a given rank is to be found, in the order of (value, index), as one machine would find it with
`nth_element`. A *sketch* of every block bounds the ranks of its values; between two values that
enclose the element, the blocks then count theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hssvm.hss.tree import Node
from hssvm.kernels.aligned import Aligned
from hssvm.kernels.base import Floats, sort_groups

SKETCH_POINTS = 1024
"""Maximum number of values of a group in the sketch of a block: the bounds then enclose a few
thousandths of the rows."""


@dataclass(frozen=True, eq=False)
class Sketch(Aligned):
    """Some values of the groups of a block, sorted by group and value.

    Attributes
    ----------
    group : (m,) int64
    value : (m,)
    known : (m,) int64
        Number of values of the block that this point shows to be at most its value, in addition to
        those that the points before it show.
    possible : (m,) int64
        Number of values that may be below the next value.
    """

    group: NDArray[np.int64]
    value: Floats
    known: NDArray[np.int64]
    possible: NDArray[np.int64]

    @classmethod
    def of(cls, value: Floats, group: NDArray[np.int64], n_groups: int) -> Sketch:
        """Sketch the values of a block, (n,)."""
        order, ends = sort_groups(group, n_groups)
        parts = [np.empty((0, 3), np.int64)]
        points = [value[:0]]
        for g in np.flatnonzero(np.diff(ends)).tolist():
            own = np.sort(value[order[ends[g] : ends[g + 1]]])
            rank = np.unique(np.linspace(0, own.size - 1, SKETCH_POINTS).astype(np.int64))
            known, possible = np.diff(rank, prepend=-1), np.diff(rank, append=own.size)
            parts.append(np.stack([np.full(rank.size, g), known, possible], axis=1))
            points.append(own[rank])
        counts = np.concatenate(parts)
        return cls(counts[:, 0], np.concatenate(points), counts[:, 1], counts[:, 2])


def enclose(sketches: Sequence[Sketch], rank: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Bounds of the elements of the given rank, and of the rank before it, in every group."""
    group, value, known, possible = (
        np.concatenate([getattr(sketch, name) for sketch in sketches])
        for name in ("group", "value", "known", "possible")
    )
    order = np.lexsort((value, group))
    group, value = group[order], value[order]
    begins = np.searchsorted(group, np.arange(rank.size))
    at_most, below = (_within(counts[order], begins, group) for counts in (known, possible))
    below -= possible[order]
    n_low = np.bincount(group[below <= rank[group] - 1], minlength=rank.size)
    n_high = np.bincount(group[at_most < rank[group] + 1], minlength=rank.size)
    return value[begins + n_low - 1], value[begins + n_high]


def _within(
    counts: NDArray[np.int64], begins: NDArray[np.int64], group: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Cumulative sums within groups."""
    total = np.cumsum(counts)
    return total - (total - counts)[begins][group]


@dataclass(frozen=True, eq=False)
class Counts(Aligned):
    """Counts of the values of a block.

    Attributes
    ----------
    below : (n_groups,) int64
        Number of values below the lower bound.
    group : (m,) int64
    value : (m,)
        Distinct values between the bounds, sorted by group and value.
    count : (m,) int64
    """

    below: NDArray[np.int64]
    group: NDArray[np.int64]
    value: Floats
    count: NDArray[np.int64]

    @classmethod
    def of(cls, value: Floats, group: NDArray[np.int64], low: Floats, high: Floats) -> Counts:
        """Count the values of a block, (n,), between the bounds of their groups, (n_groups,)."""
        under = value < low[group]
        below = np.bincount(group[under], minlength=low.size)
        inside = ~under & (value <= high[group])
        return cls(below, *distinct(group[inside], value[inside], np.ones(inside.sum(), np.int64)))


def distinct(
    group: NDArray[np.int64], value: Floats, count: NDArray[np.int64]
) -> tuple[NDArray[np.int64], Floats, NDArray[np.int64]]:
    """Sort by group and value, and sum the counts of equal values."""
    order = np.lexsort((value, group))
    group, value, count = group[order], value[order], count[order]
    first = np.flatnonzero(
        np.diff(group, prepend=-1).astype(bool) | np.r_[True, value[1:] != value[:-1]][: value.size]
    )
    return group[first], value[first], np.add.reduceat(count, first) if first.size else count


@dataclass(frozen=True, eq=False)
class Medians:
    """The elements that were searched for.

    Attributes
    ----------
    value, before : (n_groups,)
        Values of the given rank, and of the rank before it.
    ties : (n_blocks, n_groups) int64
        Number of rows of every block with this value that come before the element, in the order
        of the rows.
    n_before : (n_blocks, n_groups) int64
        Number of all rows of every block that come before it.
    """

    value: Floats
    before: Floats
    ties: NDArray[np.int64]
    n_before: NDArray[np.int64]

    @classmethod
    def of(cls, counts: Sequence[Counts], rank: NDArray[np.int64]) -> Medians:
        """Find the elements of the given rank, (n_groups,)."""
        below = np.stack([one.below for one in counts])
        group, value, count = distinct(
            np.concatenate([one.group for one in counts]),
            np.concatenate([one.value for one in counts]),
            np.concatenate([one.count for one in counts]),
        )
        begins = np.searchsorted(group, np.arange(rank.size))
        at_most = _within(count, begins, group) + below.sum(axis=0)[group]
        at, at_before = (
            begins + np.bincount(group[at_most < r[group] + 1], minlength=rank.size)
            for r in (rank, rank - 1)
        )
        ties = rank - (at_most - count)[at]
        median, n_before, taken = value[at], below, []
        for block, one in enumerate(counts):
            equal = one.value == median[one.group]
            n_equal = np.bincount(one.group[equal], one.count[equal], rank.size).astype(np.int64)
            taken.append(np.minimum(n_equal, ties))
            ties = ties - taken[-1]
            less = one.value < median[one.group]
            own = np.bincount(one.group[less], one.count[less], rank.size).astype(np.int64)
            n_before[block] += own + taken[-1]
        return cls(median, value[at_before], np.stack(taken), n_before)


def upper_half(
    value: Floats, group: NDArray[np.int64], median: Floats, ties: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Whether the rows of a block, (n,), are not before the median of their group.

    Parameters
    ----------
    value : (n,)
    group : (n,) int64
    median : (n_groups,)
    ties : (n_groups,) int64
        See `Medians`.
    """
    upper = value >= median[group]
    equal = np.flatnonzero(value == median[group])
    order, ends = sort_groups(group[equal], median.size)
    place = np.empty(equal.size, np.int64)
    place[order] = np.arange(equal.size) - ends[group[equal][order]]
    upper[equal] = place >= ties[group[equal]]
    return upper


def halves_of(n: int, level: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number of rows of every node of a level of a tree over n points, and of its lower half."""
    sizes = np.diff(Node(n).offsets(level + 1))
    return sizes[::2] + sizes[1::2], sizes[::2]
