"""Threads: the core runs the nodes of a level on OpenMP's threads, each with a serial BLAS.

How many is OpenMP's own setting: ``OMP_NUM_THREADS``, or ``threadpoolctl.threadpool_limits``.
BLAS threads on top of node threads fight for the cores, so every call into the core holds BLAS
at one thread; the result then does not depend on the number of threads either. (Apple's Accelerate
cannot be held so; there the last digits may differ from run to run.)
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar

import scipy.linalg.cython_blas  # noqa: F401  loads the BLAS that the core calls
from threadpoolctl import OpenBLASController, ThreadpoolController

P = ParamSpec("P")
T = TypeVar("T")


@cache
def _controller() -> ThreadpoolController:
    # Looking for the loaded libraries takes milliseconds: once is enough.
    return ThreadpoolController().select(user_api="blas")


@cache
def _openmp() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="openmp")


class SharedSetting:
    """A setting of the whole process, for as long as any Python thread is inside.

    The first one in makes it, the last one out undoes it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._undo: Callable[[], None]

    @contextmanager
    def held(self, make: Callable[[], Callable[[], None]]) -> Iterator[None]:
        """Context with the setting; `make` makes it and returns what undoes it."""
        with self._lock:
            if self._inside == 0:
                self._undo = make()
            self._inside += 1
        try:
            yield
        finally:
            with self._lock:
                self._inside -= 1
                if self._inside == 0:
                    self._undo()


_serial = SharedSetting()


def _limit() -> Callable[[], None]:
    _disown()
    limiter = _controller().limit(limits=1)
    _disown()

    def restore() -> None:
        _disown()
        limiter.restore_original_limits()
        _disown()

    return restore


def _disown() -> None:
    # From version 3.8 on, threadpoolctl lets only the first thread that asks change OpenBLAS.
    clear = getattr(OpenBLASController, "clear_controlling_thread", None)
    if clear is not None:
        clear(force=True)


def serial_blas() -> AbstractContextManager[None]:
    """Context in which BLAS uses one thread, in all Python threads."""
    return _serial.held(_limit)


def with_serial_blas(function: Callable[P, T]) -> Callable[P, T]:
    """Run `function` inside `serial_blas`."""

    @wraps(function)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> T:
        with serial_blas():
            return function(*args, **kwargs)

    return wrapped


def count_openmp_threads() -> int:
    """Threads that loops over nodes run on."""
    return max((int(pool["num_threads"]) for pool in _openmp().info()), default=1)


def openmp_threads(n: int) -> AbstractContextManager[Any]:
    """Context in which loops over nodes that this Python thread starts run on n threads."""
    limiter: AbstractContextManager[Any] = _openmp().limit(limits=n)
    return limiter
