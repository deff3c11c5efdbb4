"""Import of the core, with OpenMP settings for machines that are shared with other processes.

**Spinning.** OpenMP threads wait for each other by spinning, by default for milliseconds in libgomp
and for 200 ms in LLVM's runtime. If other processes need the cores, or if there is a CPU quota,
this makes fits several times slower. The runtime reads the spin time from the environment when it
is loaded, so the limits below are set only while it loads, and child processes do not inherit them.
They have no effect if another package has already loaded the same runtime; in that case, set
``GOMP_SPINCOUNT`` or ``OMP_WAIT_POLICY`` for the whole program.

**Number of threads.** OpenMP's default is the number of CPUs that the process may run on, which
ignores the CPU quotas of containers. The loops of the core use no more threads than the quota
allows, unless ``OMP_NUM_THREADS`` is set.
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
"""Limits on spinning: iterations in libgomp, about 0.1 ms; milliseconds in LLVM's libomp."""


def load_core() -> ModuleType:
    """Import `hssvm._core`."""
    with _bounded_spinning():
        core = import_module("hssvm._core")
        core.thread_count()  # libomp reads the environment at the first call
    quota = cpu_quota()
    if quota is not None and "OMP_NUM_THREADS" not in os.environ:
        core.set_max_threads(max(1, math.ceil(quota)))
    return core


@contextmanager
def _bounded_spinning() -> Iterator[None]:
    """Context with `SPINNING` in the environment, except for variables set by the user."""
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
