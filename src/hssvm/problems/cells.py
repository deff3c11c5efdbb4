"""A problem on the rows of each cell of a partition."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm.problems.base import Problem
from hssvm.problems.parts import Part, PartBatch, PartedProblem, Places


class CellProblems(PartedProblem):
    """The same problem on the rows of each cell, independently of the other cells.

    Parameters
    ----------
    problem : Problem
        The problem on all rows, whose coefficients sum to 0.
    order : (n,) int64
        Indices of the rows, cell by cell.
    offsets : (n_cells + 1,) int64
        Where the cells begin in `order`.
    tol_factors : (k,), optional
        Factors on the tolerance of the columns; else 1.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.problems import CellProblems, SVCProblem
    >>> problem = SVCProblem(np.array([[1.0], [-1.0], [-1.0], [1.0]]))
    >>> cells = CellProblems(problem, np.array([0, 2, 1, 3]), np.array([0, 2, 4]))
    >>> [cell.problem.linear[:, 0].tolist() for cell in cells.parts()]
    [[1.0, -1.0], [-1.0, 1.0]]
    """

    part_name = "cells"
    core_rows = np.inf
    many = True  # in a tree, though there may be few in a part of it
    waits_for_memory = True

    def __init__(
        self,
        problem: Problem,
        order: NDArray[np.int64],
        offsets: NDArray[np.int64],
        tol_factors: NDArray[np.float64] | None = None,
    ) -> None:
        self.problem = problem
        self.order = order
        self.offsets = offsets
        self._tol_factors = np.ones(problem.k) if tol_factors is None else tol_factors

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.problem.n

    @property
    def k(self) -> int:
        """Number of columns of the coefficients, which all cells share."""
        return self.problem.k

    @property
    def n_columns(self) -> int:
        """Number of duals: k in every cell."""
        return self.n_parts * self.k

    @property
    def n_parts(self) -> int:
        """Number of cells."""
        return self.offsets.size - 1

    @property
    def tol_factors(self) -> NDArray[np.float64]:
        """Factors on the tolerance of the columns, (k,)."""
        return self._tol_factors

    @property
    def dtype(self) -> np.dtype[Any]:
        """Precision of the coefficients."""
        return self.problem.dtype

    @property
    def part_sizes(self) -> NDArray[np.int64]:
        """Number of rows of each cell."""
        return np.diff(self.offsets)

    def part(self, index: int) -> Part:
        """Return the problem of a cell."""
        rows = self._rows(index)
        columns = slice(index * self.k, (index + 1) * self.k)
        return Part(self.problem.rows(rows), columns, Places(rows))

    def batch(self, indices: NDArray[np.int64]) -> PartBatch:
        """Return the problems of several cells."""
        rows = np.concatenate([self._rows(index) for index in indices.tolist()])
        offsets = np.concatenate([[0], np.cumsum(self.part_sizes[indices])])
        problem = self.problem
        ridge = None if problem.ridge is None else problem.ridge[rows]
        return PartBatch(
            offsets, Places(rows), problem.lower[rows], problem.upper[rows],
            problem.linear[rows], problem.l1_weight, ridge,
        )  # fmt: skip

    def _rows(self, index: int) -> NDArray[np.int64]:
        return self.order[self.offsets[index] : self.offsets[index + 1]]
