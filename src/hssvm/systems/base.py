"""What solvers may know of a linear system."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from hssvm.kernels.base import Floats


class System(ABC):
    """A symmetric positive semi-definite K and a positive shift.

    `solve` and `matmul` take one vector (n,) or a block of columns (n, k) in the order of the
    rows of the data, and give back an array of the same shape.
    """

    shift: float

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
        """Solve ``(K + shift I) X = B``."""

    @abstractmethod
    def matmul(self, B: Any) -> Floats:
        """``K B``, without the shift."""

    @abstractmethod
    def with_shift(self, shift: float) -> System:
        """Return the system of the same K with another shift."""
