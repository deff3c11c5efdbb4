"""Scaling of the features: features with large ranges dominate distance-based kernels."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from hssvm.hss.hashing import cut_width
from hssvm.kernels.base import Floats, Rows
from hssvm.messages import api, value_error
from hssvm.training.data.moments import Moments, feature_range
from hssvm.training.data.quantiles import quantiles_of, score_slopes, to_normal_scores

SCALINGS = (None, "standard", "minmax", "quantiles")
"""Scalings that depend on the rows only; see `hssvm.training.scales` for the others."""

SMALLER, HIDDEN = 10.0, 0.25
"""A feature is hidden if its standard deviation is SMALLER times smaller than the largest one, and
its range is smaller than the largest standard deviation; features differ if a fraction HIDDEN of
them is hidden. If all features have the same range or variance, none is hidden, not even a rare 1
among zeros."""

TWO_VALUES = 1e-9
"""Rounding error of a variance, relative to the squared range: a larger difference from the
variance of features with two values is due to other values."""

MAX_FACTORS = 2**27
"""Largest number of columns of sparse rows that can be scaled: an array of factors then needs 1 GB,
and computing them several such arrays."""

COMPONENTS, UNCORRELATED = (5, 8), 1e-4
"""The features count as principal components if the cosine between any two of the largest ones
is below UNCORRELATED, in float32. The test uses at least 5 and at most 8 features, as fewer may be
orthogonal by design or by chance."""


@dataclass(frozen=True, eq=False)
class Scaling:
    """The map ``(x - shift) * factor`` of each feature x, or of its normal score.

    Attributes
    ----------
    shift : (p,) or None
        None for sparse rows, whose zeros must remain zeros, and for normal scores.
    factor : (p,) or None
        None if nothing is multiplied.
    quantiles : (2, p, m) or None
        Knots of the normal scores, see `hssvm.training.data.quantiles`; None for the features
        themselves.
    """

    shift: NDArray[np.float64] | None = None
    factor: NDArray[np.float64] | None = None
    quantiles: NDArray[np.float64] | None = None

    @classmethod
    def of(cls, X: Rows, kind: str | None) -> Scaling:
        """Compute the scaling of rows.

        Parameters
        ----------
        X : (n, p) array or CSR matrix
        kind : {None, 'auto', 'standard', 'minmax', 'quantiles'}
            'standard' scales features to mean 0 and variance 1, 'minmax' maps them to [0, 1].
            Sparse rows are not shifted: 'minmax' scales them to a largest absolute value of 1.
            'quantiles' replaces values by their normal scores. 'standard' and 'quantiles' give
            features with only two values a range of 1. 'auto' is 'standard' if `features_differ`,
            else None.
        """
        if kind == "auto":
            kind = "standard" if features_differ(X) else None
        if kind not in SCALINGS:
            raise ValueError(f"scaling must be 'auto' or one of {SCALINGS}, got {kind!r}")
        sparse = bool(scipy.sparse.issparse(X))
        if kind is None:
            return cls()
        if sparse and X.shape[1] > MAX_FACTORS:
            raise value_error(
                f"{api:scaling={kind!r}} stores a factor for every column, and X has {X.shape[1]} "
                f"columns; hash the features to fewer columns, or pass {api:scaling=None}"
            )
        if kind == "quantiles":
            if sparse:
                raise value_error(
                    "quantiles would turn the zeros of sparse rows into other values; set "
                    f"{api:scaling='standard'} or {api:scaling='learned'}, or "
                    f"{api:pass X.toarray()}"
                )
            return cls(quantiles=quantiles_of(X))
        if kind == "standard":
            return cls.standard(Moments.of(X), *feature_range(X), sparse=sparse)
        return cls.minmax(*feature_range(X), sparse=sparse)

    @classmethod
    def standard(
        cls, moments: Moments, lowest: Floats, highest: Floats, *, sparse: bool
    ) -> Scaling:
        """Scale to variance 1, and to mean 0 unless the rows are sparse.

        Features with only two values, such as the levels of a one-hot encoding, are scaled to a
        range of 1: with variance 1, rows of a rare level would be far from all others.
        """
        # As in scikit-learn, a feature is constant if rounding explains its variance.
        variance, mean, n = moments.variance, moments.mean, moments.total
        eps = np.finfo(np.float64).eps
        constant = variance <= n * eps * variance + (n * mean * eps) ** 2
        deviation = np.where(constant, 1.0, np.sqrt(variance))
        lowest, extent = lowest.astype(np.float64), highest.astype(np.float64) - lowest
        # The variance of any other values between the same extremes is smaller.
        of_two_values = (mean - lowest) * (lowest + extent - mean)
        has_two = ~constant & (of_two_values - variance <= TWO_VALUES * extent**2)
        return cls(None if sparse else mean, 1 / np.where(has_two, extent, deviation))

    @classmethod
    def minmax(cls, lowest: Floats, highest: Floats, *, sparse: bool) -> Scaling:
        """Scale to [0, 1], or to a largest absolute value of 1 if the rows are sparse."""
        extent = np.maximum(np.abs(lowest), np.abs(highest)) if sparse else highest - lowest
        extent = np.where(extent < 10 * np.finfo(lowest.dtype).eps, 1, extent)
        factor = (1 / extent).astype(np.float64)
        return cls(None if sparse else lowest.astype(np.float64), factor)

    def times(self, factors: NDArray[np.float64]) -> Scaling:
        """Return this scaling, followed by a multiplication of the features."""
        return replace(self, factor=factors if self.factor is None else self.factor * factors)

    def __call__(self, X: Rows) -> Rows:
        """Return scaled rows, in the precision of `X`."""
        dense = self.shift is not None or self.quantiles is not None
        if scipy.sparse.issparse(X) and dense:
            X = X.toarray()  # sparse rows for a model of dense ones
        if self.quantiles is not None:
            X = to_normal_scores(X, self.quantiles)
        if self.factor is None:
            return X
        factor = self.factor.astype(X.dtype)
        if scipy.sparse.issparse(X):
            scaled = X.copy()
            scaled.data *= factor[X.indices]
            return scaled
        shift = 0 if self.shift is None else self.shift.astype(X.dtype)
        return (X - shift) * factor

    def slopes(self, X: Rows) -> NDArray[np.float64]:
        """Derivatives of the scaled features at rows, (m, p), or (1, p) if the map is linear."""
        slopes = np.ones((1, X.shape[1]))
        if self.quantiles is not None:
            X = X.toarray() if scipy.sparse.issparse(X) else X
            slopes = score_slopes(X, self.quantiles)
        return slopes if self.factor is None else slopes * self.factor


def require_moderate(X: Rows) -> None:
    """Raise ValueError if squared distances between rows overflow."""
    values = X.data if scipy.sparse.issparse(X) else X
    largest = float(max(values.max(initial=0), -values.min(initial=0)))
    if largest > (np.finfo(X.dtype).max / (4 * X.shape[1])) ** 0.5:
        raise value_error(
            f"X has values up to {largest:.0e}, and their squares overflow {X.dtype}; scale the "
            f"features, for example with {api:scaling='minmax'}"
        )


def features_differ(X: Rows) -> bool:
    """Whether the scales of the features differ so much that the largest ones dominate a kernel.

    Principal components, which differ by design, do not count, nor do wide sparse rows, for which
    the statistics of all columns would need more memory than the rows.

    Parameters
    ----------
    X : (n, p) array or CSR matrix
    """
    if cut_width(X) < X.shape[1]:
        return False
    low, high = feature_range(X)
    extent, deviation = high.astype(np.float64) - low, np.sqrt(Moments.of(X).variance)
    largest, varies = deviation.max(), extent > 0
    if not varies.any():
        return False
    hidden = (SMALLER * deviation < largest) & (extent < largest)
    return bool(hidden[varies].mean() >= HIDDEN) and not _are_components(X, deviation)


def _are_components(X: Rows, deviation: NDArray[np.float64]) -> bool:
    """Whether the largest features are orthogonal, before or after centering."""
    least, most = COMPONENTS
    columns = np.argsort(-deviation)[:most]
    if columns.size < least:
        return False
    largest = X[:, columns]
    largest = (largest.toarray() if scipy.sparse.issparse(X) else largest).astype(np.float64)
    return any(_orthogonal(rows) for rows in (largest, largest - largest.mean(axis=0)))


def _orthogonal(columns: NDArray[np.float64]) -> bool:
    length = np.linalg.norm(columns, axis=0)
    columns = columns / np.where(length > 0, length, 1)
    gram = columns.T @ columns
    return bool(np.abs(gram[~np.eye(gram.shape[0], dtype=bool)]).max(initial=0) < UNCORRELATED)
