"""Memory of the process of a benchmark."""

from pathlib import Path


def peak_bytes():
    """Most memory that this process has had."""
    status = Path("/proc/self/status")
    if status.exists():  # ru_maxrss starts at the peak of the process that started this one
        return 1024 * int(status.read_text().split("VmHWM:")[1].split()[0])
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # bytes on macOS
