"""Nested Nystroem projections: the default."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hssvm import _core
from hssvm.hss.matrix import Level
from hssvm.hss.samples import draw_samples
from hssvm.hss.strategies import Strategy, bottom_up
from hssvm.hss.tree import ClusterTree
from hssvm.kernels.base import Rows

RANK_GROWTH = 2 ** (1 / 3)
"""Growth of the rank cap per level towards the root: every level then costs the same."""

GROWING_LEVELS = 8
"""Levels over which the cap grows. Above them it stays, or the work would grow like n log n; and
the rank of the kernel between two halves of the data is a matter of its geometry, not of n."""

OVERSAMPLING = 2
"""Outside points a node looks at, per unit of its rank cap."""


@dataclass(frozen=True)
class NestedNystroem(Strategy):
    """Far-field greedy skeletons, and the projection on the span of their functions.

    Parameters
    ----------
    rtol : float
        A node stops adding to its skeleton when what is left of the kernel between it and its
        samples is below `rtol` of the start, in the Frobenius norm. 0: never, but see `max_rank`.
    max_rank : int
        Largest rank at the leaves; it grows by 2**(1/3) per level towards the root, over eight
        levels, to 6.3 times.
    surplus : float
        A node whose rank is held down by `max_rank` looks at this share more skeleton points and
        keeps the best subspace of their span. Costs time here, none later. In high dimension 0.5
        is worth it: about the error of half as much memory again.
    """

    rtol: float = 1e-3
    max_rank: int = 100
    surplus: float = 0.125

    projection: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.max_rank < 1:
            raise ValueError(f"max_rank must be at least 1, got {self.max_rank}")
        if not self.surplus >= 0:
            raise ValueError(f"surplus must be at least 0, got {self.surplus}")
        if not 0 <= self.rtol < 1:
            raise ValueError(f"rtol must be in [0, 1), got {self.rtol}")

    def largest_rank(self, depth: int, level: int) -> int:
        """Most functions that a node of a level may keep."""
        return int(self.max_rank * RANK_GROWTH ** min(depth - level, GROWING_LEVELS))

    def compress(
        self, K: _core.KernelMatrix, X: Rows, tree: ClusterTree, rng: np.random.Generator
    ) -> list[Level]:
        """Return the levels, root first."""
        return self.compress_part(K, X, tree, rng)[0]

    def compress_part(
        self,
        K: _core.KernelMatrix,
        X: Rows,
        tree: ClusterTree,
        rng: np.random.Generator,
        outside_ends: NDArray[np.int64] | None = None,
    ) -> tuple[list[Level], _core.Below]:
        """Return the levels, root first, and what the root leaves for a level above.

        K may have more rows than X, those of an `Outside`.
        """
        below = None
        n_rows = tree.n + (0 if outside_ends is None else int(outside_ends[-1]))

        def step(level: int, candidates: NDArray[np.int64], offsets: NDArray[np.int64]) -> Level:
            nonlocal below
            cap = self.largest_rank(tree.depth, level) if level or n_rows > tree.n else 0
            cap = min(cap, int(np.diff(offsets).max()))
            samples = draw_samples(tree, level, min(OVERSAMPLING * cap, n_rows), rng, outside_ends)
            here, below = self.compress_level(K, X.dtype, candidates, offsets, samples, cap, below)
            return here

        levels = bottom_up(tree, step)
        assert below is not None
        return levels, below

    def compress_level(
        self,
        K: _core.KernelMatrix,
        dtype: np.dtype[Any],
        candidates: NDArray[np.int64],
        offsets: NDArray[np.int64],
        samples: NDArray[np.int64],
        cap: int,
        below: _core.Below | None,
    ) -> tuple[Level, _core.Below]:
        """Compress a level, to ranks of at most `cap`."""
        step = _core.compress_level_f32 if dtype == np.float32 else _core.compress_level_f64
        max_size = math.ceil((1 + self.surplus) * cap)
        ends, skeleton, ranks, basis, coupling, expansion, here = step(
            K, candidates, offsets, samples, cap, max_size, self.rtol, below
        )
        return Level(ends, skeleton, ranks, basis, coupling, expansion), here
