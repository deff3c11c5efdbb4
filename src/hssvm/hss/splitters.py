"""Splitters: rules that cut the nodes of a level in two."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from hssvm import _core
from hssvm.kernels.base import Floats, Rows, core_rows


class Splitter(Protocol):
    """Splits every node of a level into two halves whose sizes differ by at most one."""

    def split(self, X: Rows, n_nodes: int, perm: np.ndarray, seed: int) -> tuple[Floats, Floats]:
        """Reorder `perm` in place, node by node, the lower half of each node first.

        Node i owns ``perm[i * n // n_nodes : (i + 1) * n // n_nodes]``.

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

    def split(self, X: Rows, n_nodes: int, perm: np.ndarray, seed: int) -> tuple[Floats, Floats]:
        """Reorder `perm`; see `Splitter.split`."""
        directions: Floats = np.empty((n_nodes, X.shape[1]), dtype=X.dtype)
        thresholds: Floats = np.empty(n_nodes, dtype=X.dtype)
        _core.split_level(
            core_rows(X),
            n_nodes,
            self.n_samples,
            self.n_starts,
            self.n_iterations,
            seed,
            perm,
            directions,
            thresholds,
        )
        return directions, thresholds
