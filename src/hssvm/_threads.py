"""Threads: the core processes the nodes of a level on OpenMP threads, each with a serial BLAS.

OpenMP sets the number of threads: ``OMP_NUM_THREADS`` or ``threadpoolctl.threadpool_limits``,
by default the number of CPUs available to the process (see `_openmp`), and one in a forked child.
BLAS threads would compete with these threads for the cores, so every call into the core limits BLAS
to one thread; then the result does not depend on the number of threads either. (Apple's Accelerate
cannot be limited; there, the last digits may differ between runs.)
"""

from __future__ import annotations

import os
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
    # Searching the loaded libraries takes milliseconds, so it is done once.
    return ThreadpoolController().select(user_api="blas")


@cache
def _openmp() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="openmp")


class SharedSetting:
    """A setting of the whole process that is active while any Python thread is in its context.

    The first thread to enter makes the setting and the last one to leave undoes it, even if an
    interrupt occurs at any point. In a forked child, only the thread that forked is still inside.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._inside: dict[object, int] = {}  # the active contexts, and their threads
        self._undo: Callable[[], None] | None = None
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(
                before=lambda: self._lock.acquire(),
                after_in_parent=lambda: self._lock.release(),
                after_in_child=self._forget_other_threads,
            )

    @contextmanager
    def held(self, make: Callable[[], Callable[[], None]]) -> Iterator[None]:
        """Context with the setting; `make` makes it, and returns a function that undoes it.

        That function may be called twice, if an interrupt ends the first call.
        """
        token = object()
        try:
            try:
                with self._lock:
                    self._inside[token] = threading.get_ident()
                    if self._undo is None:
                        self._undo = make()
                yield
            finally:
                self._leave(token)
        finally:  # again, as an interrupt may have ended the first call
            self._leave(token)

    def _leave(self, token: object) -> None:
        with self._lock:
            if self._undo is not None and self._inside.keys() <= {token}:
                self._undo()
                self._undo = None
            self._inside.pop(token, None)

    def _forget_other_threads(self) -> None:
        self._lock = threading.RLock()
        thread = threading.get_ident()
        self._inside = {key: owner for key, owner in self._inside.items() if owner == thread}


_serial = SharedSetting()


def _limit() -> Callable[[], None]:
    limiter = _controller().limit(limits=None)  # remembers the current number of threads

    def restore() -> None:
        _clear_owner()
        limiter.restore_original_limits()
        _clear_owner()

    try:
        _clear_owner()
        _controller().limit(limits=1)
        _clear_owner()
        return restore
    except BaseException:
        restore()
        raise


def _clear_owner() -> None:
    # From version 3.8 on, threadpoolctl allows only the first calling thread to change OpenBLAS.
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


def openmp_threads(n: int) -> AbstractContextManager[Any]:
    """Context in which the loops over nodes started by this Python thread use n threads."""
    limiter: AbstractContextManager[Any] = _openmp().limit(limits=n)
    return limiter
