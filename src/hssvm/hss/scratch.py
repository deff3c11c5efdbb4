"""Arrays in temporary files, for matrices and factors larger than memory."""

from __future__ import annotations

import errno
import mmap
import os
import tempfile

import numpy as np
from numpy.typing import DTypeLike

from hssvm.kernels.base import Floats
from hssvm.messages import Message, api

SMALL = 2**20
"""Bytes up to which an array stays in memory."""


class Scratch:
    """Allocates arrays in temporary files.

    The operating system keeps in memory what fits; a pass over arrays that do not fit runs at the
    speed of the disk. The files have no names, and disappear with their arrays. They are in the
    directory of `tempfile`, which the environment variable TMPDIR sets.
    """

    def empty(self, size: int, dtype: DTypeLike) -> Floats:
        """Return an array of unspecified values."""
        n_bytes = size * np.dtype(dtype).itemsize
        if n_bytes <= SMALL:
            return np.empty(size, dtype)
        with tempfile.TemporaryFile() as file:
            reserve(file.fileno(), n_bytes)
            return np.frombuffer(mmap.mmap(file.fileno(), n_bytes), dtype)

    def move(self, array: Floats) -> Floats:
        """Return a copy in a file; small arrays are returned as they are."""
        if array.nbytes <= SMALL:
            return array
        copy = self.empty(array.size, array.dtype)
        copy[:] = array.ravel()
        return copy


def reserve(descriptor: int, n_bytes: int) -> None:
    """Reserve the disk space of a file, since writing to a full disk through a map is a crash."""
    try:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(descriptor, 0, n_bytes)
        else:
            os.truncate(descriptor, n_bytes)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        raise MemoryError(
            Message(
                f"the fit needs {n_bytes / 1e9:.2g} GB of disk space in {tempfile.gettempdir()}, "
                "which is full; set the environment variable TMPDIR to a directory on a larger "
                f"disk, or raise {api:memory_limit}"
            )
        ) from error
