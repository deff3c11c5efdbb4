"""What all problems have in common: rows, coefficients, and parts that are solved independently."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hssvm.comm import SERIAL, Communicator
from hssvm.kernels.base import Floats, Rows

if TYPE_CHECKING:
    from hssvm.problems.base import Problem


@dataclass(frozen=True, eq=False)
class Places:
    """Where the coefficients of some rows are among all coefficients, (n, k).

    Attributes
    ----------
    rows : (m,) int64
    columns : (m,) int64, or None
        A column for each row; None if all columns are meant.
    """

    rows: NDArray[np.int64]
    columns: NDArray[np.int64] | None = None

    def pick(self, Z: Floats) -> Floats:
        """Return the coefficients from all coefficients, (m, 1) or (m, k)."""
        return Z[self.rows] if self.columns is None else Z[self.rows, self.columns][:, None]

    def put(self, z: Floats, Z: Floats) -> None:
        """Write coefficients, (m, 1) or (m, k), into all coefficients."""
        if self.columns is None:
            Z[self.rows] = z
        else:
            Z[self.rows, self.columns] = z[:, 0]


@dataclass(frozen=True, eq=False)
class Part:
    """A part of a problem: all of it, a pair of classes, or the rows of a cell.

    Attributes
    ----------
    problem : Problem
        The dual on the rows of the part.
    columns : slice
        Its columns in the whole problem.
    places : Places or None
        Where its coefficients are in the whole problem; None if it is the whole.
    """

    problem: Problem
    columns: slice
    places: Places | None = None

    def take(self, X: Rows) -> Rows:
        """Return the rows of the part from all rows."""
        return X if self.places is None else X[self.places.rows]

    def pick(self, Z: Floats) -> Floats:
        """Return the coefficients of the part from all coefficients, (n, k)."""
        return Z if self.places is None else self.places.pick(Z)

    def put(self, z: Floats, Z: Floats) -> None:
        """Write the coefficients of the part into all coefficients, (n, k)."""
        if self.places is None:
            Z[:] = z
        else:
            self.places.put(z, Z)


@dataclass(frozen=True, eq=False)
class PartBatch:
    """Several parts, one after the other; sums of their coefficients are 0.

    Attributes
    ----------
    offsets : (n_parts + 1,) int64
        Where the parts begin in the other arrays.
    places : Places
        Where the m coefficients of each column are in the whole problem.
    lower, upper, linear : (m, width)
    l1_weight : (width,)
    ridge : (m,) or None
        See `Problem`.
    """

    offsets: NDArray[np.int64]
    places: Places
    lower: Floats
    upper: Floats
    linear: Floats
    l1_weight: NDArray[np.float64]
    ridge: Floats | None


class PartedProblem(ABC):
    """A problem with coefficients (n, k), which consists of parts with as many duals each."""

    part_name: ClassVar[str] = "parts"
    """What the parts are, in messages."""

    core_rows: ClassVar[float] = 2000
    """Number of rows up to which the core solves a part in one thread."""

    many: ClassVar[bool] = False
    """Whether the core solves the parts, even if only a few are left."""

    waits_for_memory: ClassVar[bool] = False
    """Whether fewer parts are solved at a time if memory is scarce, instead of with less each."""

    @property
    @abstractmethod
    def n(self) -> int:
        """Number of rows."""

    @property
    @abstractmethod
    def k(self) -> int:
        """Number of columns of the coefficients."""

    @property
    def n_columns(self) -> int:
        """Number of duals, each with an intercept, a gap and a decision value."""
        return self.k

    @property
    @abstractmethod
    def dtype(self) -> np.dtype[Any]:
        """Precision of the coefficients."""

    @property
    def n_parts(self) -> int:
        """Number of parts."""
        return 1

    @property
    def width(self) -> int:
        """Number of duals of a part."""
        return self.n_columns // self.n_parts

    @property
    def tol_factors(self) -> NDArray[np.float64]:
        """Factors on the tolerance of the duals of a part, (width,)."""
        return np.ones(self.width)

    @abstractmethod
    def part(self, index: int) -> Part:
        """Return a part."""

    def parts(self) -> Iterator[Part]:
        """Yield the parts."""
        return map(self.part, range(self.n_parts))

    @property
    def part_sizes(self) -> NDArray[np.int64]:
        """Number of rows of each part."""
        return np.array([self.n])

    def batch(self, indices: NDArray[np.int64]) -> PartBatch:
        """Return several of many parts."""
        raise NotImplementedError


class BaseProblem(PartedProblem):
    """A block of duals over the same n rows, with coefficients (n, k).

    Attributes
    ----------
    communicator : Communicator
        Connects the ranks that hold the rows.
    """

    communicator: Communicator = SERIAL

    bound: Any
    """Bounds of the coefficients of a classifier, (n, k), with the signs of the labels."""

    @property
    @abstractmethod
    def strata(self) -> NDArray[np.int64]:
        """Groups of similar rows, (n,), of which every fold of a cross-validation needs some."""

    @abstractmethod
    def rows(self, index: NDArray[Any]) -> BaseProblem:
        """Return the problem restricted to the given rows."""

    @property
    def column_of(self) -> NDArray[np.int64]:
        """The dual that each coefficient belongs to, (n, k) or (1, k)."""
        return np.arange(self.k)[None]

    @abstractmethod
    def using(self, used: NDArray[np.bool_]) -> BaseProblem:
        """Return the problem in which only the coefficients of a mask (n, k) may differ from 0."""

    def support(self, Z: Floats) -> NDArray[np.int64]:
        """Indices of the rows with nonzero coefficients, in the order of a predictor."""
        return np.flatnonzero(Z.any(axis=1))

    def class_counts(self, support: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """Number of support vectors of each class, if coefficients belong to pairs of classes."""
        return None
