"""The clock of the benchmarks."""

import time


def timed(f):
    """Return ``f()`` and its seconds."""
    start = time.perf_counter()
    result = f()
    return result, time.perf_counter() - start
