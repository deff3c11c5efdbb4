"""Products with the exact kernel matrix that are kept up to date only at selected rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm.kernels.base import Floats
from hssvm.kernels.lazy import LazyKernelMatrix


@dataclass(eq=False)
class LazyProduct:
    """``F = K Z`` for a changing Z: up to date at the watched rows, outdated at the others.

    Attributes
    ----------
    kernel_matrix : LazyKernelMatrix
    Z : (n, k)
        Coefficients at the rows of this rank; the other arrays are restricted to them, too.
    F : (n, k) float64
        In float64, as the sum of many updates would drift in float32.
    watched : (a,) int64
        Ascending.
    seen : (n, k)
        The earlier Z to which F belongs at the rows that are not watched.
    variance : (n, k)
        Variance of the rounding errors of F, estimated up to a factor.
    """

    kernel_matrix: LazyKernelMatrix
    Z: Floats
    F: NDArray[np.float64]
    watched: NDArray[np.int64]
    seen: Floats
    variance: NDArray[np.float64]

    @classmethod
    def at(
        cls, kernel_matrix: LazyKernelMatrix, Z: Floats, watched: NDArray[np.int64]
    ) -> LazyProduct:
        """Compute F at the watched rows."""
        F: NDArray[np.float64] = np.zeros(Z.shape, np.float64)
        product = cls(kernel_matrix, Z, F, watched, np.zeros_like(Z), np.zeros_like(F))
        product._add(watched, *product.support())
        return product

    def columns(self, index: NDArray[Any]) -> LazyProduct:
        """Return the given columns."""
        Z, F, seen = self.Z[:, index], self.F[:, index], self.seen[:, index]
        variance = self.variance[:, index]
        return LazyProduct(self.kernel_matrix, Z, F, self.watched, seen, variance)

    def scale(self, factor: NDArray[np.float64]) -> None:
        """Multiply the columns of Z by factors (k,)."""
        factor = factor.astype(self.Z.dtype)
        self.Z *= factor
        self.seen *= factor
        self.F *= factor
        self.variance *= factor**2
        self.variance += self._variance(self.support()[1])

    def support(self) -> tuple[NDArray[np.int64], Floats]:
        """Columns of the nonzero coefficients of all ranks, and these coefficients."""
        return self._share(self.Z)

    def move(
        self,
        columns: NDArray[np.int64],
        old: Floats,
        new: Floats,
        change: Floats,
        noise: NDArray[np.float64],
    ) -> None:
        """Change the coefficients of some columns, which are watched.

        Parameters
        ----------
        columns : (m,) int64
        old, new : (m, k)
            Coefficients.
        change : (m, k)
            Change of F at these rows, as the solver of a subproblem knows it, or NaN. Only where it
            is not known, kernel values are needed.
        noise : (k,)
            Variance of the rounding errors of `change`.
        """
        places, rows = self.kernel_matrix.own(columns)
        self.Z[rows] = new[places]
        known = ~np.isnan(change[places]).any(axis=1)
        places, rows = places[known], rows[known]
        self.F[rows] += change[places]
        self.variance[rows] += noise
        self._add(np.setdiff1d(self.watched, rows, assume_unique=True), columns, new - old)

    def refresh(self) -> None:
        """Bring F up to date at all rows."""
        all_rows = np.arange(self.Z.shape[0])
        unwatched = np.setdiff1d(all_rows, self.watched, assume_unique=True)
        self._add(unwatched, *self._share(self.Z - self.seen))
        self.seen = self.Z.copy()

    def exact(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """``(K Z)[rows]`` in float64."""
        return self.kernel_matrix.product_in_float64(rows, *self.support())

    def recompute(self, rows: NDArray[np.int64]) -> None:
        """Recompute F at `rows`, in float64; call `refresh` first."""
        self.F[rows] = self.exact(rows)
        self.variance[rows] = 0

    def _share(self, W: Floats) -> tuple[NDArray[np.int64], Floats]:
        """Columns of the nonzero rows of an (n, k) array on every rank, and these rows."""
        rows = np.flatnonzero(W.any(axis=1))
        return self.kernel_matrix.share(rows, W[rows])

    def _add(self, rows: NDArray[np.int64], columns: NDArray[np.int64], change: Floats) -> None:
        """``F[rows] += K[rows, columns] change``."""
        moved = change.any(axis=1)
        self.F[rows] += self.kernel_matrix.product(rows, columns[moved], change[moved])
        self.variance[rows] += self._variance(change)

    def _variance(self, change: Floats) -> NDArray[np.float64]:
        """Variance (k,) of the rounding errors of a product with `change`, for values up to 1."""
        precision = float(np.finfo(self.Z.dtype).eps)
        return (precision * np.linalg.norm(change, axis=0).astype(np.float64)) ** 2
