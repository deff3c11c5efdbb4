"""Means, variances and ranges of the features, for local or distributed rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from hssvm.kernels.base import Floats, Rows

MOMENT_BLOCK = 2**20
"""Number of entries that are converted to float64 at a time."""


@dataclass(frozen=True, eq=False)
class Moments:
    """Mean and centered sum of squares of each feature.

    Attributes
    ----------
    total : float
        Number of rows, or their total weight.
    mean : (p,)
    squares : (p,)
        Sum of ``weight * (x - mean)**2``.
    """

    total: float
    mean: NDArray[np.float64]
    squares: NDArray[np.float64]

    @classmethod
    def of(cls, X: Rows, weight: Floats | None = None) -> Moments:
        """Compute the moments of rows; by default all weights are 1."""
        n, p = X.shape
        weight = np.ones(n) if weight is None else weight
        if scipy.sparse.issparse(X):
            return cls._of_sparse(X, weight)
        step = max(1, MOMENT_BLOCK // max(p, 1))
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
        """Combine the moments of several sets of rows (Chan, Golub and LeVeque's formula)."""
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

    @property
    def overall_variance(self) -> float:
        """Variance over all entries of X, for gamma='scale'."""
        return float(np.mean(self.variance + (self.mean - self.mean.mean()) ** 2))

    def scaled(self, shift: Floats | None, factor: Floats | None) -> Moments:
        """Moments of the rows ``(x - shift) * factor``."""
        mean, squares = self.mean, self.squares
        if shift is not None:
            mean = mean - shift
        if factor is not None:
            mean, squares = mean * factor, squares * factor**2
        return Moments(self.total, mean, squares)


def overall_variance(X: Rows, weight: Floats) -> float:
    """Variance over all entries of X, of rows with weights, for gamma='scale'.

    Unlike `Moments`, it needs no array with an entry for every column of sparse rows.
    """
    if not scipy.sparse.issparse(X):
        return Moments.of(X, weight).overall_variance
    values = X.data[: X.nnz].astype(np.float64)
    entry_weight = np.repeat(weight.astype(np.float64), np.diff(X.indptr))
    total = float(weight.sum()) * X.shape[1]
    mean = float(entry_weight @ values) / total
    values -= mean
    values *= values
    zeros = max(total - float(entry_weight.sum()), 0.0)
    return (float(entry_weight @ values) + zeros * mean**2) / total


def feature_range(X: Rows) -> tuple[Floats, Floats]:
    """Minimum and maximum of every feature, (p,) each, including the zeros of sparse rows."""
    if X.shape[0] == 0:
        zeros = np.zeros(X.shape[1], X.dtype)
        return zeros, zeros
    lowest, highest = X.min(axis=0), X.max(axis=0)
    if scipy.sparse.issparse(X):
        return lowest.toarray().ravel(), highest.toarray().ravel()
    return lowest, highest
