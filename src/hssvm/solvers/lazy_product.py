"""Products with the true kernel matrix that are kept up to date only where they matter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm.kernels.base import Floats
from hssvm.kernels.rows import KernelRows


@dataclass(eq=False)
class LazyProduct:
    """``F = K Z`` while Z changes: current at the watched rows, of an earlier Z at the others.

    Attributes
    ----------
    kernel_rows : KernelRows
    Z : (n, k)
    F : (n, k) float64
        Sums of many changes: in float32 they would drift.
    watched : (a,) int64
        Ascending.
    seen : (n, k)
        The Z that F belongs to at the rows that are not watched.
    """

    kernel_rows: KernelRows
    Z: Floats
    F: NDArray[np.float64]
    watched: NDArray[np.int64]
    seen: Floats

    @classmethod
    def at(cls, kernel_rows: KernelRows, Z: Floats, watched: NDArray[np.int64]) -> LazyProduct:
        """Compute F at the watched rows."""
        F: NDArray[np.float64] = np.zeros(Z.shape, np.float64)
        product = cls(kernel_rows, Z, F, watched, np.zeros_like(Z))
        product._add(watched, np.arange(Z.shape[0]), Z)
        return product

    def columns(self, some: NDArray[Any]) -> LazyProduct:
        """Return some of the columns."""
        Z, F, seen = self.Z[:, some], self.F[:, some], self.seen[:, some]
        return LazyProduct(self.kernel_rows, Z, F, self.watched, seen)

    def scale(self, factor: NDArray[np.float64]) -> None:
        """Multiply the columns of Z."""
        self.Z *= factor.astype(self.Z.dtype)
        self.seen *= factor.astype(self.Z.dtype)
        self.F *= factor

    def move(self, rows: NDArray[np.int64], Z: Floats) -> None:
        """Set Z at `rows` to the given (m, k)."""
        change = Z - self.Z[rows]
        self.Z[rows] = Z
        self._add(self.watched, rows, change)

    def catch_up(self) -> None:
        """Make F current at all rows."""
        everything = np.arange(self.Z.shape[0])
        others = np.setdiff1d(everything, self.watched, assume_unique=True)
        self._add(others, everything, self.Z - self.seen)
        self.seen = self.Z.copy()

    def _add(self, rows: NDArray[np.int64], columns: NDArray[np.int64], change: Floats) -> None:
        """``F[rows] += K[rows, columns] change``."""
        moved = change.any(axis=1)
        self.F[rows] += self.kernel_rows.product(rows, columns[moved], change[moved])
