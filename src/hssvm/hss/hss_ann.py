"""HSS-ANN, the compression of the paper: interpolation steered by nearest neighbors."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from hssvm import _core
from hssvm.hss.compressors import Compressor, bottom_up
from hssvm.hss.matrix import HSSLevel
from hssvm.hss.neighbors import nearest_neighbors, neighbor_samples
from hssvm.hss.scratch import Scratch
from hssvm.hss.tree import ClusterTree
from hssvm.kernels.base import Rows

logger = logging.getLogger(__name__)

SPARE_CANDIDATES = 10
"""Required excess of the number of samples over the rank: with fewer, the rank may be too small."""


@dataclass(frozen=True)
class HSSANN(Compressor):
    """HSS-ANN: interpolative decompositions, computed on nearest neighbors.

    K~ is symmetric but may be indefinite, and does not extend to new points: predict with the exact
    kernel. `factor` and ADMM need ``K~ + diag(shift)`` to be positive definite.

    Parameters
    ----------
    rtol, atol : float
        The skeleton stops growing when the residuals of all other columns, on the samples, are
        below ``rtol / level`` of the largest column or below ``atol / level``, where the children
        of the root have level 1. This is the rule of STRUMPACK, which the paper uses: its
        ``rtol = 1`` means 1/7 at the leaves of a tree with seven levels.
    max_rank : int
        Maximum rank on every level.
    n_neighbors : int
        Number of neighbors of every point. If it is too small for a node, it is doubled and the
        compression starts again.
    """

    rtol: float = 1e-2
    atol: float = 1e-8
    max_rank: int = 200
    n_neighbors: int = 64

    projection: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for name in ("rtol", "atol"):
            if not getattr(self, name) >= 0:
                raise ValueError(f"{name} must be at least 0, got {getattr(self, name)}")
        for name in ("max_rank", "n_neighbors"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")

    def largest_rank(self, depth: int, level: int) -> int:
        """Maximum rank of the nodes of a level."""
        return self.max_rank

    def compress(
        self,
        K: _core.KernelMatrix,
        X: Rows,
        tree: ClusterTree,
        rng: np.random.Generator,
        scratch: Scratch | None = None,
    ) -> list[HSSLevel]:
        """Return the levels, root first; with a `scratch`, in its files."""
        k = self.n_neighbors
        while True:
            k = min(k, tree.n - 1)
            levels, enough = self._attempt(K, X, tree, rng, scratch, k)
            if enough or k == tree.n - 1:
                return levels
            k *= 2
            logger.info("compress: too few samples; restarting with %d neighbors", k)

    def _attempt(
        self,
        K: _core.KernelMatrix,
        X: Rows,
        tree: ClusterTree,
        rng: np.random.Generator,
        scratch: Scratch | None,
        k: int,
    ) -> tuple[list[HSSLevel], bool]:
        single = X.dtype == np.float32
        interpolate_level = _core.interpolate_level_f32 if single else _core.interpolate_level_f64
        neighbors = nearest_neighbors(X, k, int(rng.integers(2**31)))
        below: HSSLevel | None = None
        enough = True

        def step(level: int, candidates: NDArray[np.int64], offsets: NDArray[np.int64]) -> HSSLevel:
            nonlocal below, enough
            cap = min(self.max_rank, int(np.diff(offsets).max())) if level else 0
            samples, ends = neighbor_samples(
                tree,
                level,
                candidates,
                offsets,
                neighbors,
                cap + k // 2,
                k // 2 + SPARE_CANDIDATES,
                rng,
            )
            left = None if below is None else np.diff(below.ranks)[::2].copy()
            rtol, atol = self.rtol / max(1, level), self.atol / max(1, level)
            ranks, skeleton, basis, coupling = interpolate_level(
                K, candidates, offsets, left, samples, ends, cap, rtol, atol
            )
            short = np.diff(ranks) > np.diff(ends) - SPARE_CANDIDATES
            enough &= not np.any(short & (np.diff(ranks) < np.minimum(cap, np.diff(offsets))))
            below = HSSLevel(ranks, skeleton, ranks, basis, coupling, np.empty(0, X.dtype))
            return below

        return bottom_up(tree, step, scratch), enough
