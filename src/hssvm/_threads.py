"""Threads: the core runs the nodes of a level on OpenMP's threads, each with a serial BLAS.

How many is OpenMP's own setting: ``OMP_NUM_THREADS``, or ``threadpoolctl.threadpool_limits``.
BLAS threads on top of node threads fight for the cores, so every call into the core holds BLAS
at one thread; the result then does not depend on the number of threads either. (Apple's Accelerate
cannot be held so; there the last digits may differ from run to run.)
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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


_lock = threading.Lock()
_inside = 0
_limiter: Any = None


def _disown() -> None:
    # From version 3.8 on, threadpoolctl lets only the first thread that asks change OpenBLAS.
    clear = getattr(OpenBLASController, "clear_controlling_thread", None)
    if clear is not None:
        clear(force=True)


@contextmanager
def serial_blas() -> Iterator[None]:
    """Context in which BLAS uses one thread.

    The setting belongs to the process, so of several Python threads inside at once the first sets
    it and the last one out restores it.
    """
    global _inside, _limiter
    with _lock:
        if _inside == 0:
            _disown()
            _limiter = _controller().limit(limits=1)
            _disown()
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _disown()
                _limiter.restore_original_limits()
                _disown()


def with_serial_blas(function: Callable[P, T]) -> Callable[P, T]:
    """Run `function` inside `serial_blas`."""

    @wraps(function)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> T:
        with serial_blas():
            return function(*args, **kwargs)

    return wrapped
