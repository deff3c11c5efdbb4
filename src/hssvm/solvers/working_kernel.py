"""The dense kernel matrix of a working set."""

from __future__ import annotations

import mmap
from contextlib import suppress
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hssvm import _core, costs
from hssvm.kernels.base import Floats
from hssvm.kernels.cached import CachedKernelMatrix
from hssvm.kernels.lazy import LazyKernelMatrix
from hssvm.messages import Message, api
from hssvm.solvers.solution import Stop
from hssvm.solvers.subproblem import Subproblem

ADMIT_ROWS = 512
"""Number of rows of the matrix that are computed at a time."""

INNER_SHARE = 0.05
"""A round reduces the violation on the working set to this fraction of the largest violation; rows
with a smaller violation are not admitted."""

GROWTH, MIN_GROWTH = 0.5, 1000
"""Maximum number of rows that a round adds: GROWTH times the size of the working set, or
MIN_GROWTH if that is larger."""

KEPT_GROWTH, KEPT_MIN_GROWTH = 0.1, 128
"""The same if rows of K are kept: rounds are cheap then, while each new row costs n values."""

SIDES = 4
"""The side of the array that holds the matrix grows by this factor, up to the capacity."""

Admission: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64]]


class WorkingKernel:
    """The rows of a working set with their dense kernel matrix.

    Memory grows with the number of rows: where it was never written to, it is not yet in use. If
    several ranks hold the rows of the problem, all of them know the working set, and the first one
    holds its matrix.

    Parameters
    ----------
    kernel_matrix : LazyKernelMatrix
    capacity : int
        Maximum number of rows; the matrix then has ``capacity**2`` entries.

    Attributes
    ----------
    rows : (q,) int64
        Columns of the kernel matrix, in the order of their admission.
    K : (m, m)
        With the kernel matrix of the rows in its upper left corner.
    admissions : list of (rows, evict)
        The arguments of `admit` so far. The last digits of kernel values depend on the block that
        they are computed in, so only repeating them reproduces K exactly.
    work : float
        Nominal seconds of all steps so far.
    """

    def __init__(self, kernel_matrix: LazyKernelMatrix, capacity: int) -> None:
        self.kernel_matrix = kernel_matrix
        self.capacity = capacity
        self.rows = np.empty(0, np.int64)
        self.admissions: list[Admission] = []
        self.work = 0.0
        self.K: Floats = np.empty((0, 0), kernel_matrix.dtype)

    def _reserve(self, q: int) -> None:
        """Enlarge K to at least q rows, keeping its entries."""
        old = self.K.shape[0]
        if q <= old:
            return
        side = self.capacity
        while side // SIDES >= q:
            side //= SIDES
        try:
            K = _unwritten(side, self.K.dtype)
        except MemoryError:  # as where memory counts before it is written to
            K = _unwritten(min(q + q // 8, side), self.K.dtype)
        K[:old, :old] = self.K
        self.K = K

    @property
    def most_admitted(self) -> int:
        """Maximum number of rows that may be admitted at a time."""
        kept = isinstance(self.kernel_matrix, CachedKernelMatrix)
        growth, least = (KEPT_GROWTH, KEPT_MIN_GROWTH) if kept else (GROWTH, MIN_GROWTH)
        return min(max(least, int(growth * self.rows.size)), self.capacity)

    def choose(
        self,
        priority: NDArray[np.float64],
        position: NDArray[np.int64],
        shuffle: np.random.Generator,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Choose the candidates of highest priority, and the rows that make room for them.

        Parameters
        ----------
        priority : (c,)
            Violation of each candidate relative to the largest.
        position : (c,) int64
            Position in the working set, or -1 for candidates that are not in it.
        shuffle : numpy Generator
            Breaks ties.

        Returns
        -------
        new : (m,) int64
            Chosen candidates, ascending.
        evict : (e,) int64
            Positions of the rows that the first candidates replace.
        """
        new = highest(np.flatnonzero((position < 0) & (priority > INNER_SHARE)), priority, shuffle)
        new = new[: self.most_admitted]
        old = np.flatnonzero(position >= 0)
        old = old[np.argsort(priority[old], kind="stable")]
        room = self.capacity - old.size
        rivals = new[room : room + old.size]
        n_evicted = int((priority[rivals] > priority[old[: rivals.size]]).sum())
        return np.sort(new[: room + n_evicted]), position[old[:n_evicted]]

    def admit(self, rows: NDArray[np.int64], evict: NDArray[np.int64]) -> None:
        """Add new rows; the first ones replace the rows at the positions `evict`."""
        self.admissions.append((rows, evict))
        q = self.rows.size + rows.size - evict.size
        at = np.concatenate([evict, np.arange(self.rows.size, q)])
        self.rows = np.concatenate([self.rows, np.empty(q - self.rows.size, np.int64)])
        self.rows[at] = rows
        if self.kernel_matrix.communicator.rank > 0:
            return
        self._reserve(q)
        with self.kernel_matrix.communicator.while_others_wait():
            for begin in range(0, rows.size, ADMIT_ROWS):
                chunk = slice(begin, begin + ADMIT_ROWS)
                block = self.kernel_matrix.block(rows[chunk], self.rows)
                _core.set_symmetric(block, at[chunk], self.K)

    def descend(
        self, subproblems: list[Subproblem], max_steps: int, stop: Stop | None = None
    ) -> tuple[list[Floats], list[Floats], NDArray[np.int64]]:
        """Solve subproblems by sequential minimal optimization, in parallel; see `WorkingSet.stop`.

        Returns
        -------
        z : list of arrays
            The new z of each subproblem.
        changes : list of arrays
            The changes of ``K z`` at its members.
        steps : (len(subproblems),) int64
        """
        ends = np.concatenate([[0], np.cumsum([part.members.size for part in subproblems])])
        z, gradient, lower, upper, ridge = (
            np.concatenate([getattr(part, name) for part in subproblems])
            for name in ("z", "gradient", "lower", "upper", "ridge")
        )
        members = np.concatenate([part.members for part in subproblems])
        l1_weight, tol = (
            np.array([getattr(part, name) for part in subproblems]) for name in ("l1_weight", "tol")
        )
        steps = np.zeros(len(subproblems), np.int64)
        before = gradient - ridge * z
        with self.kernel_matrix.communicator.while_others_wait():
            _core.smo(
                self.K, ends, members, lower, upper, l1_weight, z, gradient, tol, max_steps, steps,
                stop, ridge,
            )  # fmt: skip
        self.work += float(steps @ step_work(np.diff(ends), self.K.dtype))
        changes = gradient - ridge * z - before
        return np.split(z, ends[1:-1]), np.split(changes, ends[1:-1]), steps


def step_work(n_rows: NDArray[np.int64], dtype: np.dtype[Any]) -> Floats:
    """Nominal seconds of an SMO step for each of these row counts."""
    per_row = costs.SECONDS_PER_SMO_ROW * dtype.itemsize / 4
    work: Floats = costs.SECONDS_PER_SMO_STEP + per_row * n_rows
    return work


def highest(
    rows: NDArray[np.int64], priority: NDArray[np.float64], shuffle: np.random.Generator
) -> NDArray[np.int64]:
    """Return `rows` by descending priority, ties in random order."""
    rows = shuffle.permutation(rows)
    return rows[np.argsort(-priority[rows], kind="stable")]


def _unwritten(side: int, dtype: np.dtype[Any]) -> Floats:
    """Return a square array whose pages take no memory until they are written to.

    On Linux, `numpy.empty` asks for pages of 2 MB, so a partly written row uses all its memory.
    """
    if not hasattr(mmap, "MADV_NOHUGEPAGE"):
        return np.empty((side, side), dtype)
    n_bytes = side**2 * dtype.itemsize
    try:
        pages = mmap.mmap(-1, n_bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError as error:
        raise MemoryError(
            Message(
                f"cannot allocate {n_bytes / 1e9:.2g} GB for the matrix of the working set; lower "
                f"{api:memory_limit}"
            )
        ) from error
    with suppress(OSError):  # a Linux without such pages rejects the advice
        pages.madvise(mmap.MADV_NOHUGEPAGE)
    return np.frombuffer(pages, dtype).reshape(side, side)
