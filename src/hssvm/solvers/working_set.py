"""The part of the true kernel matrix that a refinement holds in memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hssvm import _core
from hssvm.kernels.base import Floats
from hssvm.kernels.rows import KernelRows

AT_ONCE = 512
"""Rows that are computed before they are written to their places."""

PER_STEP = 0.65e-9
"""Seconds of a step per row of the part, in float32; compare `hssvm.kernels.rows.PER_VALUE`."""

SPARE = 8
"""More rows than one in so many are not made room for before they come."""


@dataclass(frozen=True, eq=False)
class Part:
    """A problem in one column on some rows of a working set, all other rows fixed.

    Attributes
    ----------
    members : (m,) int64
        Positions of its rows in the working set, ascending.
    z, gradient, lower, upper : (m,)
        Coefficients, ``K z - linear`` and the box at these rows.
    kink : float
    tol : float
        Largest difference of gradients, of rows that could still move, that may be left.
    """

    members: NDArray[np.int64]
    z: Floats
    gradient: Floats
    lower: Floats
    upper: Floats
    kink: float
    tol: float


class WorkingSet:
    """Some rows with their dense kernel matrix.

    Memory grows with the rows: there is room for an eighth more of them than there are, at most.

    Parameters
    ----------
    kernel_rows : KernelRows
    capacity : int
        Most rows that it may have; its memory is ``capacity**2`` numbers then.

    Attributes
    ----------
    rows : (q,) int64
        In no particular order.
    work : float
        Nominal seconds of all steps so far.
    """

    def __init__(self, kernel_rows: KernelRows, capacity: int) -> None:
        self.kernel_rows = kernel_rows
        self.capacity = capacity
        self.rows = np.empty(0, np.int64)
        self.work = 0.0
        self._side = 0
        self._room: Floats = np.empty(0, kernel_rows.dtype)

    @property
    def K(self) -> Floats:
        """Kernel matrix of the rows in its upper left corner; square, with room for more rows."""
        return self._room.reshape(self._side, self._side)

    def _make_room(self, q: int) -> None:
        """Let K have room for q rows, and keep what is in it."""
        old = self._side
        if q <= old:
            return
        new = min(max(q, old + old // SPARE), self.capacity)
        # Not a new array: while both exist, they would take twice the memory.
        self._room.resize(new**2, refcheck=False)
        for i in reversed(range(1, old)):  # the last first, as rows move towards the end
            self._room[i * new : i * new + old] = self._room[i * old : (i + 1) * old]
        self._side = new

    def admit(self, rows: NDArray[np.int64], evict: NDArray[np.int64]) -> None:
        """Take in rows that are not there yet, first in place of those at the positions `evict`."""
        q = self.rows.size + rows.size - evict.size
        at = np.concatenate([evict, np.arange(self.rows.size, q)])
        self.rows = np.concatenate([self.rows, np.empty(q - self.rows.size, np.int64)])
        self.rows[at] = rows
        self._make_room(q)
        for begin in range(0, rows.size, AT_ONCE):
            some = slice(begin, begin + AT_ONCE)
            _core.set_symmetric(self.kernel_rows.block(rows[some], self.rows), at[some], self.K)

    def descend(self, parts: list[Part], max_steps: int) -> tuple[list[Floats], NDArray[np.int64]]:
        """Solve the parts by sequential minimal optimisation; return their new z, and steps made.

        Parts run on different threads.
        """
        ends = np.concatenate([[0], np.cumsum([part.members.size for part in parts])])
        z, gradient, lower, upper = (
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("z", "gradient", "lower", "upper")
        )
        members = np.concatenate([part.members for part in parts])
        kink, tol = (np.array([getattr(part, name) for part in parts]) for name in ("kink", "tol"))
        steps = np.zeros(len(parts), np.int64)
        _core.smo(self.K, ends, members, lower, upper, kink, z, gradient, tol, max_steps, steps)
        self.work += PER_STEP * self.K.itemsize / 4 * float(steps @ np.diff(ends))
        return np.split(z, ends[1:-1]), steps
