"""Matrices in parts without a cluster: a thread for every part, and one for the coordinators."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np

from hssvm.dask.communicator import ActorCommunicator, RemoteTop
from hssvm.dask.coordinator import Coordinator
from hssvm.dask.messages import Link
from hssvm.hss import ClusterTree, HSSMatrix
from hssvm.hss.matrix import HSSLevel
from hssvm.hss.parts import compress_part, join_trees
from hssvm.hss.samples import FarFieldSample
from hssvm.hss.top import FAN_IN, TopLevels, compress_top, group_parts
from hssvm.operators import HSSOperator


class Parts:
    """Rows in parts of about equal size, compressed.

    `rows` are the rows of each part; slots, tiers and everything else as in `hssvm.hss`.
    """

    def __init__(self, kernel, X, n_parts, compressor, leaf_size, seed=0, share=0.5, fan_in=FAN_IN):
        self.X, rng = X, np.random.default_rng(seed)
        depth = max(0, (n_parts - 1).bit_length())
        tree = ClusterTree.build(X, 2, random_state=seed, min_depth=depth)
        self.slots = served_slots(n_parts, depth)
        ends = np.linspace(0, X.shape[0], n_parts + 1).astype(int)
        self.rows = [tree.perm[a:b] for a, b in pairwise(ends)]
        self.sampled = [
            np.sort(rng.permutation(rows)[: max(1, int(share * rows.size))]) for rows in self.rows
        ]
        counts = np.zeros(2**depth, int)
        counts[self.slots] = [s.size for s in self.sampled]
        self.sample, bounds = np.concatenate(self.sampled), np.concatenate([[0], counts.cumsum()])
        part_depth = max(ClusterTree.build(X[r], leaf_size).depth for r in self.rows)
        self.matrices, self.roots, self.outside = [], [], []

        def sample_outside(level, node):
            others = [np.empty(0, int)]
            for ancestor in range(1, level + 1):
                width = 2 ** (depth - ancestor)
                sibling = (node >> (level - ancestor)) ^ 1
                others.append(self.sample[bounds[sibling * width] : bounds[(sibling + 1) * width]])
            rows = np.concatenate(others)
            return rows, FarFieldSample(X[rows], np.cumsum([o.size for o in others]))

        for part, rows in enumerate(self.rows):
            others, outside = sample_outside(depth, int(self.slots[part]))
            self.outside.append(others)
            tree = ClusterTree.build(
                X[rows], leaf_size, random_state=seed + part, min_depth=part_depth
            )
            matrix, root = compress_part(
                kernel, X[rows], tree, compressor, outside, random_state=seed + part
            )
            self.matrices.append(matrix)
            self.roots.append(root)
        self.tiers, self.tops = group_parts(self.slots, depth, fan_in), []
        roots = self.roots
        for groups in self.tiers:
            made = []
            for group in groups:
                width = 2 ** (depth - group.level - group.depth)
                nodes = (group.node << group.depth) + np.arange(2**group.depth + 1)
                ends = bounds[nodes * width]
                made.append(
                    compress_top(
                        kernel,
                        [roots[member] for member in group.members],
                        group.slots,
                        X[self.sample[ends[0] : ends[-1]]],
                        ends - ends[0],
                        compressor,
                        part_depth,
                        outside=sample_outside(group.level, group.node)[1],
                        random_state=seed,
                    )
                )
            self.tops.append([top for top, _ in made])
            roots = [root for _, root in made]
            part_depth += groups[0].depth
        self.top_depth = depth

    def together(self, work):
        """``work(operator, rows)`` of all parts at once; their results in order."""

        def on_part(communicator):
            matrix, rows = self.matrices[communicator.rank], self.rows[communicator.rank]
            return work(HSSOperator(matrix, RemoteTop(communicator), communicator), rows)

        return in_threads(self.tiers, self.tops, len(self.rows), on_part)

    def joined_tree(self):
        """The undivided tree, over the rows of X; its top has no cuts."""
        n_slots, p = 2**self.top_depth, self.X.shape[1]
        trees = [matrix.tree for matrix in self.matrices]
        tree = join_trees(np.zeros((n_slots - 1, p)), np.zeros(n_slots - 1), trees, self.slots)
        perm = np.concatenate(self.rows)[tree.perm]
        return ClusterTree(perm, tree.depth, tree.directions, tree.thresholds, tree.leaf_offsets)

    def joined(self):
        """The undivided matrix; for a power of two of parts."""
        tree = self.joined_tree()
        levels = []
        for groups, tops in reversed(list(zip(self.tiers, self.tops, strict=True))):
            for level in range(groups[0].depth):
                here = [top.levels[level] for top in tops]
                levels.append(join_levels(here, [np.arange(10**6)] * len(here)))
        for level in range(self.matrices[0].tree.depth + 1):
            levels.append(join_levels([m.levels[level] for m in self.matrices], self.rows))
        return HSSMatrix(self.matrices[0].kernel, self.X, tree, levels)


def in_threads(tiers, tops, n_parts, work):
    """``work(communicator)`` of all parts at once; their results in order."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    proxies, links = [], {0: None}
    for groups, levels in reversed(list(zip(tiers, tops, strict=True))):
        below = {}
        for i, (group, top) in enumerate(zip(groups, levels, strict=True)):
            coordinator = Coordinator(top, group.slots)
            coordinator.link = links[i]
            proxies.append(Proxy(coordinator, loop))
            below |= {m: Link(proxies[-1], k) for k, m in enumerate(group.members.tolist())}
        links = below

    def run(part):
        try:
            return work(ActorCommunicator(links[part], part, n_parts))
        except BaseException as error:
            for proxy in proxies:
                proxy.abort(repr(error)).result()
            raise

    try:
        with ThreadPoolExecutor(n_parts) as pool:
            return [future.result() for future in [pool.submit(run, i) for i in range(n_parts)]]
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


class Proxy:
    """Calls the methods of a coordinator in the event loop, as Dask's actors do."""

    def __init__(self, coordinator, loop):
        self._coordinator, self._loop = coordinator, loop

    def __getattr__(self, name):
        method = getattr(self._coordinator, name)
        return lambda *args: asyncio.run_coroutine_threadsafe(method(*args), self._loop)


def sums_in_threads(n_parts, work, fan_in=FAN_IN):
    """The same where the parts only add and gather, and have no matrix."""
    depth = max(0, (n_parts - 1).bit_length())
    tiers = group_parts(served_slots(n_parts, depth), depth, fan_in)

    def without_levels(group):
        return TopLevels([], np.zeros(2**group.depth + 1, np.int64), np.dtype(np.float64))

    tops = [[without_levels(group) for group in groups] for groups in tiers]
    return in_threads(tiers, tops, n_parts, work)


def served_slots(n_parts, depth):
    """Slots of the parts: as `hssvm.dask.splits` has them."""
    served = np.array([n_parts])
    for _ in range(depth):
        served = np.stack([(served + 1) // 2, served // 2], axis=1).ravel()
    return np.flatnonzero(served)


def join_levels(levels, rows):
    def running(name):
        counts = [np.diff(getattr(level, name)) for level in levels]
        return np.concatenate([[0], np.cumsum(np.concatenate(counts))])

    skeleton = [own[level.skeleton] for own, level in zip(rows, levels, strict=True)]
    flat = (
        np.concatenate([getattr(level, name) for level in levels])
        for name in ("basis", "coupling", "expansion")
    )
    return HSSLevel(running("skeleton_offsets"), np.concatenate(skeleton), running("ranks"), *flat)
