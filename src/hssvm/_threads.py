"""Threads: the core runs the nodes of a level on OpenMP's threads, each with a serial BLAS.

How many is OpenMP's own setting: ``OMP_NUM_THREADS``, or ``threadpoolctl.threadpool_limits``; by
default as many as the process may use CPUs (see `_openmp`), and one in a forked child.
BLAS threads on top of node threads fight for the cores, so every call into the core holds BLAS
at one thread; the result then does not depend on the number of threads either. (Apple's Accelerate
cannot be held so; there the last digits may differ from run to run.)
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
    # Looking for the loaded libraries takes milliseconds: once is enough.
    return ThreadpoolController().select(user_api="blas")


@cache
def _openmp() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="openmp")


class SharedSetting:
    """A setting of the whole process, for as long as any Python thread is inside.

    The first one in makes it, the last one out undoes it, wherever an interrupt comes. A forked
    child has only the thread that forked it, and so only what that one holds.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._inside: dict[object, int] = {}  # whoever is inside, and its thread
        self._undo: Callable[[], None] | None = None
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(
                before=lambda: self._lock.acquire(),
                after_in_parent=lambda: self._lock.release(),
                after_in_child=self._forget_other_threads,
            )

    @contextmanager
    def held(self, make: Callable[[], Callable[[], None]]) -> Iterator[None]:
        """Context with the setting; `make` makes it, or raises, and returns what undoes it.

        What undoes it may be called twice, where an interrupt ends the first call.
        """
        me = object()
        try:
            try:
                with self._lock:
                    self._inside[me] = threading.get_ident()
                    if self._undo is None:
                        self._undo = make()
                yield
            finally:
                self._leave(me)
        finally:  # again, as an interrupt may have come first
            self._leave(me)

    def _leave(self, me: object) -> None:
        with self._lock:
            if self._undo is not None and self._inside.keys() <= {me}:
                self._undo()
                self._undo = None
            self._inside.pop(me, None)

    def _forget_other_threads(self) -> None:
        self._lock = threading.RLock()
        thread = threading.get_ident()
        self._inside = {key: owner for key, owner in self._inside.items() if owner == thread}


_serial = SharedSetting()


def _limit() -> Callable[[], None]:
    limiter = _controller().limit(limits=None)  # notes how many threads there are

    def restore() -> None:
        _disown()
        limiter.restore_original_limits()
        _disown()

    try:
        _disown()
        _controller().limit(limits=1)
        _disown()
        return restore
    except BaseException:
        restore()
        raise


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


def openmp_threads(n: int) -> AbstractContextManager[Any]:
    """Context in which loops over nodes that this Python thread starts run on n threads."""
    limiter: AbstractContextManager[Any] = _openmp().limit(limits=n)
    return limiter
