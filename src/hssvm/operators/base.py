"""The interface between kernel matrices and solvers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, TypeAlias

import numpy as np

from hssvm.kernels.base import Floats

Shift: TypeAlias = float | Floats
"""A positive number, or one per row."""


class Factor(ABC):
    """A factorization of ``K + diag(shift)``, as returned by `Operator.factor`."""

    shift: Shift

    @abstractmethod
    def solve(self, B: Any) -> Floats:
        """Solve ``(K + diag(shift)) X = B`` for a vector (n,) or a block of columns (n, k)."""

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Memory in bytes, without the operator."""


class Operator(ABC):
    """A symmetric positive semi-definite matrix K.

    `matmul` and `Factor.solve` accept a vector (n,) or a block of columns (n, k), in the order of
    the rows of the data, and return an array of the same shape.
    """

    @property
    @abstractmethod
    def n(self) -> int:
        """Number of rows of K."""

    @property
    @abstractmethod
    def dtype(self) -> np.dtype[Any]:
        """Precision of products and solutions."""

    @abstractmethod
    def matmul(self, B: Any) -> Floats:
        """Return ``K B``."""

    @abstractmethod
    def factor(self, shift: Shift) -> Factor:
        """Factor ``K + diag(shift)``."""

    @abstractmethod
    def mean_diagonal(self) -> float:
        """Mean of the diagonal of K, or 1 if that is 0."""
