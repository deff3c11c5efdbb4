"""Data files: their format, by extension, and decompression."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import shutil
import tempfile
import weakref
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from hssvm.messages import api, value_error

FORMATS = {
    "libsvm": ("", ".libsvm", ".svm", ".svmlight", ".t", ".tr", ".train", ".test", ".txt"),
    "csv": (".csv", ".tsv"),
    "parquet": (".parquet",),
    "numpy": (".npy", ".npz"),
}
"""File extensions of each format, without the suffix of a compression."""

MAX_RATIO, ALWAYS_ALLOWED = 100, 2**28
"""A file may decompress to MAX_RATIO times its size, or to ALWAYS_ALLOWED bytes if that is more.
Numbers as text rarely compress by more than a factor of 20; a few kilobytes that decompress to many
gigabytes are an attack or an accident."""

_UNPACK: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


class Source:
    """A file that can be read several times.

    Parameters
    ----------
    path : path
    spool : file, optional
        An open file with the data; `path` is then only a name for messages.
    """

    def __init__(self, path: str | os.PathLike[str], spool: IO[bytes] | None = None) -> None:
        self.path = Path(path)
        self._spool = spool
        self._descriptor: int | None = None
        self._n_bytes = 0

    @classmethod
    def from_stream(cls, stream: IO[bytes], name: str) -> Source:
        """Copy a stream that can be read only once, such as stdin, to a temporary file."""
        spool = tempfile.TemporaryFile()  # noqa: SIM115  closed with the source
        shutil.copyfileobj(stream, spool)
        spool.flush()
        source = cls(name, spool)
        weakref.finalize(source, spool.close)
        return source

    def __str__(self) -> str:
        return str(self.path)

    @property
    def is_packed(self) -> bool:
        """Whether the file has the extension of a supported compression."""
        return self._spool is None and self.path.suffix.lower() in _UNPACK

    @property
    def ending(self) -> str:
        """File extension in lowercase, without the suffix of a compression."""
        return (self.path.with_suffix("") if self.is_packed else self.path).suffix.lower()

    @property
    def format(self) -> str:
        """Format by file extension."""
        first, *others = map(repr, FORMATS)
        remedy = f"pass {' or '.join([f'{api:format={first}}', *others])}"
        if self._spool is not None:
            raise value_error(
                f"the format of {self} is unknown, as it has no file extension; {remedy}"
            )
        for name, endings in FORMATS.items():
            if self.ending in endings:
                return name
        raise value_error(
            f"{self}: the file extension {self.ending!r} is unknown; {remedy}, and decompress "
            f"files other than {' '.join(_UNPACK)}"
        )

    def fraction_read(self) -> float | None:
        """Fraction of the bytes read since `open`, for use by other threads; None if unknown."""
        descriptor, n_bytes = self._descriptor, self._n_bytes
        if descriptor is None or n_bytes == 0:
            return None
        try:
            return min(1.0, os.lseek(descriptor, 0, os.SEEK_CUR) / n_bytes)
        except OSError:  # a pipe, or closed in the meantime
            return None

    @contextmanager
    def open(self) -> Iterator[Any]:
        """Open the file without decompressing it."""
        with self._open_again() as file:
            self._n_bytes, self._descriptor = os.fstat(file.fileno()).st_size, file.fileno()
            try:
                yield file
            finally:
                self._descriptor = None

    def _open_again(self) -> IO[bytes]:
        if self._spool is None:
            return open(self.path, "rb")
        self._spool.seek(0)
        return os.fdopen(os.dup(self._spool.fileno()), "rb")

    @contextmanager
    def unpacked(self) -> Iterator[Any]:
        """Open the file, decompressed if necessary; ValueError if it becomes far too large."""
        with self.open() as file:
            if not self.is_packed:
                yield file
                return
            limit = max(ALWAYS_ALLOWED, MAX_RATIO * self._n_bytes)
            try:
                with _UNPACK[self.path.suffix.lower()](file, "rb") as unpacked:
                    yield io.BufferedReader(_Limited(unpacked, limit, str(self)), 2**16)
            except (EOFError, OSError, lzma.LZMAError, zlib.error) as error:
                raise ValueError(
                    f"{self} cannot be decompressed ({error}); it is corrupted or incomplete, "
                    "download or create it again"
                ) from error


class _Limited(io.RawIOBase):
    """A file with a maximum size; raises ValueError if it is larger."""

    def __init__(self, file: IO[bytes], limit: int, name: str) -> None:
        self._file = file
        self._left = limit
        self._name = name

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._file.read(len(buffer))
        self._left -= len(data)
        if self._left < 0:
            raise ValueError(
                f"{self._name} decompresses to more than {MAX_RATIO} times its size; if this is "
                "intended, decompress it first"
            )
        buffer[: len(data)] = data
        return len(data)
