"""The memory of the machine."""

from __future__ import annotations

import os

from hssvm._cgroup import memory_quota


def installed_memory() -> float | None:
    """Return the bytes of the machine, or of its control group if that has fewer.

    None means that they are unknown, as on Windows.
    """
    try:
        installed = float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return None
    quota = memory_quota()
    return installed if quota is None else min(installed, quota)
