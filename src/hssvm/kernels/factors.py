"""Kernels that are products over the features, and their factors.

A kernel has exact Shapley values (`hssvm.predictors.shapley`) if it is a sum of products over the
features::

    k(x, s) = sum_q scale_q prod_j k_qj(x_j, s_j),
    k_qj(x_j, s_j) = exp(-sum of gamma d(x_j, s_j) over the terms of feature j)

with distances d of one feature each. The Gaussian and the Laplacian have a term with the same gamma
for every feature. A product of kernels on groups of columns has the terms of all its parts, and a
sum of kernels has several products. The exponential and the Matern kernels are sums of Gaussian
kernels, up to an error of `hssvm.kernels.mixtures.MIXTURE_ERROR`. `Linear` and
`HistogramIntersection` are sums of functions of one feature, which need no products at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from itertools import chain

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from hssvm.kernels.base import Floats, Kernel, Rows
from hssvm.kernels.composite import ColumnsKernel, Constant, ProductKernel, SumKernel
from hssvm.kernels.inner import Linear
from hssvm.kernels.laplacian import Laplacian
from hssvm.kernels.mixtures import unit_mixture
from hssvm.kernels.radial import Exponential, Gaussian, Matern32, Matern52
from hssvm.kernels.similarities import Categorical, ChiSquared, HistogramIntersection


class Distance(IntEnum):
    """Distances of one feature, as the core numbers them."""

    SQUARED = 0
    ABSOLUTE = 1
    MISMATCH = 2
    CHI_SQUARED = 3

    def from_zero(self, values: Floats) -> NDArray[np.float64]:
        """Distances of values from 0."""
        distances: NDArray[np.float64] = np.abs(values).astype(np.float64)
        if self is Distance.SQUARED:
            return distances**2
        return (distances > 0).astype(np.float64) if self is Distance.MISMATCH else distances


DISTANCES: dict[type[Kernel], Distance] = {
    Gaussian: Distance.SQUARED,
    Laplacian: Distance.ABSOLUTE,
    Categorical: Distance.MISMATCH,
    ChiSquared: Distance.CHI_SQUARED,
}
"""Kernels that are exp(-gamma sum_j d(x_j, s_j))."""


@dataclass(frozen=True, eq=False)
class FactorKernel:
    """A multiple of a product over the features.

    Attributes
    ----------
    scale : float
    features : (n_terms,) int64
        Feature of each term, ascending.
    kinds : (n_terms,) int32
        Its `Distance`.
    gammas : (n_terms,)
    """

    scale: float
    features: NDArray[np.int64]
    kinds: NDArray[np.int32]
    gammas: NDArray[np.float64]

    def __mul__(self, other: FactorKernel) -> FactorKernel:
        features = np.concatenate([self.features, other.features])
        order = np.argsort(features, kind="stable")
        kinds = np.concatenate([self.kinds, other.kinds])[order]
        gammas = np.concatenate([self.gammas, other.gammas])[order]
        return FactorKernel(self.scale * other.scale, features[order], kinds, gammas)

    def of_columns(self, columns: NDArray[np.int64]) -> FactorKernel:
        """Return the kernel whose feature j is column ``columns[j]``."""
        features = columns[self.features]
        order = np.argsort(features, kind="stable")
        return FactorKernel(self.scale, features[order], self.kinds[order], self.gammas[order])

    def distances_from_zero(self, S: Rows) -> Rows:
        """Sum of ``gamma d(0, s_j)`` over the terms of every nonzero of sparse rows."""
        out = S.astype(np.float64)
        out.data = np.zeros(S.data.size)
        for kind in np.unique(self.kinds):
            gamma = np.bincount(
                self.features, self.gammas * (self.kinds == kind), minlength=S.shape[1]
            )
            out.data += gamma[S.indices] * Distance(kind).from_zero(S.data)
        return out


@dataclass(frozen=True, eq=False)
class AdditiveKernel:
    """A sum of functions of one feature each.

    Attributes
    ----------
    scale : float
    columns : (n_columns,) int64
    minimum : bool
        Whether the functions are ``min(x_j, s_j)``, instead of ``x_j s_j``.
    """

    scale: float
    columns: NDArray[np.int64]
    minimum: bool

    def of_columns(self, columns: NDArray[np.int64]) -> AdditiveKernel:
        """Return the kernel whose feature j is column ``columns[j]``."""
        return AdditiveKernel(self.scale, columns[self.columns], self.minimum)


def factor_kernels(kernel: Kernel, n_features: int) -> list[FactorKernel | AdditiveKernel]:
    """Return kernels with exact Shapley values whose sum is the kernel.

    Parameters
    ----------
    kernel : Kernel
    n_features : int

    Raises
    ------
    ValueError
        If the kernel is not a sum of products over the features.

    Examples
    --------
    >>> from hssvm.kernels import Gaussian, Laplacian
    >>> from hssvm.kernels.factors import factor_kernels
    >>> [product] = factor_kernels(2.0 * Gaussian(0.5)[:2] * Laplacian(0.1)[1:], 3)
    >>> product.scale, product.features.tolist(), product.gammas.tolist()
    (2.0, [0, 1, 1, 2], [0.5, 0.5, 0.1, 0.1])
    """
    parts = _parts(kernel, n_features)
    if parts is None:
        raise ValueError(
            f"{kernel!r} is not a product over the features, so that its Shapley values would need "
            "all sets of features; fit with kernel='rbf' or 'laplacian', or use gradient(X), "
            "which averaged over the way from a background row to x gives integrated gradients"
        )
    return parts


def _parts(kernel: Kernel, n_features: int) -> list[FactorKernel | AdditiveKernel] | None:
    """Return the sum, or None if there is none."""
    every = np.arange(n_features)
    if type(kernel) in DISTANCES:
        kinds = np.full(n_features, DISTANCES[type(kernel)], np.int32)
        gammas = np.full(n_features, kernel.gamma, np.float64)  # type: ignore[attr-defined]
        return [FactorKernel(1.0, every, kinds, gammas)]
    if isinstance(kernel, Exponential | Matern32 | Matern52):
        kinds = np.full(n_features, Distance.SQUARED, np.int32)
        pairs = zip(*unit_mixture(type(kernel)), strict=True)
        return [
            FactorKernel(float(w), every, kinds, np.full(n_features, v * kernel.gamma**2))
            for v, w in pairs
        ]
    if isinstance(kernel, Linear | HistogramIntersection):
        return [AdditiveKernel(1.0, every, isinstance(kernel, HistogramIntersection))]
    if isinstance(kernel, Constant):
        nothing = np.empty(0, np.int64)
        return [FactorKernel(kernel.value, nothing, nothing.astype(np.int32), np.empty(0))]
    if isinstance(kernel, ColumnsKernel):
        columns = kernel.selected(n_features)
        inner = _parts(kernel.kernel, columns.size)
        return None if inner is None else [part.of_columns(columns) for part in inner]
    if isinstance(kernel, SumKernel | ProductKernel):
        found = [_parts(part, n_features) for part in kernel.kernels]
        if any(parts is None for parts in found):
            return None
        known = [parts for parts in found if parts is not None]
        return [*chain(*known)] if isinstance(kernel, SumKernel) else _expanded(known)
    return None


def _expanded(
    factors: list[list[FactorKernel | AdditiveKernel]],
) -> list[FactorKernel | AdditiveKernel] | None:
    """Multiply sums out; None if something other than a number is multiplied by `Linear`."""
    total: list[FactorKernel | AdditiveKernel] = factors[0]
    for parts in factors[1:]:
        pairs = [_multiplied(one, other) for one in total for other in parts]
        if any(pair is None for pair in pairs):
            return None
        total = [pair for pair in pairs if pair is not None]
    return total


def _multiplied(
    one: FactorKernel | AdditiveKernel, other: FactorKernel | AdditiveKernel
) -> FactorKernel | AdditiveKernel | None:
    if isinstance(one, FactorKernel) and isinstance(other, FactorKernel):
        return one * other
    number, additive = (one, other) if isinstance(one, FactorKernel) else (other, one)
    if not isinstance(number, FactorKernel) or number.features.size:
        return None
    assert isinstance(additive, AdditiveKernel)
    return AdditiveKernel(number.scale * additive.scale, additive.columns, additive.minimum)


def dense(X: Rows) -> NDArray[np.float64]:
    """Return rows as a dense array of float64."""
    X = X.toarray() if scipy.sparse.issparse(X) else X
    return np.ascontiguousarray(X, np.float64)
