"""The CPU and memory quotas of the process, set by control groups on Linux."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path


def cpu_quota(root: Path = Path("/")) -> float | None:
    """Return the number of CPUs that control groups allow, or None if there is no limit.

    A group is limited by all its ancestors, so the smallest quota counts. In a container, version 1
    reports the path of the group on the host, which does not exist inside; of its ancestors, only
    the mount point exists then, which is the group of the container.

    Parameters
    ----------
    root : Path
        Folder that contains ``proc`` and ``sys``.
    """
    return _smallest(root, "cpu", ("cpu", "cpu,cpuacct", "cpuacct,cpu"), _cpus_of)


def memory_quota(root: Path = Path("/")) -> float | None:
    """Return the bytes that control groups allow, or None if there is no limit; see `cpu_quota`."""
    return _smallest(root, "memory", ("memory",), _bytes_of)


def _smallest(
    root: Path, controller: str, names: tuple[str, ...], quota_of: Callable[[Path], float | None]
) -> float | None:
    quotas = [
        quota
        for mount, group in _groups(root, controller, names)
        for folder in _ancestors(mount, group)
        if (quota := quota_of(folder)) is not None
    ]
    return min(quotas, default=None)


def _groups(root: Path, controller: str, names: tuple[str, ...]) -> Iterator[tuple[Path, str]]:
    """Mount points of a controller, with the group of this process in each."""
    mounts = root / "sys/fs/cgroup"
    for line in _read(root / "proc/self/cgroup").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, group = rest.partition(":")
        if not controllers:  # version 2
            yield mounts, group
            yield mounts / "unified", group
        elif controller in controllers.split(","):
            for name in names:
                yield mounts / name, group


def _ancestors(mount: Path, group: str) -> Iterator[Path]:
    names = [name for name in group.split("/") if name not in ("", "..")]
    for depth in range(len(names) + 1):
        yield mount.joinpath(*names[:depth])


def _bytes_of(folder: Path) -> float | None:
    """Bytes of one group; version 1 has a number beyond all memory if there is no limit."""
    quota = _read(folder / "memory.max") or _read(folder / "memory.limit_in_bytes")
    return float(quota) if quota.strip().isdigit() else None


def _cpus_of(folder: Path) -> float | None:
    """CPUs of one group: CPU time per elapsed time."""
    quota = _read(folder / "cpu.max").split()
    if not quota:  # version 1
        quota = _read(folder / "cpu.cfs_quota_us").split()
        quota += _read(folder / "cpu.cfs_period_us").split()
    try:
        time, period = map(int, quota)
    except ValueError:  # no such files, or "max"
        return None
    return time / period if time > 0 and period > 0 else None


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError):
        return ""
