"""Features of comparable size: what a kernel of distances wants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler
from sklearn.utils.sparsefuncs import mean_variance_axis, min_max_axis

from hssvm.hss.hashing import cut_width
from hssvm.kernels.base import Rows

SCALINGS = (None, "standard", "minmax")

SMALLER, HIDDEN = 10.0, 0.25
"""A feature is hidden if its standard deviation is so many times smaller than the largest one, and
its whole range is smaller than that too; features differ if this share of them is hidden. Where
all have the same range or variance none is, however rare a 1 among zeros may be."""

COMPONENTS, UNCORRELATED = (5, 8), 1e-4
"""So many of the largest features tell principal components, at least and at most, if the cosine of
the angle between any two is below this, in float32. Fewer may be orthogonal by design or chance."""


@dataclass(frozen=True, eq=False)
class Scaling:
    """``(x - shift) * factor`` by feature.

    Attributes
    ----------
    shift : (p,) or None
        None for sparse rows, whose zeros must stay zeros.
    factor : (p,) or None
        None leaves the rows as they are.
    """

    shift: NDArray[np.float64] | None = None
    factor: NDArray[np.float64] | None = None

    @classmethod
    def of(cls, X: Rows, kind: str | None) -> Scaling:
        """Learn from rows.

        Parameters
        ----------
        X : (n, p) array or CSR matrix
        kind : {None, 'auto', 'standard', 'minmax'}
            'standard' makes the variance of a feature 1 and its mean 0, 'minmax' puts it in
            [0, 1]; sparse rows keep their zeros, and get a variance of 1, or a largest value of 1.
            'auto' is 'standard' where `features_differ`, else None.
        """
        if kind == "auto":
            kind = "standard" if features_differ(X) else None
        if kind not in SCALINGS:
            raise ValueError(f"scaling must be None, 'auto', 'standard' or 'minmax', got {kind!r}")
        sparse = scipy.sparse.issparse(X)
        if kind is None:
            return cls()
        if kind == "standard":
            standard = StandardScaler(with_mean=not sparse).fit(X)
            return cls(None if sparse else standard.mean_, 1 / standard.scale_)
        if sparse:
            return cls(None, 1 / MaxAbsScaler().fit(X).scale_)
        minmax = MinMaxScaler().fit(X)
        return cls(minmax.data_min_.astype(np.float64), minmax.scale_.astype(np.float64))

    def __call__(self, X: Rows) -> Rows:
        """Scaled rows, in the precision of `X`."""
        if self.factor is None:
            return X
        factor = self.factor.astype(X.dtype)
        if scipy.sparse.issparse(X):
            scaled = X.copy()
            scaled.data *= factor[X.indices]
            return scaled
        shift = 0 if self.shift is None else self.shift.astype(X.dtype)
        return (X - shift) * factor


def require_moderate(X: Rows) -> None:
    """Raise ValueError if squared distances of rows overflow their precision."""
    values = X.data if scipy.sparse.issparse(X) else X
    largest = float(max(values.max(initial=0), -values.min(initial=0)))
    if largest > (np.finfo(X.dtype).max / (4 * X.shape[1])) ** 0.5:
        raise ValueError(
            f"X has values of size {largest:.0e}, and their squares overflow {X.dtype}; scale the "
            "features, for instance with scaling='minmax'"
        )


def features_differ(X: Rows) -> bool:
    """Whether features have sizes of different orders, so that a kernel sees only the largest.

    Principal components differ by design, and are left alone. So are wide sparse rows: the figures
    of all their columns would take more memory than the rows.

    Parameters
    ----------
    X : (n, p) array or CSR matrix
    """
    if cut_width(X) < X.shape[1]:
        return False
    sparse = scipy.sparse.issparse(X)
    low, high = min_max_axis(X, axis=0) if sparse else (X.min(axis=0), X.max(axis=0))
    variance = mean_variance_axis(X, axis=0)[1] if sparse else _variances(X)
    extent, deviation = high.astype(np.float64) - low, np.sqrt(variance)
    largest, varies = deviation.max(), extent > 0
    if not varies.any():
        return False
    hidden = (SMALLER * deviation < largest) & (extent < largest)
    return bool(hidden[varies].mean() >= HIDDEN) and not _are_components(X, deviation)


def _variances(X: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Variance of every column, in chunks of rows: in float64 they would take twice the memory."""
    mean, total = X.mean(axis=0, dtype=np.float64), np.zeros(X.shape[1])
    step = max(1, 2**18 // X.shape[1])
    for begin in range(0, X.shape[0], step):
        centered = X[begin : begin + step] - mean
        total += np.einsum("ij,ij->j", centered, centered)
    return total / X.shape[0]


def _are_components(X: Rows, deviation: NDArray[np.float64]) -> bool:
    """Whether the largest features are orthogonal, with or without their means."""
    least, most = COMPONENTS
    columns = np.argsort(-deviation)[:most]
    if columns.size < least:
        return False
    some = X[:, columns]
    some = (some.toarray() if scipy.sparse.issparse(X) else some).astype(np.float64)
    return any(_orthogonal(rows) for rows in (some, some - some.mean(axis=0)))


def _orthogonal(columns: NDArray[np.float64]) -> bool:
    length = np.linalg.norm(columns, axis=0)
    columns = columns / np.where(length > 0, length, 1)
    gram = columns.T @ columns
    return bool(np.abs(gram[~np.eye(gram.shape[0], dtype=bool)]).max(initial=0) < UNCORRELATED)
