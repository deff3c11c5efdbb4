"""How a node chooses the few functions through which the rest of the tree sees it."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from hssvm import _core
from hssvm.hss.matrix import Level
from hssvm.hss.tree import ClusterTree
from hssvm.kernels.base import Rows

logger = logging.getLogger(__name__)

Step = Callable[[int, NDArray[np.int64], NDArray[np.int64]], Level]
"""Compress a level: its number, the candidates of its nodes, and where each node's begin."""


class Strategy(ABC):
    """Makes the levels of an `HSSMatrix`; see `compress`."""

    projection: ClassVar[bool]
    """Whether the bases are orthogonal projections, which makes K~ positive semi-definite, and
    gives it values at new points."""

    @abstractmethod
    def largest_rank(self, depth: int, level: int) -> int:
        """Most functions that a node of a level may keep, in a tree of that depth."""

    @abstractmethod
    def compress(
        self, K: _core.KernelMatrix, X: Rows, tree: ClusterTree, rng: np.random.Generator
    ) -> list[Level]:
        """Return the levels, root first."""


def bottom_up(tree: ClusterTree, step: Step) -> list[Level]:
    """Levels, root first, from a step: the skeletons of a level are the candidates of the next."""
    candidates, offsets = tree.perm, tree.offsets(tree.depth)
    levels: list[Level] = []
    for level in reversed(range(tree.depth + 1)):
        here = step(level, candidates, offsets)
        mean_rank, done = here.ranks[-1] / 2**level, 1 - level / (tree.depth + 1)
        logger.debug("compress: level %d, mean rank %.1f", level, mean_rank, extra={"done": done})
        levels.append(here)
        candidates, offsets = here.skeleton, np.ascontiguousarray(here.skeleton_ends[::2])
    return levels[::-1]
