"""Features of comparable size: what a kernel of distances wants."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

from hssvm.kernels.base import Rows

SCALINGS = (None, "standard", "minmax")


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
        kind : {None, 'standard', 'minmax'}
            'standard' makes the variance of a feature 1 and its mean 0, 'minmax' puts it in
            [0, 1]; sparse rows keep their zeros, and get a variance of 1, or a largest value of 1.
        """
        if kind not in SCALINGS:
            raise ValueError(f"scaling must be None, 'standard' or 'minmax', got {kind!r}")
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
