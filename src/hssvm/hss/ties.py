"""Rows that lie exactly on the median of a cut; see `split.hpp`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hssvm import _core

TOGETHER = 64
"""Number of consecutive ties among which the rows of the lower half are drawn, in `split.hpp`."""


@dataclass(frozen=True)
class Ties:
    """The rows of a node with the median of its projections, in their order.

    Attributes
    ----------
    n_ties, n_below : int
        Number of these rows, and of those in the lower half.
    seed : int
        The seed of the node.
    """

    n_ties: int
    n_below: int
    seed: int

    def below(self, first: int, last: int) -> NDArray[np.bool_]:
        """Whether the rows at these places among the ties are in the lower half."""
        below = np.empty(last - first, np.bool_)
        _core.ties_below(first, self.n_ties, self.n_below, self.seed, below)
        return below

    def count_below(self, last: int) -> int:
        """Number of rows of the lower half at places before `last`.

        Examples
        --------
        >>> from hssvm.hss.ties import Ties
        >>> ties = Ties(n_ties=1000, n_below=250, seed=0)
        >>> ties.count_below(1000), ties.count_below(300) == ties.below(0, 300).sum()
        (250, np.True_)
        """
        first = last // TOGETHER * TOGETHER
        return first * self.n_below // self.n_ties + int(self.below(first, last).sum())
