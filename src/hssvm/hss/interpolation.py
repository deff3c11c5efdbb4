"""Interpolation between neighbours: the compression of the paper."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from hssvm import _core
from hssvm.hss.matrix import Level
from hssvm.hss.neighbours import nearest_neighbours, neighbour_samples
from hssvm.hss.strategies import Strategy, bottom_up
from hssvm.hss.tree import ClusterTree
from hssvm.kernels.base import Rows

logger = logging.getLogger(__name__)

SPARE = 10
"""A rank within so much of the number of samples may be too small: the node has failed."""


@dataclass(frozen=True)
class NeighbourInterpolation(Strategy):
    """HSS-ANN: columns of K interpolated from a few of them, chosen against nearest neighbours.

    K~ is symmetric but may be indefinite, and has no values at new points: predict with the true
    kernel. `factor` needs ``K~ + diag(shift)`` to be positive definite, as ADMM does.

    Parameters
    ----------
    rtol, atol : float
        A column is not chosen if what the others leave of it, on the samples, is below
        ``rtol / level`` of the largest column or below ``atol / level``, where the children of the
        root have level 1. So does STRUMPACK, the paper's engine: its ``rtol = 1`` means 1/7 at the
        leaves of a tree of seven levels.
    max_rank : int
        On every level.
    n_neighbours : int
        Neighbours of every point. Doubled, and all begun again, while some node would need more.
    """

    rtol: float = 1e-2
    atol: float = 1e-8
    max_rank: int = 200
    n_neighbours: int = 64

    projection: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for name in ("rtol", "atol"):
            if not getattr(self, name) >= 0:
                raise ValueError(f"{name} must be at least 0, got {getattr(self, name)}")
        for name in ("max_rank", "n_neighbours"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")

    def largest_rank(self, depth: int, level: int) -> int:
        """Most functions that a node of a level may keep."""
        return self.max_rank

    def compress(
        self, K: _core.KernelMatrix, X: Rows, tree: ClusterTree, rng: np.random.Generator
    ) -> list[Level]:
        """Return the levels, root first."""
        k = self.n_neighbours
        while True:
            k = min(k, tree.n - 1)
            levels, enough = self._attempt(K, X, tree, rng, k)
            if enough or k == tree.n - 1:
                return levels
            k *= 2
            logger.info("compress: too few samples; again with %d neighbours", k)

    def _attempt(
        self, K: _core.KernelMatrix, X: Rows, tree: ClusterTree, rng: np.random.Generator, k: int
    ) -> tuple[list[Level], bool]:
        single = X.dtype == np.float32
        interpolate_level = _core.interpolate_level_f32 if single else _core.interpolate_level_f64
        neighbours = nearest_neighbours(X, k, int(rng.integers(2**31)))
        below: Level | None = None
        enough = True

        def step(level: int, candidates: NDArray[np.int64], offsets: NDArray[np.int64]) -> Level:
            nonlocal below, enough
            cap = min(self.max_rank, int(np.diff(offsets).max())) if level else 0
            samples, ends = neighbour_samples(
                tree, level, candidates, offsets, neighbours, cap + k // 2, k // 2 + SPARE, rng
            )
            left = None if below is None else np.diff(below.ranks)[::2].copy()
            rtol, atol = self.rtol / max(1, level), self.atol / max(1, level)
            ranks, skeleton, basis, coupling = interpolate_level(
                K, candidates, offsets, left, samples, ends, cap, rtol, atol
            )
            short = np.diff(ranks) > np.diff(ends) - SPARE
            enough &= not np.any(short & (np.diff(ranks) < np.minimum(cap, np.diff(offsets))))
            below = Level(ranks, skeleton, ranks, basis, coupling, np.empty(0, X.dtype))
            return below

        return bottom_up(tree, step), enough
