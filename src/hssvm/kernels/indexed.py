"""Kernels of points without coordinates, which are identified by their indices.

The rows that the rest of the package handles are then columns of indices, (n, 1), which can be
selected and stacked like any others. Only the kernel knows what they stand for. Trees are built on
other coordinates of the points: their kernel values with a sample, the landmarks. A cut of the tree
is a linear function of these, such as the difference between the mean values with two groups of
landmarks, and a new point is routed by the same few values.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hssvm.kernels.base import LAYOUT, Floats, Rows
from hssvm.kernels.blockwise import BlockwiseKernel

N_LANDMARKS = 256
"""Number of landmarks."""


class IndexedKernel(BlockwiseKernel):
    """Base class of kernels whose points are identified by their indices."""

    scale_sensitive: ClassVar[bool] = False

    landmarks: tuple[int, ...]
    """Indices of some of the training points."""

    @abstractmethod
    def bind(self, X: Any) -> IndexedKernel:
        """Return the kernel of the training points `X`, after checking them."""

    @abstractmethod
    def at(self, X: Any) -> IndexedKernel:
        """Return the kernel of new points `X`, the first argument, with the training points."""

    @abstractmethod
    def select(self, rows: NDArray[np.int64]) -> Any:
        """Return some of the training points, as `bind` accepts them."""

    @abstractmethod
    def without_points(self) -> IndexedKernel:
        """Return the kernel as a model stores it: with what `at` needs only."""

    @abstractmethod
    def points(self) -> Floats:
        """Indices of the points that are the first argument, (n, 1)."""

    @abstractmethod
    def values(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> Floats:
        """Kernel values of the points with these indices, (n, m)."""

    def block(self, X: Rows, Y: Rows | None = None) -> Floats:
        """Kernel values of every row of `X` with every row of `Y`; see `Kernel.block`."""
        rows = point_indices(X)
        columns = rows if Y is None else point_indices(Y)
        dtype = X.dtype if Y is None else np.result_type(X.dtype, Y.dtype)
        return np.require(self.values(rows, columns), dtype, LAYOUT)

    def coordinates(self, X: Rows) -> Rows:
        """Kernel values with the landmarks, (n, n_landmarks)."""
        return self._landmark_values.astype(X.dtype, copy=False)[point_indices(X)]

    @cached_property
    def _landmark_values(self) -> Floats:
        """Kernel values of all points with the landmarks, which every tree needs."""
        points = self.points()
        return self.block(points, as_points(np.array(self.landmarks, np.int64), points.dtype))


def as_points(indices: NDArray[np.int64], dtype: Any) -> Floats:
    """Convert point indices to rows, (n, 1)."""
    if indices.size and indices.max() > 2 ** np.finfo(dtype).nmant:
        raise ValueError(f"there are too many points to index them in {np.dtype(dtype)}")
    return indices.astype(dtype)[:, None]


def point_indices(X: Rows) -> NDArray[np.int64]:
    """Convert rows to point indices."""
    if X.shape[1] != 1:
        raise ValueError(
            f"the points of this kernel are indices, got rows of {X.shape[1]} features"
        )
    return X[:, 0].astype(np.int64)


def choose_landmarks(n: int) -> tuple[int, ...]:
    """Select landmarks among n training points."""
    chosen = np.random.default_rng(0).choice(n, min(n, N_LANDMARKS), replace=False)
    return tuple(np.sort(chosen).tolist())
