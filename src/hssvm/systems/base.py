"""What solvers may know of a linear system."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, TypeAlias

import numpy as np

from hssvm.kernels.base import Floats

Shift: TypeAlias = float | Floats
"""A positive number, or one per row."""


class System(ABC):
    """A symmetric positive semi-definite K and a positive diagonal shift.

    `solve` and `matmul` take one vector (n,) or a block of columns (n, k) in the order of the
    rows of the data, and give back an array of the same shape.
    """

    shift: Shift

    @property
    @abstractmethod
    def n(self) -> int:
        """Number of rows of K."""

    @property
    @abstractmethod
    def dtype(self) -> np.dtype[Any]:
        """Precision of the solutions."""

    @abstractmethod
    def solve(self, B: Any) -> Floats:
        """Solve ``(K + diag(shift)) X = B``."""

    @abstractmethod
    def matmul(self, B: Any) -> Floats:
        """``K B``, without the shift."""

    @abstractmethod
    def with_shift(self, shift: Shift) -> System:
        """Return the system of the same K with another shift."""
