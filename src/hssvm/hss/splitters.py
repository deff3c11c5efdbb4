"""Splitters: rules that cut the nodes of a level in two."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hssvm import _core
from hssvm.kernels.base import Floats, Rows, core_rows


class Splitter(Protocol):
    """Splits every node of a level into two halves."""

    def split(
        self, X: Rows, halves: NDArray[np.int64], perm: NDArray[np.int64], seeds: NDArray[np.uint64]
    ) -> tuple[Floats, Floats]:
        """Reorder `perm` in place, node by node, the lower half of each node first.

        Parameters
        ----------
        X : (n, p) array or CSR matrix
        halves : (2 * n_nodes + 1,) int64
            Node i owns ``perm[halves[2 * i] : halves[2 * i + 2]]``, and its upper half begins at
            ``halves[2 * i + 1]``.
        perm : (n,) int64
        seeds : (n_nodes,) uint64
            Seeds of the random numbers of every node.

        Returns
        -------
        directions : (n_nodes, p)
        thresholds : (n_nodes,)
            A point x of node i is in the upper half if ``<x, directions[i]> > thresholds[i]``.
        """
        ...


@dataclass(frozen=True)
class TwoMeansSplitter:
    """Balanced two-means: a median cut along the line between the means of the two halves.

    Like a principal direction, it follows the spread of the points, but it prefers to separate
    clusters, which makes the kernel between the halves smaller.

    Parameters
    ----------
    n_samples : int
        Number of points of the node from which the direction is estimated.
    n_starts : int
        Number of random initial directions; the result with the largest distance between the means
        is kept.
    n_iterations : int
    """

    n_samples: int = 2048
    n_starts: int = 4
    n_iterations: int = 5

    def split(
        self, X: Rows, halves: NDArray[np.int64], perm: NDArray[np.int64], seeds: NDArray[np.uint64]
    ) -> tuple[Floats, Floats]:
        """Reorder `perm`; see `Splitter.split`. Rows keep their order within each half."""
        directions: Floats = np.empty((seeds.size, X.shape[1]), dtype=X.dtype)
        thresholds: Floats = np.empty(seeds.size, dtype=X.dtype)
        _core.split_level(
            core_rows(X),
            halves,
            seeds,
            self.n_samples,
            self.n_starts,
            self.n_iterations,
            perm,
            directions,
            thresholds,
        )
        return directions, thresholds

    def sample_positions(self, n_rows: int, seed: int) -> NDArray[np.int64]:
        """Positions among the rows of a node of those from which its direction is estimated."""
        positions = np.empty(min(n_rows, self.n_samples), np.int64)
        _core.sample_positions(n_rows, self.n_samples, seed, positions)
        return positions

    def direction(self, sample: Rows, seed: int) -> Floats:
        """Direction (p,) of a node, from the rows at its `sample_positions`."""
        n = sample.shape[0]
        halves, perm = np.array([0, n // 2, n]), np.arange(n)
        return self.split(sample, halves, perm, np.array([seed], np.uint64))[0][0]
