"""The top of the cluster tree, which assigns rows to parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from hssvm.hss.hashing import cut_rows, cut_width
from hssvm.hss.splitters import TwoMeansSplitter
from hssvm.kernels.base import Floats, Rows, as_rows

SAMPLE_PER_PART = 4000
"""Number of sampled rows per part: the sizes of the parts are then accurate to 1-2%."""

CUT_BLOCK = 4096
"""Number of rows that are projected at a time."""

CUT_ROUNDING = 64 * np.finfo(np.float64).eps
"""Relative difference below which two projections count as equal."""


@dataclass(frozen=True, eq=False)
class TopSplits:
    """Splits of the rows into parts of equal size, for any number of parts.

    The cuts are the inner nodes of a perfect binary tree, root first and level by level, as in
    `ClusterTree`. Its leaves are *slots*. A node with w > 1 parts gives ``ceil(w / 2)`` of them to
    its lower child and the others to its upper child, and rows in the same proportion; a node with
    a single part has an empty upper child. For five parts, the ``w`` of every node are::

        5
        3       2
        2   1   1   1
        1 1 1 0 1 0 1 0

    A point x belongs to the upper child if ``<x, direction> > threshold``. If many rows have the
    same projection at a cut (duplicates, categories), the training rows with
    ``floor < <x, direction> <= threshold`` are tied, and a fraction of them is assigned to the
    upper child; at all other cuts the floor equals the threshold. Floors and thresholds lie midway
    between projections of the sample, so that the assignment does not depend on rounding.

    Parameters
    ----------
    n_parts : int
    directions : (2**depth - 1, width)
        See `hssvm.hss.hashing`.
    thresholds, floors, tie_shares : (2**depth - 1,)
    """

    n_parts: int
    directions: NDArray[np.float64]
    thresholds: NDArray[np.float64]
    floors: NDArray[np.float64]
    tie_shares: NDArray[np.float64]

    @classmethod
    def make(cls, X_sample: Rows, n_parts: int, seed: int) -> TopSplits:
        """Compute the splits from a sample of the rows.

        Parameters
        ----------
        X_sample : (m, p) array or CSR matrix
            In random order.
        n_parts : int
        seed : int
        """
        if n_parts < 1:
            raise ValueError(f"n_parts must be at least 1, got {n_parts}")
        X = as_rows(X_sample)
        X = cut_rows(X, cut_width(X))
        counts = _part_counts(n_parts)
        n_cuts = 2 ** (len(counts) - 1) - 1
        cuts = cls(
            n_parts,
            np.zeros((n_cuts, X.shape[1])),
            np.full(n_cuts, np.inf),
            np.full(n_cuts, np.inf),
            np.zeros(n_cuts),
        )
        rng = np.random.default_rng(seed)
        nodes = [np.arange(X.shape[0])]
        for level, below in enumerate(counts[1:]):
            children = []
            for i, rows in enumerate(nodes):
                lower, upper = below[2 * i], below[2 * i + 1]
                split_seed = int(rng.integers(2**63))
                if upper == 0:
                    children += [rows, rows[:0]]
                else:
                    halves = cuts._cut(
                        2**level - 1 + i, X[rows], upper / (lower + upper), split_seed
                    )
                    children += [rows[half] for half in halves]
            nodes = children
        return cuts

    def _cut(self, cut: int, X: Rows, share: float, seed: int) -> tuple[NDArray[np.intp], ...]:
        """Set a cut with a fraction `share` of X above it; return the rows on either side."""
        n = X.shape[0]
        self.floors[cut] = -np.inf
        self.tie_shares[cut] = share
        if n < 2:
            # Nothing is known about the rows of this node: all are tied.
            return np.arange(n), np.arange(0)
        splitter = TwoMeansSplitter()
        sample = X[splitter.sample_positions(n, seed)]
        direction = self.directions[cut] = splitter.direction(sample, seed)
        here = np.zeros(n, np.int64)
        value = project(X, direction[None], here)
        size = project(abs(X), np.abs(direction)[None], here)
        order = np.argsort(value, kind="stable")
        value, size = value[order], size[order]
        apart = np.diff(value) > CUT_ROUNDING * np.maximum(size[1:], size[:-1])
        starts = np.concatenate([[0], np.flatnonzero(apart) + 1, [n]])
        between = np.concatenate([[-np.inf], (value[:-1][apart] + value[1:][apart]) / 2, [np.inf]])
        n_lower = min(max(round((1 - share) * n), 1), n - 1)
        group = int(np.searchsorted(starts, n_lower))
        self.thresholds[cut] = between[group]
        if starts[group] == n_lower:
            self.floors[cut] = between[group]
            self.tie_shares[cut] = 0
        else:
            self.floors[cut] = between[group - 1]
            n_ties = starts[group] - starts[group - 1]
            self.tie_shares[cut] = np.clip((starts[group] - (1 - share) * n) / n_ties, 0, 1)
        return order[:n_lower], order[n_lower:]

    @property
    def depth(self) -> int:
        """Level of the slots."""
        return (self.n_parts - 1).bit_length()

    @property
    def slots(self) -> NDArray[np.int64]:
        """Slot of every part, (n_parts,)."""
        return np.flatnonzero(_part_counts(self.n_parts)[-1])

    def route(self, X: Rows) -> NDArray[np.int64]:
        """Return the part of every row of new data, (m,)."""
        return self._descend(as_rows(X), lambda value, cut, rows: value > self.thresholds[cut])

    def assign(self, X: Rows, ids: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
        """Return the part of every training row, (m,).

        Tied rows are assigned at random, by a hash of their index, so that the part of a row does
        not depend on its partition.

        Parameters
        ----------
        X : (m, p) array or CSR matrix
        ids : (m,) int64
            Global indices of the rows.
        seed : int
        """

        def goes_up(value: Floats, cut: NDArray[np.int64], rows: slice) -> NDArray[np.bool_]:
            up = value > self.floors[cut]
            drawn = up & (value <= self.thresholds[cut])
            up[drawn] = uniform(ids[rows][drawn], cut[drawn], seed) < self.tie_shares[cut[drawn]]
            return up

        return self._descend(as_rows(X), goes_up)

    def _descend(
        self,
        X: Rows,
        goes_up: Callable[[Floats, NDArray[np.int64], slice], NDArray[np.bool_]],
    ) -> NDArray[np.int64]:
        part_of_slot = np.cumsum(_part_counts(self.n_parts)[-1]) - 1
        part = np.empty(X.shape[0], np.int64)
        for begin in range(0, X.shape[0], CUT_BLOCK):
            rows = slice(begin, min(begin + CUT_BLOCK, X.shape[0]))
            block = cut_rows(X[rows], self.directions.shape[1])
            node = np.zeros(block.shape[0], np.int64)
            for level in range(self.depth):
                cut = 2**level - 1 + node
                node = 2 * node + goes_up(project(block, self.directions, cut), cut, rows)
            part[rows] = part_of_slot[node]
        return part


def project(X: Rows, directions: Floats, which: NDArray[np.int64]) -> NDArray[np.float64]:
    """``<x_i, directions[which_i]>`` for every row, (m,).

    The products are summed in the order of the features. This is slower than a matrix product, but
    the result for a row is the same in any block of rows, on any processor, dense or sparse.
    """
    if scipy.sparse.issparse(X):
        row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        products = X.data * directions[which[row], X.indices].astype(np.float64)
        return np.bincount(row, products, X.shape[0]).astype(np.float64, copy=False)
    value = np.zeros(X.shape[0])
    by_feature = np.ascontiguousarray(directions.T, np.float64)
    for begin in range(0, X.shape[0], CUT_BLOCK):
        rows = slice(begin, begin + CUT_BLOCK)
        columns = np.ascontiguousarray(X[rows].T, np.float64)
        for column, weight in zip(columns, by_feature, strict=True):
            value[rows] += column * weight[which[rows]]
    return value


def _part_counts(n_parts: int) -> list[NDArray[np.int64]]:
    """Number of parts below every node, level by level."""
    counts = [np.array([n_parts])]
    while counts[-1].max() > 1:
        above = counts[-1]
        counts.append(np.stack([(above + 1) // 2, above // 2], axis=1).ravel())
    return counts


def uniform(ids: NDArray[np.int64], cut: NDArray[np.int64], seed: int) -> NDArray[np.float64]:
    """Pseudorandom numbers in [0, 1), determined by row, cut and seed."""
    bits = np.full(ids.shape, seed % 2**64, np.uint64)
    for value in (cut, ids):
        bits = _mix(bits + value.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15))
    return (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _mix(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The last steps of splitmix64."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
