"""Matrices in parts without a cluster: a thread for every part, and one for the coordinator."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np

from hssvm.dask.communicator import ActorCommunicator, RemoteTop
from hssvm.dask.coordinator import Coordinator
from hssvm.hss import ClusterTree, HSSMatrix
from hssvm.hss.matrix import HSSLevel
from hssvm.hss.parts import TopLevels, compress_part, compress_top, join_trees
from hssvm.hss.samples import FarFieldSample
from hssvm.operators import HSSOperator


class Parts:
    """Rows in parts of about equal size, compressed.

    `rows` are the rows of each part; slots and everything else as in `hssvm.hss.parts`.
    """

    def __init__(self, kernel, X, n_parts, compressor, leaf_size, seed=0, share=0.5):
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
        for part, rows in enumerate(self.rows):
            others = [np.empty(0, int)]
            for level in range(1, depth + 1):
                width = 2 ** (depth - level)
                sibling = (self.slots[part] // width) ^ 1
                others.append(self.sample[bounds[sibling * width] : bounds[(sibling + 1) * width]])
            self.outside.append(np.concatenate(others))
            outside = FarFieldSample(X[self.outside[-1]], np.cumsum([o.size for o in others]))
            tree = ClusterTree.build(
                X[rows], leaf_size, random_state=seed + part, min_depth=part_depth
            )
            matrix, root = compress_part(
                kernel, X[rows], tree, compressor, outside, random_state=seed + part
            )
            self.matrices.append(matrix)
            self.roots.append(root)
        self.top = compress_top(
            kernel, self.roots, self.slots, X[self.sample], bounds, compressor, part_depth,
            random_state=seed,
        )  # fmt: skip

    def together(self, work):
        """``work(operator, rows)`` of all parts at once; their results in order."""

        def on_part(communicator):
            matrix, rows = self.matrices[communicator.rank], self.rows[communicator.rank]
            return work(HSSOperator(matrix, RemoteTop(communicator), communicator), rows)

        return in_threads(self.top, self.slots, on_part)

    def joined_tree(self):
        """The undivided tree, over the rows of X; its top has no cuts."""
        n_slots, p = self.top.ranks.size - 1, self.X.shape[1]
        trees = [matrix.tree for matrix in self.matrices]
        tree = join_trees(np.zeros((n_slots - 1, p)), np.zeros(n_slots - 1), trees, self.slots)
        perm = np.concatenate(self.rows)[tree.perm]
        return ClusterTree(perm, tree.depth, tree.directions, tree.thresholds, tree.leaf_offsets)

    def joined(self):
        """The undivided matrix; for a power of two of parts."""
        tree = self.joined_tree()
        levels = list(self.top.levels)
        for level in range(self.matrices[0].tree.depth + 1):
            levels.append(join_levels([m.levels[level] for m in self.matrices], self.rows))
        return HSSMatrix(self.matrices[0].kernel, self.X, tree, levels)


def in_threads(top, slots, work):
    """``work(communicator)`` of all parts at once; their results in order."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    coordinator = Coordinator(top, slots)

    class Proxy:
        def __getattr__(self, name):
            method = getattr(coordinator, name)
            return lambda *args: asyncio.run_coroutine_threadsafe(method(*args), loop)

    def run(part):
        try:
            return work(ActorCommunicator(Proxy(), part, len(slots)))
        except BaseException as error:
            Proxy().abort(repr(error)).result()
            raise

    try:
        with ThreadPoolExecutor(len(slots)) as pool:
            return [future.result() for future in [pool.submit(run, i) for i in range(len(slots))]]
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def sums_in_threads(n_parts, work):
    """The same where the parts only add and gather, and have no matrix."""
    top = TopLevels([], np.zeros(n_parts + 1, np.int64), np.dtype(np.float64))
    return in_threads(top, np.arange(n_parts), work)


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
