"""The top levels of the trees, cut on the workers as one machine would cut them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from distributed import Client, Future, get_worker
from numpy.typing import NDArray

from hssvm import _core
from hssvm._threads import openmp_threads
from hssvm.dask.cells.medians import BlockMedians, Counts, Medians, Sketch, enclose, halves_of
from hssvm.dask.partitions import identity
from hssvm.dask.plan import Layout
from hssvm.dask.shuffle import PartRows
from hssvm.dask.waiting import ShouldStop, values_of
from hssvm.hss import ClusterTree, TwoMeansSplitter
from hssvm.hss.hashing import HASHED_WIDTH, cut_rows
from hssvm.hss.tree import level_seeds
from hssvm.kernels.base import Floats, Rows, core_rows, sort_groups, stack_rows


@dataclass(eq=False)
class TopCutter:
    """Cuts the top levels of several trees at the same time.

    Attributes
    ----------
    client : distributed.Client
    blocks : list of Future
        Futures of `PartRows`.
    begins : (n_blocks + 1,) int64
        Index of the first row of every block, and finally the number of rows.
    layout : Layout
    splitter : TwoMeansSplitter
    should_stop : callable
    nodes : list of Future
        Futures of the nodes (n_trees, n_rows) of the rows of each block, on the last level.
    temporary : list of Future
        All other futures, which the caller releases.
    """

    client: Client
    blocks: Sequence[Future]
    begins: NDArray[np.int64]
    layout: Layout
    splitter: TwoMeansSplitter
    should_stop: ShouldStop
    nodes: list[Future] = field(default_factory=list)
    temporary: list[Future] = field(default_factory=list)

    def cut(self, seeds: Sequence[int], depth: int) -> list[ClusterTree]:
        """Return the cuts of the top levels of the trees with the given seeds, without rows."""
        for future in [*self.nodes, *self.temporary]:
            future.release()
        self.temporary = []
        n, n_trees = int(self.begins[-1]), len(seeds)
        self.nodes = self._each(roots, n_trees)
        sizes = np.tile(np.diff(self.begins)[:, None], n_trees)  # of the nodes in each block
        width, dtype = self._width, self.layout.dtype
        directions = [np.empty((n_trees, 0, width), dtype)]
        thresholds = [np.empty((n_trees, 0), dtype)]
        of_trees = [level_seeds(seed, depth) for seed in seeds]
        for level in range(depth):
            seeds_here = np.concatenate([tree[level] for tree in of_trees])
            n_rows, rank = (np.tile(half, n_trees) for half in halves_of(n, level))
            here = self._directions(sizes, n_rows, seeds_here)
            found, values = self._medians(here, rank, seeds_here)
            earlier, self.temporary = self.temporary, []
            self.nodes = self._each(descend, values, self.nodes, found.of_blocks())
            for future in earlier:
                future.release()
            sizes = np.stack([found.n_lower, sizes - found.n_lower], axis=2)
            sizes = sizes.reshape(len(self.blocks), -1)
            directions.append(here.reshape(n_trees, -1, width))
            thresholds.append((found.before / 2 + found.value / 2).reshape(n_trees, -1))
        cuts = np.concatenate(directions, axis=1), np.concatenate(thresholds, axis=1)
        no_rows, p = np.empty(0, np.int64), self.layout.n_features
        return [ClusterTree(no_rows, depth, *own, None, p) for own in zip(*cuts, strict=True)]

    @property
    def _width(self) -> int:
        """Width of the cuts; see `hssvm.hss.hashing`."""
        p = self.layout.n_features
        return min(p, HASHED_WIDTH) if self.layout.sparse else p

    def _directions(
        self, sizes: NDArray[np.int64], n_rows: NDArray[np.int64], seeds: NDArray[np.uint64]
    ) -> Floats:
        """Directions of the nodes, from a sample of their rows."""
        positions = [
            self.splitter.sample_positions(int(n), int(seed))
            for n, seed in zip(n_rows, seeds, strict=True)
        ]
        group = np.repeat(np.arange(n_rows.size), [own.size for own in positions])
        ends = np.cumsum(sizes, axis=0)
        position = np.concatenate(positions)
        block = (position >= ends[:, group]).sum(axis=0)
        rank = position - (ends - sizes)[block, group]
        order = np.argsort(block, kind="stable")
        asked = np.split(order, np.searchsorted(block[order], np.arange(1, len(self.blocks))))
        sampled = self._each(
            sampled_rows, self.nodes, [group[own] for own in asked], [rank[own] for own in asked],
            n_rows.size, self._width,
        )  # fmt: skip
        place = np.empty_like(order)
        place[order] = np.arange(order.size)
        rows = stack_rows(self._values(sampled))[place]
        begins = np.searchsorted(group, np.arange(n_rows.size + 1))
        return np.stack(
            [
                self.splitter.direction(rows[begins[g] : begins[g + 1]], int(seed))
                for g, seed in enumerate(seeds)
            ]
        )

    def _medians(
        self, directions: Floats, rank: NDArray[np.int64], seeds: NDArray[np.uint64]
    ) -> tuple[Medians, list[Future]]:
        """Find the medians of the projections, which stay on the workers."""
        shared = self.client.submit(identity, directions, pure=False)
        self.temporary.append(shared)
        values = self._each(project, self.nodes, shared)
        sketches = self._each(sketch_of, values, self.nodes, rank.size)
        bounds = enclose(self._values(sketches), rank)
        counts = self._each(counts_of, values, self.nodes, *bounds)
        return Medians.of(self._values(counts), rank, seeds), values

    def _each(self, function: Callable[..., Any], *arguments: Any) -> list[Future]:
        """Call a function for every block; a list has an argument for each, others are shared."""
        futures = []
        for i, block in enumerate(self.blocks):
            own = [a[i] if isinstance(a, list) else a for a in arguments]
            futures.append(self.client.submit(function, block, *own, pure=False))
        self.temporary += futures
        return futures

    def _values(self, futures: Sequence[Future]) -> list[Any]:
        return values_of(self.client, futures, self.should_stop)


def roots(block: PartRows, n_trees: int) -> NDArray[np.int32]:
    """Nodes of the rows at the root of every tree, (n_trees, n)."""
    return np.zeros((n_trees, block.ids.size), np.int32)


def groups_of(nodes: NDArray[np.int32], n_groups: int) -> NDArray[np.int64]:
    """Groups (n_trees * n,): the nodes of the first tree, then those of the second, ..."""
    n_trees = nodes.shape[0]
    return (nodes + n_groups // n_trees * np.arange(n_trees)[:, None]).ravel()


def sampled_rows(
    block: PartRows,
    nodes: NDArray[np.int32],
    group: NDArray[np.int64],
    rank: NDArray[np.int64],
    n_groups: int,
    width: int,
) -> Rows:
    """Return the rows with the given ranks in their groups, with columns as the cuts see them."""
    order, ends = sort_groups(groups_of(nodes, n_groups), n_groups)
    return cut_rows(block.X[order[ends[group] + rank] % nodes.shape[1]], width)


def project(block: PartRows, nodes: NDArray[np.int32], directions: Floats) -> Floats:
    """Project the rows on the directions of their nodes, (n_trees * n,)."""
    rows = core_rows(cut_rows(block.X, directions.shape[1]))
    values: Floats = np.empty(nodes.shape, block.X.dtype)
    with openmp_threads(get_worker().state.nthreads):
        for own, cuts, node in zip(values, np.split(directions, len(nodes)), nodes, strict=True):
            _core.project(rows, cuts, node.astype(np.int64), own)
    return values.ravel()


def sketch_of(block: PartRows, values: Floats, nodes: NDArray[np.int32], n_groups: int) -> Sketch:
    """Sketch the projections."""
    return Sketch.of(values, groups_of(nodes, n_groups), n_groups)


def counts_of(
    block: PartRows, values: Floats, nodes: NDArray[np.int32], low: Floats, high: Floats
) -> Counts:
    """Count the projections."""
    return Counts.of(values, groups_of(nodes, low.size), low, high)


def descend(
    block: PartRows, values: Floats, nodes: NDArray[np.int32], medians: BlockMedians
) -> NDArray[np.int32]:
    """Return the nodes of the rows on the next level."""
    upper = medians.upper_half(values, groups_of(nodes, medians.value.size))
    return 2 * nodes + upper.reshape(nodes.shape)
