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
    F : (n, k) float64
        In float64, as the sum of many updates would drift in float32.
    watched : (a,) int64
        Ascending.
    seen : (n, k)
        The earlier Z to which F belongs at the rows that are not watched.
    """

    kernel_matrix: LazyKernelMatrix
    Z: Floats
    F: NDArray[np.float64]
    watched: NDArray[np.int64]
    seen: Floats

    @classmethod
    def at(
        cls, kernel_matrix: LazyKernelMatrix, Z: Floats, watched: NDArray[np.int64]
    ) -> LazyProduct:
        """Compute F at the watched rows."""
        F: NDArray[np.float64] = np.zeros(Z.shape, np.float64)
        product = cls(kernel_matrix, Z, F, watched, np.zeros_like(Z))
        product._add(watched, np.arange(Z.shape[0]), Z)
        return product

    def columns(self, index: NDArray[Any]) -> LazyProduct:
        """Return the given columns."""
        Z, F, seen = self.Z[:, index], self.F[:, index], self.seen[:, index]
        return LazyProduct(self.kernel_matrix, Z, F, self.watched, seen)

    def scale(self, factor: NDArray[np.float64]) -> None:
        """Multiply the columns of Z by factors (k,)."""
        self.Z *= factor.astype(self.Z.dtype)
        self.seen *= factor.astype(self.Z.dtype)
        self.F *= factor

    def move(self, rows: NDArray[np.int64], Z: Floats) -> None:
        """Set Z at `rows` to the given (m, k) array."""
        change = Z - self.Z[rows]
        self.Z[rows] = Z
        self._add(self.watched, rows, change)

    def refresh(self) -> None:
        """Bring F up to date at all rows."""
        all_rows = np.arange(self.Z.shape[0])
        unwatched = np.setdiff1d(all_rows, self.watched, assume_unique=True)
        self._add(unwatched, all_rows, self.Z - self.seen)
        self.seen = self.Z.copy()

    def recompute(self) -> None:
        """Recompute F at all rows, in float64."""
        support = np.flatnonzero(self.Z.any(axis=1))
        self.F = self.kernel_matrix.product_in_float64(support, self.Z[support])
        self.seen = self.Z.copy()

    def _add(self, rows: NDArray[np.int64], columns: NDArray[np.int64], change: Floats) -> None:
        """``F[rows] += K[rows, columns] change``."""
        moved = change.any(axis=1)
        self.F[rows] += self.kernel_matrix.product(rows, columns[moved], change[moved])
