"""Atomic replacement of a file."""

from __future__ import annotations

import os
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Yield a new file, which replaces `path` at the end of the block.

    After an error, an existing file is unchanged. Symbolic links are followed, and the new file has
    the permissions of the old one, and its owner if the system allows that.

    Parameters
    ----------
    path : str or path
        A regular file, or the name of a new one.
    """
    target, old = _resolve(path)
    mode = 0o666 if old is None else 0o600  # until it gets the mode of the old file
    partial = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        unnamed = _open_unnamed(target.parent, mode)
        with unnamed or open(partial, "xb", opener=lambda n, f: os.open(n, f, mode)) as file:
            if old is not None:
                _copy_permissions(file.fileno(), old)
            yield file
            file.flush()
            os.fsync(file.fileno())
            if unnamed is not None:
                _link(unnamed.fileno(), partial)
        partial.replace(target)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def require_replaceable(path: str | os.PathLike[str]) -> None:
    """Raise OSError if `path` cannot be replaced, or not be created in its folder."""
    target, _ = _resolve(path)
    if not os.access(target.parent, os.W_OK):
        raise PermissionError(
            f"{target.parent} is write-protected; choose another folder, or make it writable"
        )


def _resolve(path: str | os.PathLike[str]) -> tuple[Path, os.stat_result | None]:
    """Follow symbolic links; return the path, and the status of the file if it exists."""
    target = Path(os.path.realpath(path))
    try:
        old = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        if not target.parent.is_dir():
            raise FileNotFoundError(f"{target.parent} is not a folder; create it first") from None
        return target, None
    if stat.S_ISDIR(old.st_mode):
        raise IsADirectoryError(f"{path} is a folder; pass the name of a file")
    if not stat.S_ISREG(old.st_mode):
        raise OSError(f"{path} is a device, pipe or socket; pass the name of a regular file")
    if not os.access(target, os.W_OK):
        raise PermissionError(
            f"{path} is write-protected; choose another name, or make it writable"
        )
    return target, old


def _open_unnamed(folder: Path, mode: int) -> IO[bytes] | None:
    """Open a file without a name, which disappears even if the process is killed.

    Return None if such files are not supported; Linux has them on most file systems.
    """
    if sys.platform != "linux":
        return None
    try:
        descriptor = os.open(folder, os.O_TMPFILE | os.O_WRONLY, mode)
    except OSError:  # any other error recurs with the named file
        return None
    if not os.path.exists(_proc_path(descriptor)):  # /proc is not mounted
        os.close(descriptor)
        return None
    return os.fdopen(descriptor, "wb")


def _link(descriptor: int, path: Path) -> None:
    folder = os.open(path.parent, os.O_RDONLY)
    try:  # Python follows the symbolic link in /proc only if it gets a dir_fd
        os.link(_proc_path(descriptor), path.name, dst_dir_fd=folder, follow_symlinks=True)
    finally:
        os.close(folder)


def _proc_path(descriptor: int) -> str:
    return f"/proc/self/fd/{descriptor}"


def _copy_permissions(descriptor: int, old: os.stat_result) -> None:
    if sys.platform == "win32":  # files inherit the permissions of their folder
        return
    for owner in ((old.st_uid, -1), (-1, old.st_gid)):
        with suppress(PermissionError):
            os.fchown(descriptor, *owner)
    os.fchmod(descriptor, stat.S_IMODE(old.st_mode))  # last: fchown clears bits
