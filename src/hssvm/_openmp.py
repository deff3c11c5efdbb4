"""Loading the core, with an OpenMP runtime that suits machines which also do other work.

**Spinning.** OpenMP's threads wait for each other by spinning, by default for milliseconds in
libgomp and for 200 ms in LLVM's runtime. Where other processes want the cores, or a quota counts
the time, that makes fits several times slower. The runtime reads how long to spin from the
environment when it is loaded, so the bounds below are set for that moment only: child processes do
not inherit them. They have no effect where another package has loaded the same runtime before; set
``GOMP_SPINCOUNT`` or ``OMP_WAIT_POLICY`` for the whole program then.

**Number of threads.** OpenMP's default is the number of CPUs that the process may run on. It does
not know of CPU quotas, which containers are limited by: loops of the core use no more threads than
the quota has CPUs, unless ``OMP_NUM_THREADS`` is set.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType

from hssvm._cgroup import cpu_quota

SPINNING = {"GOMP_SPINCOUNT": "10000", "KMP_BLOCKTIME": "1"}
"""Rounds of libgomp, about a tenth of a millisecond; milliseconds of LLVM's libomp."""


def load_core() -> ModuleType:
    """Import `hssvm._core`."""
    with _bounded_spinning():
        core = import_module("hssvm._core")
        core.thread_count()  # libomp reads the environment when it is first asked
    quota = cpu_quota()
    if quota is not None and "OMP_NUM_THREADS" not in os.environ:
        core.set_max_threads(max(1, math.ceil(quota)))
    return core


@contextmanager
def _bounded_spinning() -> Iterator[None]:
    """Context with `SPINNING` in the environment, but for what the user has chosen."""
    if "OMP_WAIT_POLICY" in os.environ:
        yield
        return
    added = {name: value for name, value in SPINNING.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)
