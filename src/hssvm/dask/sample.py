"""A uniform sample of distributed rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hssvm.kernels.base import Rows, stack_rows


@dataclass(frozen=True, eq=False)
class Sample:
    """The rows with the smallest random keys.

    Every row has a random key, uniform in [0, 1). A sample contains exactly the rows with a key
    below its limit; the limit of a merged sample is the smallest of all limits. Every partition is
    thus represented in proportion to its rows, for any sizes of the partitions and any order of
    merging. A partition that is far larger than the others has a small limit, and makes the sample
    smaller.

    Attributes
    ----------
    X : (m, p) array or CSR matrix
        Sorted by key.
    keys : (m,)
    limit : float
    """

    X: Rows
    keys: NDArray[np.float64]
    limit: float

    @classmethod
    def draw(cls, X: Rows, n_keep: int, rng: np.random.Generator) -> Sample:
        """Draw at most `n_keep` rows of a partition."""
        return cls._smallest(X, rng.random(X.shape[0]), 1.0, n_keep)

    @classmethod
    def merge(cls, samples: Sequence[Sample], n_keep: int) -> Sample:
        """Merge samples into one of at most `n_keep` rows."""
        limit = min(s.limit for s in samples)
        X = stack_rows([s.X[: np.searchsorted(s.keys, limit)] for s in samples])
        keys = np.concatenate([s.keys[s.keys < limit] for s in samples])
        return cls._smallest(X, keys, limit, n_keep)

    @classmethod
    def _smallest(cls, X: Rows, keys: NDArray[np.float64], limit: float, n_keep: int) -> Sample:
        order = np.argsort(keys, kind="stable")
        if order.size > n_keep:
            limit = float(keys[order[n_keep]])
        kept = order[:n_keep]
        return cls(X[kept], keys[kept], limit)
