"""A uniform sample of rows in many places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hssvm.kernels.base import Rows, stack_rows


@dataclass(frozen=True, eq=False)
class Sample:
    """The rows whose random keys are smallest.

    Every row of the data has a key, uniform in [0, 1). A sample holds exactly the rows with a key
    below its limit; so does a merged sample, whose limit is the lowest. Every piece is thus
    represented in proportion to its rows, whatever the sizes of the pieces and the order of
    merging. A piece that is far larger than the others has a low limit, and makes the sample
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
        """At most `n_keep` rows of a piece."""
        return cls._smallest(X, rng.random(X.shape[0]), 1.0, n_keep)

    @classmethod
    def merge(cls, samples: Sequence[Sample], n_keep: int) -> Sample:
        """At most `n_keep` rows of all pieces."""
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
