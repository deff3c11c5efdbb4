"""The exact kernel matrix of a set of rows, with a cache of the rows that were computed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from hssvm import _core, costs
from hssvm.kernels.base import Floats, Kernel, Rows
from hssvm.kernels.lazy import LazyKernelMatrix

COST_RATIO = 3.0
"""Values are kept if computing them costs this many times as much as reading them."""

KEPT_MEMORY_SHARE = 0.75
"""Maximum fraction of the available memory that all rows may need."""

KEPT_ROWS = 512
"""Number of rows that are computed and allocated at a time."""


EXPENSIVE_RATIO = 30.0
"""If computing values costs this many times as much as reading them, some of the rows are kept even
if not all of them fit."""


class CachedKernelMatrix(LazyKernelMatrix):
    """A `LazyKernelMatrix` that computes each of its rows at most once, as long as they fit.

    Parameters
    ----------
    kernel : Kernel
    X : (n, p) array or CSR matrix
    capacity : int, optional
        Maximum number of rows to keep; by default all.

    Examples
    --------
    >>> import numpy as np
    >>> from hssvm.kernels import Linear
    >>> from hssvm.kernels.cached import CachedKernelMatrix
    >>> K = CachedKernelMatrix(Linear(), np.array([[1.0], [2.0], [3.0]]))
    >>> for _ in range(2):
    ...     product = K.product(np.arange(3), np.array([1]), np.ones((1, 1)))
    >>> product.ravel(), K.n_values
    (array([2., 4., 6.]), 3)
    """

    def __init__(self, kernel: Kernel, X: Rows, capacity: int | None = None) -> None:
        super().__init__(kernel, X)
        self.capacity = self.n if capacity is None else capacity
        self._blocks: list[Floats] = []
        self._place = np.full(self.n, -1)  # block * KEPT_ROWS + row of the block

    def block(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> Floats:
        """``K[rows, columns]``."""
        out: Floats = np.empty((rows.size, columns.size), self.dtype)
        for block, at, used in self._keep(rows):
            out[used] = block[at][:, columns]
        return out

    def product(self, rows: NDArray[np.int64], columns: NDArray[np.int64], W: Floats) -> Floats:
        """``K[rows, columns] @ W``."""
        out: Floats = np.zeros((self.n, W.shape[1]), W.dtype)
        for block, at, used in self._keep(columns):
            weights: Floats = np.zeros((block.shape[0], W.shape[1]), W.dtype)
            weights[at] = W[used]
            _core.add_transposed_product(block, weights, out)
        return out if rows.size == self.n else out[rows]

    def _keep(
        self, rows: NDArray[np.int64]
    ) -> Iterator[tuple[Floats, NDArray[np.int64], NDArray[np.int64]]]:
        """Compute missing rows; yield blocks, with the rows of each that hold `rows[used]`."""
        missing = rows[self._place[rows] < 0]
        room = self.capacity - int(np.count_nonzero(self._place >= 0))
        for begin in range(0, min(room, missing.size), KEPT_ROWS):
            new = missing[begin : min(begin + KEPT_ROWS, room)]
            self._place[new] = len(self._blocks) * KEPT_ROWS + np.arange(new.size)
            self._blocks.append(self._compute(new))
        owner, at = np.divmod(self._place[rows], KEPT_ROWS)  # the owner of rows not kept is -1
        for index in np.unique(owner[owner >= 0]):
            used = np.flatnonzero(owner == index)
            yield self._blocks[index], at[used], used
        others = np.flatnonzero(owner < 0)
        for begin in range(0, others.size, KEPT_ROWS):
            used = others[begin : begin + KEPT_ROWS]
            yield self._compute(rows[used]), np.arange(used.size), used

    def _compute(self, rows: NDArray[np.int64]) -> Floats:
        self.n_values += rows.size * self.n
        return self.kernel.block(self.X[rows], self.X)


def n_kept_rows(kernel_matrix: LazyKernelMatrix, memory: float) -> int:
    """Return how many rows are worth keeping in `memory` bytes; 0 if computing them is cheaper.

    Either all rows have to fit, or the values have to be expensive.
    """
    itemsize = kernel_matrix.dtype.itemsize
    capacity = min(kernel_matrix.n, int(KEPT_MEMORY_SHARE * memory / (kernel_matrix.n * itemsize)))
    ratio = COST_RATIO if capacity == kernel_matrix.n else EXPENSIVE_RATIO
    worthwhile = kernel_matrix.value_cost > ratio * costs.SECONDS_PER_READ * itemsize / 4
    return max(0, capacity) if worthwhile else 0


def keep_rows(kernel_matrix: LazyKernelMatrix, memory: float) -> tuple[LazyKernelMatrix, float]:
    """Keep the rows of a kernel matrix that `n_kept_rows` decides on.

    Parameters
    ----------
    kernel_matrix : LazyKernelMatrix
    memory : float
        Bytes.

    Returns
    -------
    kernel_matrix : LazyKernelMatrix
        The same, or a `CachedKernelMatrix`.
    memory : float
        Bytes that are left.
    """
    capacity = n_kept_rows(kernel_matrix, memory)
    if capacity == 0:
        return kernel_matrix, memory
    kept = CachedKernelMatrix(kernel_matrix.kernel, kernel_matrix.X, capacity)
    return kept, memory - capacity * kernel_matrix.n * kernel_matrix.dtype.itemsize
