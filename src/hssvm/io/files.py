"""Files by their endings: which format, and how to unpack."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

FORMATS = {
    "libsvm": ("", ".libsvm", ".svm", ".svmlight", ".t", ".tr", ".train", ".test", ".txt"),
    "csv": (".csv", ".tsv"),
    "parquet": (".parquet",),
    "numpy": (".npy", ".npz"),
}
"""Endings of each format, before that of a compression."""

_UNPACK: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


def is_packed(path: Path) -> bool:
    """Whether the name of a file ends in a compression that is known here."""
    return path.suffix.lower() in _UNPACK


def ending(path: Path) -> str:
    """Of the name of a file, in small letters and without that of its compression."""
    return (path.with_suffix("") if is_packed(path) else path).suffix.lower()


def format_of(path: Path) -> str:
    """The format that the name of a file tells."""
    for name, endings in FORMATS.items():
        if ending(path) in endings:
            return name
    raise ValueError(
        f"{path}: no format is known for the ending {ending(path)!r}; pass format="
        f"{' or '.join(map(repr, FORMATS))}, and unpack other compressions than "
        f"{' '.join(_UNPACK)}"
    )


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """The bytes of a file, unpacked if its name says so."""
    with open(path, "rb") as file:
        if not is_packed(path):
            yield file
            return
        try:
            with _UNPACK[path.suffix.lower()](file, "rb") as unpacked:
                yield unpacked
        except (EOFError, OSError, lzma.LZMAError, zlib.error) as error:
            raise ValueError(
                f"{path} cannot be unpacked ({error}); it is damaged or cut short, get it again"
            ) from error
