"""Buffers for the coefficients of all levels, reused from one sweep to the next."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import DTypeLike

from hssvm.kernels.base import Floats


class CoefficientPool:
    """Pool of arrays for the coefficients of all levels.

    A solve needs about n numbers per right-hand side; allocating them each time would cost as much
    as the arithmetic. Every borrower gets its own arrays, so sweeps may run in several Python
    threads.
    """

    def __init__(self, counts: list[int], dtype: DTypeLike) -> None:
        self._ends = np.cumsum([0, *counts])
        self._dtype = dtype
        self._free: list[Floats] = []

    @contextmanager
    def borrow(self, k: int) -> Iterator[list[Floats]]:
        """Borrow uninitialized (count, k) arrays, one per level."""
        size = int(self._ends[-1]) * k
        try:
            flat = self._free.pop()
        except IndexError:
            flat = np.empty(0, self._dtype)
        if flat.size < size:
            flat = np.empty(size, self._dtype)
        try:
            yield [
                flat[begin * k : end * k].reshape(end - begin, k)
                for begin, end in zip(self._ends[:-1], self._ends[1:], strict=True)
            ]
        finally:
            self._free = [flat]  # keep only one
