"""Compressors: how the nodes choose their bases."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from hssvm import _core
from hssvm.hss.matrix import HSSLevel
from hssvm.hss.scratch import Scratch
from hssvm.hss.tree import ClusterTree
from hssvm.kernels.base import Rows
from hssvm.progress import Share, emit

Step = Callable[[int, NDArray[np.int64], NDArray[np.int64]], HSSLevel]
"""Compresses a level, given its index, the candidates of its nodes, and their offsets."""


class Compressor(ABC):
    """Computes the levels of an `HSSMatrix`; see `compress`."""

    projection: ClassVar[bool]
    """Whether the bases define orthogonal projections, so that K~ is positive semi-definite and
    extends to new points."""

    @abstractmethod
    def largest_rank(self, depth: int, level: int) -> int:
        """Maximum rank of the nodes of a level, in a tree of the given depth."""

    @abstractmethod
    def compress(
        self,
        K: _core.KernelMatrix,
        X: Rows,
        tree: ClusterTree,
        rng: np.random.Generator,
        scratch: Scratch | None = None,
    ) -> list[HSSLevel]:
        """Return the levels, root first; with a `scratch`, in its files."""


def bottom_up(tree: ClusterTree, step: Step, scratch: Scratch | None = None) -> list[HSSLevel]:
    """Compress from the leaves up; the skeletons of a level are candidates of the level above.

    The levels are returned root first.
    """
    candidates, offsets = tree.perm, tree.offsets(tree.depth)
    levels: list[HSSLevel] = []
    for level in reversed(range(tree.depth + 1)):
        here = step(level, candidates, offsets)
        mean_rank, done = here.ranks[-1] / 2**level, 1 - level / (tree.depth + 1)
        emit(Share(done), "compress: level %d, mean rank %.1f", level, mean_rank)
        levels.append(here if scratch is None else here.moved(scratch))
        candidates, offsets = here.skeleton, np.ascontiguousarray(here.skeleton_offsets[::2])
        del here
        _core.trim_heap()
    return levels[::-1]
