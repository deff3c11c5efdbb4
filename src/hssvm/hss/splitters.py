"""Where to cut the nodes of a level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from hssvm import _core
from hssvm.kernels.base import Floats, Rows, core_rows


class Splitter(Protocol):
    """Cuts every node of a level into two halves of equal size (they differ by one at most)."""

    def split(self, X: Rows, n_nodes: int, perm: np.ndarray, seed: int) -> tuple[Floats, Floats]:
        """Reorder `perm` in place, node by node, the lower half of each node first.

        Node i owns ``perm[i * n // n_nodes : (i + 1) * n // n_nodes]``.

        Returns
        -------
        directions : (n_nodes, p)
        thresholds : (n_nodes,)
            A point x of node i goes to the upper half if ``<x, directions[i]> > thresholds[i]``.
        """
        ...


@dataclass(frozen=True)
class TwoMeansSplitter:
    """Median cut along the line between the means of the two halves: balanced two-means.

    Like a principal direction it follows the spread of the points, but it prefers to cut where
    they fall into two groups, which leaves less of the kernel between the halves.

    Parameters
    ----------
    n_samples : int
        Points of the node that the direction is estimated from.
    n_starts : int
        Random directions to start from; the one that ends with the means furthest apart is taken.
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
