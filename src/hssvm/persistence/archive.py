"""A zip archive of arrays and one JSON document."""

from __future__ import annotations

import json
import math
import os
import re
import zipfile
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from hssvm.persistence.replace import replacing

DOCUMENT = "model.json"

ZIP_MAGIC = b"PK\x03\x04"
MAGIC = b"\x93NUMPY\x01\x00"
HEADER = re.compile(
    rb"\{'descr': '(<[fi][48])', 'fortran_order': False, 'shape': \(([0-9, ]+)\), \} *\n"
)
"""Header of an array in NumPy's format, as `write` writes it; no other headers are accepted."""

CHUNK = 2**24
"""Number of bytes to read at a time."""

MAX_DOCUMENT = 2**26
"""Maximum size of the document in bytes; as Python objects it needs about 20 times this memory."""


def require(condition: bool | np.bool_, problem: str) -> None:
    """Raise ValueError with a description of the problem unless the condition holds."""
    if not condition:
        raise ValueError(problem)


def write(path: str | os.PathLike[str], document: Any, arrays: dict[str, NDArray[Any]]) -> None:
    """Write a file atomically: an existing file is unchanged if this fails."""
    text = json.dumps(document, indent=1, allow_nan=False).encode()
    require(
        len(text) <= MAX_DOCUMENT,
        f"{DOCUMENT} would have {len(text):,} bytes, more than the {MAX_DOCUMENT:,} that a model "
        "file may have; use joblib.dump",
    )
    with replacing(path) as file, zipfile.ZipFile(file, "w") as archive:
        archive.writestr(zipfile.ZipInfo(DOCUMENT), text)
        for name, array in arrays.items():
            _write_array(archive, name, array)


def _write_array(archive: zipfile.ZipFile, name: str, array: NDArray[Any]) -> None:
    array = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    # a ZipInfo has a fixed date, so the same model gives the same file
    with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
        np.lib.format.write_array(member, array, version=(1, 0), allow_pickle=False)


def is_archive(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins like those of `write`."""
    with open(path, "rb") as file:
        return file.read(len(ZIP_MAGIC)) == ZIP_MAGIC


class Archive:
    """Reads a file written by `write`, with no more memory than the size of the file."""

    def __init__(self, file: IO[bytes]) -> None:
        self._n_bytes = os.fstat(file.fileno()).st_size
        self._zip = zipfile.ZipFile(file)
        self._members = {info.filename: info for info in self._zip.infolist()}
        distinct = len(self._members) == len(self._zip.infolist())
        require(distinct, "several members have the same name")
        require(DOCUMENT in self._members, f"it has no {DOCUMENT}")

    def document(self) -> dict[str, Any]:
        """Return the JSON document, an object."""
        info = self._members[DOCUMENT]
        require(info.file_size <= MAX_DOCUMENT, f"{DOCUMENT} has more than {MAX_DOCUMENT:,} bytes")
        with self._open(info) as member:
            document = json.loads(member.read())
        require(isinstance(document, dict), f"{DOCUMENT} is not a JSON object")
        return document

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return all arrays by name."""
        n_bytes = sum(info.file_size for info in self._members.values())
        require(n_bytes <= self._n_bytes, "its members are larger than the file")
        arrays = {}
        for name, info in self._members.items():
            if name != DOCUMENT:
                require(name.endswith(".npy"), f"{name!r} is not an array")
                with self._open(info) as member:
                    arrays[name.removesuffix(".npy")] = _read_array(member, name, info.file_size)
        return arrays

    def _open(self, info: zipfile.ZipInfo) -> IO[bytes]:
        stored = info.compress_type == zipfile.ZIP_STORED and info.compress_size == info.file_size
        require(stored, f"{info.filename!r} is compressed")
        return self._zip.open(info)


def _read_array(member: IO[bytes], name: str, n_bytes: int) -> NDArray[Any]:
    # numpy.lib.format would evaluate the header as a Python literal and trust its shape
    require(member.read(len(MAGIC)) == MAGIC, f"{name!r} is not an array")
    header = member.read(int.from_bytes(member.read(2), "little"))
    match = HEADER.fullmatch(header)
    if match is None:
        raise ValueError(f"{name!r} has an invalid header")
    dtype = np.dtype(match[1].decode())
    shape = tuple(int(size) for size in match[2].decode().rstrip(",").split(","))
    size = math.prod(shape) * dtype.itemsize
    require(
        len(MAGIC) + 2 + len(header) + size == n_bytes,
        f"the size of {name!r} contradicts its shape",
    )
    values = np.empty(size, np.uint8)
    for begin in range(0, size, CHUNK):
        chunk = values[begin : begin + CHUNK]
        chunk[:] = np.frombuffer(member.read(chunk.size), np.uint8, chunk.size)
    return values.view(dtype).reshape(shape)
