"""Compression by nested Nystroem projections, the default."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hssvm import _core
from hssvm.hss.compressors import Compressor, bottom_up
from hssvm.hss.matrix import HSSLevel
from hssvm.hss.samples import draw_samples
from hssvm.hss.scratch import Scratch
from hssvm.hss.tree import ClusterTree
from hssvm.kernels.base import Rows

RANK_GROWTH = 2 ** (1 / 3)
"""Growth of the maximum rank per level toward the root, at which every level costs the same."""

GROWING_LEVELS = 8
"""Number of levels over which the maximum rank grows. It is constant above them: otherwise the work
would grow like n log n, and the rank of the kernel between two halves of the data depends on their
geometry, not on n."""

SAMPLES_PER_RANK = 2
"""Number of samples of a node, relative to its maximum rank."""


@dataclass(frozen=True)
class NestedNystroem(Compressor):
    """Greedy skeletons of the far field, and projections onto the span of their kernel functions.

    Parameters
    ----------
    rtol : float
        A skeleton stops growing when the residual of the kernel between the node and its samples
        is below `rtol` of its initial size, in the Frobenius norm. With 0, only `max_rank` limits
        the rank.
    max_rank : int
        Maximum rank at the leaves. It grows by a factor of 2**(1/3) per level toward the root,
        over eight levels, up to 6.3 times.
    oversampling : float
        A node whose rank is limited by `max_rank` selects this fraction of additional skeleton
        points and keeps the best subspace of their span. It slows down compression, but nothing
        after it. In high dimension 0.5 pays off: it helps about as much as 50% more memory.
    """

    rtol: float = 1e-3
    max_rank: int = 100
    oversampling: float = 0.125

    projection: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.max_rank < 1:
            raise ValueError(f"max_rank must be at least 1, got {self.max_rank}")
        if not self.oversampling >= 0:
            raise ValueError(f"oversampling must be at least 0, got {self.oversampling}")
        if not 0 <= self.rtol < 1:
            raise ValueError(f"rtol must be in [0, 1), got {self.rtol}")

    def largest_rank(self, depth: int, level: int) -> int:
        """Maximum rank of the nodes of a level."""
        return int(self.max_rank * RANK_GROWTH ** min(depth - level, GROWING_LEVELS))

    def compress(
        self,
        K: _core.KernelMatrix,
        X: Rows,
        tree: ClusterTree,
        rng: np.random.Generator,
        scratch: Scratch | None = None,
    ) -> list[HSSLevel]:
        """Return the levels, root first; with a `scratch`, in its files."""
        return self.compress_part(K, X, tree, rng, scratch=scratch)[0]

    def compress_part(
        self,
        K: _core.KernelMatrix,
        X: Rows,
        tree: ClusterTree,
        rng: np.random.Generator,
        outside_offsets: NDArray[np.int64] | None = None,
        scratch: Scratch | None = None,
    ) -> tuple[list[HSSLevel], _core.ChildBases]:
        """Return the levels, root first, and the basis of the root, for the level above.

        K may have more rows than X: the rows of a `FarFieldSample`.
        """
        below = None
        n_rows = tree.n + (0 if outside_offsets is None else int(outside_offsets[-1]))

        def step(level: int, candidates: NDArray[np.int64], offsets: NDArray[np.int64]) -> HSSLevel:
            nonlocal below
            cap = self.largest_rank(tree.depth, level) if level or n_rows > tree.n else 0
            cap = min(cap, int(np.diff(offsets).max()))
            samples = draw_samples(
                tree, level, min(SAMPLES_PER_RANK * cap, n_rows), rng, outside_offsets
            )
            here, below = self.compress_level(K, X.dtype, candidates, offsets, samples, cap, below)
            return here

        levels = bottom_up(tree, step, scratch)
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
        below: _core.ChildBases | None,
    ) -> tuple[HSSLevel, _core.ChildBases]:
        """Compress a level to ranks of at most `cap`."""
        step = _core.compress_level_f32 if dtype == np.float32 else _core.compress_level_f64
        max_size = math.ceil((1 + self.oversampling) * cap)
        ends, skeleton, ranks, basis, coupling, expansion, here = step(
            K, candidates, offsets, samples, cap, max_size, self.rtol, below
        )
        return HSSLevel(ends, skeleton, ranks, basis, coupling, expansion), here
