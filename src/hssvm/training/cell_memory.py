"""A model of the memory of a fit of cells, in bytes, without the rows passed to the fit."""

from __future__ import annotations

from dataclasses import dataclass

import scipy.sparse

from hssvm.hss.hashing import cut_width
from hssvm.hss.tree import depth_for
from hssvm.kernels.base import Rows
from hssvm.kernels.wide import table_width
from hssvm.training.data.checks import ISOLATION_VALUES
from hssvm.training.memory import FIXED, FIXED_PER_THREAD, MARGIN

VECTORS = 14
"""Number of float64 vectors of length n: labels, weights, tree order, evaluation of a tree."""

ARRAYS = 8
"""Number of (n, k) arrays: bounds, targets, coefficients and decision values, and their copies in
tree order."""

COPIES = 2.5
"""Number of copies of the rows at the end, if all are support vectors: for the attributes of the
model, in the order of the leaves, and the rows at which the trees are compared."""

CHECKED_BLOCKS = 2
"""Number of blocks of kernel values while the kernel is checked, before the first tree is built."""

CELL_VECTORS = 16
"""Number of float64 vectors with an entry for each row of a cell, while it is solved."""

MIN_CELL = 200
"""Smallest number of rows of a cell that a memory limit leads to."""


@dataclass(frozen=True)
class CellMemory:
    """The quantities on which the memory of a fit depends.

    Attributes
    ----------
    n_rows, n_features : int
    n_columns, n_own : int
        Number of columns, and of those that do not leave out a fold.
    n_trees : int
    row_bytes : float
        Size of X in bytes.
    itemsize : int
        Bytes per number.
    sparse, scaled : bool
        Whether X is sparse, and whether scaling copies it.
    cut_width, table_width : int
        See `hssvm.training.memory.FitMemory`.
    """

    n_rows: int
    n_features: int
    n_columns: int
    n_own: int
    n_trees: int
    row_bytes: float
    itemsize: int
    sparse: bool
    scaled: bool
    cut_width: int
    table_width: int

    @classmethod
    def of(cls, X: Rows, n_columns: int, n_folds: int, n_trees: int, *, scaled: bool) -> CellMemory:
        """Return the memory model of a fit with `n_columns` columns, including folds."""
        n, p = X.shape
        sparse = scipy.sparse.issparse(X)
        return cls(
            n_rows=n,
            n_features=p,
            n_columns=n_columns,
            n_own=n_columns // (1 + n_folds),
            n_trees=n_trees,
            row_bytes=X.data.nbytes + X.indices.nbytes + 8 * n if sparse else X.nbytes,
            itemsize=X.dtype.itemsize,
            sparse=sparse,
            scaled=scaled,
            cut_width=cut_width(X),
            table_width=table_width(X) if sparse else p,
        )

    def peak(self, size: int, at_a_time: int = 1) -> float:
        """Upper bound of the peak with cells of `size` rows, some of them `at_a_time`."""
        base, trees = self._base, self._trees(size)
        check = base + CHECKED_BLOCKS * ISOLATION_VALUES * self.itemsize
        solve = base + trees + at_a_time * self._cell(size)
        finish = base + trees + COPIES * self.row_bytes
        return MARGIN * max(check, solve, finish)

    def cache_within(self, limit: float, size: int) -> float:
        """Bytes for the kernel values of cells of `size` rows within a limit; at least of one."""
        left = limit / MARGIN - self._base - self._trees(size)
        return max(1.0, left / self._cell(size)) * self.values(size)

    def largest_size(self, limit: float) -> int:
        """Largest number of rows of a cell within a limit, or 0 if cells would be too small.

        One cell at a time has to fit, so that the size does not depend on the number of threads.
        """
        size, n_cells = self.n_rows, 1
        while size >= MIN_CELL:
            if self.peak(size) <= limit:
                return size
            n_cells *= 2
            size = -(-self.n_rows // n_cells)
        return 0

    def values(self, size: int) -> float:
        """Bytes of the kernel values of a cell."""
        return size**2 * self.itemsize

    @property
    def _base(self) -> float:
        copies = int(self.scaled)
        if self.sparse:  # the cuts use hashed columns, and the kernel renumbered ones
            copies += (self.cut_width < self.n_features) + (self.table_width < self.n_features)
        return FIXED + 8 * VECTORS * self.n_rows + copies * self.row_bytes

    def _trees(self, size: int) -> float:
        n, b = self.n_rows, self.itemsize
        cuts = (2 ** depth_for(n, size) - 1) * self.cut_width * b
        support = n * (8 + self.n_own * b)  # at most: row indices and coefficients
        return ARRAYS * n * self.n_columns * b + self.n_trees * (cuts + support)

    def _cell(self, size: int) -> float:
        own = 2 * size * self.n_features * self.itemsize  # the rows, and their features
        if self.sparse:  # the core computes with the rows themselves, and a table
            own = 8 * self.table_width
        return self.values(size) + own + 8 * CELL_VECTORS * size + FIXED_PER_THREAD
