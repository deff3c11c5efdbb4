"""A model of the memory of a fit of cells, in bytes, without the rows passed to the fit."""

from __future__ import annotations

from dataclasses import dataclass, replace

import scipy.sparse

from hssvm import _core
from hssvm.kernels.base import Rows
from hssvm.messages import Message, api
from hssvm.training.memory import FIXED, FIXED_PER_THREAD, MARGIN, VECTORS
from hssvm.training.plan import TrainingPlan

ARRAYS = 8
"""Number of (n, k) arrays: bounds, targets, coefficients and decision values, and their copies in
tree order."""

COPIES = 2.5
"""Number of copies of the rows at the end, if all are support vectors: for the attributes of the
model, in the order of the leaves, and the rows at which the trees are compared."""

MIN_CELL = 200
"""Smallest number of rows of a cell that a memory limit leads to."""


@dataclass(frozen=True)
class CellMemory:
    """The quantities on which the memory of a fit depends.

    Attributes
    ----------
    n_rows, n_features, n_columns : int
    row_bytes : float
        Size of X in bytes.
    itemsize : int
        Bytes per number.
    scaled : bool
        Whether scaling copies X.
    n_threads : int
        Number of cells that are solved at a time.
    """

    n_rows: int
    n_features: int
    n_columns: int
    row_bytes: float
    itemsize: int
    scaled: bool
    n_threads: int

    @classmethod
    def of(cls, X: Rows, n_columns: int, plan: TrainingPlan) -> CellMemory:
        """Return the memory model of a fit with `n_columns` columns, including folds."""
        n, p = X.shape
        sparse = scipy.sparse.issparse(X)
        row_bytes = X.data.nbytes + X.indices.nbytes + 8 * n if sparse else X.nbytes
        itemsize, threads = X.dtype.itemsize, _core.thread_count()
        return cls(n, p, n_columns, row_bytes, itemsize, plan.scaled, threads)

    def peak(self, size: int) -> float:
        """Upper bound of the peak with cells of `size` rows."""
        return MARGIN * (self._fixed + self.n_threads * self._cell(size))

    def largest_size(self, limit: float) -> int:
        """Largest number of rows of a cell within a limit, or 0."""
        low, high = 0, self.n_rows
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self.peak(middle) <= limit else (low, middle - 1)
        return low

    @property
    def _fixed(self) -> float:
        fixed = FIXED + FIXED_PER_THREAD * self.n_threads + 8 * VECTORS * self.n_rows
        fixed += ARRAYS * self.n_rows * self.n_columns * self.itemsize
        return fixed + (COPIES + self.scaled) * self.row_bytes

    def _cell(self, size: int) -> float:
        return (size**2 + 3 * size * self.n_features + 8 * size) * self.itemsize


def within_memory(plan: TrainingPlan, X: Rows, n_columns: int, *, chosen: bool) -> TrainingPlan:
    """Return the plan of a fit of cells, with smaller ones if a memory limit requires them.

    Raise MemoryError if they would be too small, or if the user has `chosen` their size.
    """
    if plan.memory_limit is None:
        return plan
    memory, limit = CellMemory.of(X, n_columns * (1 + plan.n_folds), plan), plan.memory_limit
    size = memory.largest_size(limit)
    if size >= plan.leaf_size:
        return plan
    if size >= MIN_CELL and not chosen:
        return replace(plan, leaf_size=size)
    smaller = f"set the {api:size} of cells to {size} or less, " if size >= MIN_CELL else ""
    raise MemoryError(
        Message(
            f"the fit may need {memory.peak(plan.leaf_size) / 1e9:.2g} GB, more than the "
            f"{api:memory_limit} of {limit / 1e9:.2g} GB; {smaller}raise the limit, "
            f"{api:pass X in float32}, or train on fewer rows"
        )
    )
