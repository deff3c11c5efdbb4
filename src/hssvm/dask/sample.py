"""A uniform sample of distributed rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm.dask.partitions import Partition
from hssvm.kernels.base import Floats, Rows, stack_rows


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
    y : (m,) or None
    weight : (m,)
    keys : (m,)
    limit : float
    """

    X: Rows
    y: NDArray[Any] | None
    weight: Floats
    keys: NDArray[np.float64]
    limit: float

    @classmethod
    def draw(cls, partition: Partition, n_keep: int, rng: np.random.Generator) -> Sample:
        """Draw at most `n_keep` rows of a partition; without weights, all are 1."""
        n, weight = partition.X.shape[0], partition.weight
        weight = np.ones(n) if weight is None else weight
        every = cls(partition.X, partition.y, weight, rng.random(n), 1.0)
        return every.smallest(n_keep)

    @classmethod
    def merge(cls, samples: Sequence[Sample], n_keep: int) -> Sample:
        """Merge samples into one of at most `n_keep` rows."""
        limit = min(s.limit for s in samples)
        below = [s.first(int(np.searchsorted(s.keys, limit)), limit) for s in samples]
        targets = [s.y for s in below if s.y is not None]
        every = cls(
            stack_rows([s.X for s in below]),
            np.concatenate(targets) if targets else None,
            np.concatenate([s.weight for s in below]),
            np.concatenate([s.keys for s in below]),
            limit,
        )
        return every.smallest(n_keep)

    def smallest(self, n_keep: int) -> Sample:
        """Return at most `n_keep` rows, those with the smallest keys, sorted."""
        order = np.argsort(self.keys, kind="stable")
        y = None if self.y is None else self.y[order]
        ordered = Sample(self.X[order], y, self.weight[order], self.keys[order], self.limit)
        if order.size <= n_keep:
            return ordered
        return ordered.first(n_keep, float(ordered.keys[n_keep]))

    def first(self, n: int, limit: float) -> Sample:
        """Return the first n rows, of a sample with the given limit."""
        y = None if self.y is None else self.y[:n]
        return Sample(self.X[:n], y, self.weight[:n], self.keys[:n], limit)
