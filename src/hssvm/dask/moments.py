"""Means and variances by feature, of rows in many places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from hssvm.kernels.base import Floats, Rows

BLOCK = 2**20
"""Entries that are turned to float64 at a time."""


@dataclass(frozen=True, eq=False)
class Moments:
    """Mean and sum of squares about it, by feature.

    Attributes
    ----------
    total : float
        Number of rows, or their weight.
    mean : (p,)
    squares : (p,)
        Sum of ``weight * (x - mean)**2``.
    """

    total: float
    mean: NDArray[np.float64]
    squares: NDArray[np.float64]

    @classmethod
    def of(cls, X: Rows, weight: Floats | None = None) -> Moments:
        """Moments of rows; without `weight` every row counts as 1."""
        n, p = X.shape
        weight = np.ones(n) if weight is None else weight
        if scipy.sparse.issparse(X):
            return cls._of_sparse(X, weight)
        step = max(1, BLOCK // max(p, 1))
        blocks = [slice(begin, begin + step) for begin in range(0, max(n, 1), step)]
        return cls.merge([cls._of_dense(X[rows], weight[rows]) for rows in blocks])

    @classmethod
    def _of_dense(cls, X: Floats, weight: Floats) -> Moments:
        X = X.astype(np.float64)
        total = float(weight.sum())
        mean = weight @ X / (total or 1.0)
        X -= mean
        return cls(total, mean, weight @ X**2)

    @classmethod
    def _of_sparse(cls, X: Rows, weight: Floats) -> Moments:
        p = X.shape[1]
        total = float(weight.sum())
        values = X.data.astype(np.float64)
        entry_weight = np.repeat(weight, np.diff(X.indptr))
        mean = np.bincount(X.indices, entry_weight * values, p) / (total or 1.0)
        squares = np.bincount(X.indices, entry_weight * (values - mean[X.indices]) ** 2, p)
        zeros = np.maximum(total - np.bincount(X.indices, entry_weight, p), 0.0)
        return cls(total, mean, squares + zeros * mean**2)

    @classmethod
    def merge(cls, moments: Sequence[Moments]) -> Moments:
        """Moments of all rows together (Chan, Golub and LeVeque's formula, for many sets)."""
        totals = np.array([m.total for m in moments])
        total = float(totals.sum())
        means = np.stack([m.mean for m in moments])
        first = means[np.argmax(totals)]
        mean = first + totals @ (means - first) / (total or 1.0)
        squares = sum(m.squares for m in moments) + totals @ (means - mean) ** 2
        return cls(total, mean, squares)

    @property
    def variance(self) -> NDArray[np.float64]:
        """Population variance of every feature, (p,)."""
        return self.squares / self.total
