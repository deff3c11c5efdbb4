"""Exact medians of values in several blocks, from a few numbers per block.

There are several groups of values, the nodes of a level of all trees. In every group, the element
of a given rank is to be found. A *sketch* of every block bounds the ranks of its values; between
two values that enclose the element, the blocks then count theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hssvm.hss.ties import Ties
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
class Medians(Aligned):
    """The elements that were searched for.

    Attributes
    ----------
    value, before : (n_groups,)
        Values of the given rank, and of the rank before it.
    ties : list of Ties
        The values that equal it, in all blocks.
    n_ties : (n_blocks, n_groups) int64
        Number of them in each block.
    n_lower : (n_blocks, n_groups) int64
        Number of rows of each block in the lower half.
    """

    value: Floats
    before: Floats
    ties: list[Ties]
    n_ties: NDArray[np.int64]
    n_lower: NDArray[np.int64]

    @classmethod
    def of(
        cls, counts: Sequence[Counts], rank: NDArray[np.int64], seeds: NDArray[np.uint64]
    ) -> Medians:
        """Find the elements of the given rank, (n_groups,)."""
        group, value, count = distinct(
            np.concatenate([one.group for one in counts]),
            np.concatenate([one.value for one in counts]),
            np.concatenate([one.count for one in counts]),
        )
        n_lower = np.stack([one.below for one in counts])
        begins = np.searchsorted(group, np.arange(rank.size))
        at_most = _within(count, begins, group) + n_lower.sum(axis=0)[group]
        at, at_before = (
            begins + np.bincount(group[at_most < r[group] + 1], minlength=rank.size)
            for r in (rank, rank - 1)
        )
        median, n_below = value[at], rank - (at_most - count)[at]
        columns = count[at].tolist(), n_below.tolist(), seeds.tolist()
        ties = [Ties(*own) for own in zip(*columns, strict=True)]
        n_ties = np.zeros_like(n_lower)
        for block, one in enumerate(counts):
            less, equal = (compare(one.value, median[one.group]) for compare in (np.less, np.equal))
            np.add.at(n_lower[block], one.group[less], one.count[less])
            n_ties[block, one.group[equal]] = one.count[equal]
        ends = np.cumsum(n_ties, axis=0)
        for g, own in enumerate(ties):
            n_lower[:, g] += np.diff([own.count_below(int(end)) for end in ends[:, g]], prepend=0)
        return cls(median, value[at_before], ties, n_ties, n_lower)

    def of_blocks(self) -> list[BlockMedians]:
        """What each block needs."""
        firsts = np.cumsum(self.n_ties, axis=0) - self.n_ties
        return [BlockMedians(self.value, self.ties, first) for first in firsts]


@dataclass(frozen=True, eq=False)
class BlockMedians(Aligned):
    """The medians of all groups, for one block.

    Attributes
    ----------
    value : (n_groups,)
    ties : list of Ties
    first : (n_groups,) int64
        Number of ties in earlier blocks.
    """

    value: Floats
    ties: list[Ties]
    first: NDArray[np.int64]

    def upper_half(self, value: Floats, group: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether the rows of the block, (n,), are in the upper half of their group."""
        upper = value > self.value[group]
        equal = np.flatnonzero(value == self.value[group])
        order, ends = sort_groups(group[equal], self.value.size)
        for g in np.flatnonzero(np.diff(ends)).tolist():
            rows, first = equal[order[ends[g] : ends[g + 1]]], int(self.first[g])
            upper[rows] = ~self.ties[g].below(first, first + rows.size)
        return upper


def halves_of(n: int, level: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number of rows of every node of a level of a tree over n points, and of its lower half."""
    sizes = np.diff(Node(n).offsets(level + 1))
    return sizes[::2] + sizes[1::2], sizes[::2]
