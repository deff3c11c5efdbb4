"""Files by their endings: which format, and how to unpack."""

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

FORMATS = {
    "libsvm": ("", ".libsvm", ".svm", ".svmlight", ".t", ".tr", ".train", ".test", ".txt"),
    "csv": (".csv", ".tsv"),
    "parquet": (".parquet",),
    "numpy": (".npy", ".npz"),
}
"""Endings of each format, before that of a compression."""

MAX_RATIO, ALWAYS_ALLOWED = 100, 2**28
"""A packed file may unpack to so many times its size, and to so many bytes in any case. Numbers as
text rarely shrink by a factor of 20; a few kilobytes that unpack to many gigabytes are an attack or
an accident."""

_UNPACK: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


class Source:
    """A file to read, as often as necessary.

    Parameters
    ----------
    path : path
    spool : file, optional
        A real file with the bytes, where `path` is only the name to show.
    """

    def __init__(self, path: str | os.PathLike[str], spool: IO[bytes] | None = None) -> None:
        self.path = Path(path)
        self._spool = spool
        self._descriptor: int | None = None
        self._n_bytes = 0

    @classmethod
    def from_stream(cls, stream: IO[bytes], name: str) -> Source:
        """Copy a stream that can be read once, such as stdin, to a temporary file."""
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
        """Whether the name ends in a compression that is known here."""
        return self._spool is None and self.path.suffix.lower() in _UNPACK

    @property
    def ending(self) -> str:
        """Of the name, in small letters and without that of its compression."""
        return (self.path.with_suffix("") if self.is_packed else self.path).suffix.lower()

    @property
    def format(self) -> str:
        """The format that the name tells."""
        if self._spool is not None:
            raise ValueError(
                f"{self} has no name that tells its format; pass format="
                f"{' or '.join(map(repr, FORMATS))}"
            )
        for name, endings in FORMATS.items():
            if self.ending in endings:
                return name
        raise ValueError(
            f"{self}: no format is known for the ending {self.ending!r}; pass format="
            f"{' or '.join(map(repr, FORMATS))}, and unpack other compressions than "
            f"{' '.join(_UNPACK)}"
        )

    def fraction_read(self) -> float | None:
        """Share of the bytes that have been read since `open`; for other threads to ask."""
        descriptor, n_bytes = self._descriptor, self._n_bytes
        if descriptor is None or n_bytes == 0:
            return None
        try:
            return min(1.0, os.lseek(descriptor, 0, os.SEEK_CUR) / n_bytes)
        except OSError:  # a pipe, or closed since
            return None

    @contextmanager
    def open(self) -> Iterator[Any]:
        """The bytes, as they are."""
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
        """The bytes, unpacked if the name says so; ValueError where they are far too many."""
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
                    f"{self} cannot be unpacked ({error}); it is damaged or cut short, get it again"
                ) from error


class _Limited(io.RawIOBase):
    """The first bytes of a file; ValueError for one more."""

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
                f"{self._name} unpacks to more than {MAX_RATIO} times its size; if it is what it "
                "should be, unpack it first"
            )
        buffer[: len(data)] = data
        return len(data)
