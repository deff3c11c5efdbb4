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

MAGIC = b"\x93NUMPY\x01\x00"
HEADER = re.compile(
    rb"\{'descr': '(<[fi][48])', 'fortran_order': False, 'shape': \(([0-9, ]+)\), \} *\n"
)
"""Of an array in NumPy's format, as `numpy.save` writes those that we save; no others are read."""

CHUNK = 2**24
"""Bytes to read at once."""

MAX_DOCUMENT = 2**26
"""Bytes of the document: as Python objects it takes some twenty times as much memory."""


def require(condition: bool | np.bool_, problem: str) -> None:
    """Raise ValueError for a file with this problem."""
    if not condition:
        raise ValueError(problem)


def write(path: str | os.PathLike[str], document: Any, arrays: dict[str, NDArray[Any]]) -> None:
    """Write all of it, or nothing: a file that was there stays as it is if this fails."""
    text = json.dumps(document, indent=1, allow_nan=False).encode()
    require(
        len(text) <= MAX_DOCUMENT,
        f"{DOCUMENT} would have {len(text):,} bytes, and at most {MAX_DOCUMENT:,} are read; use "
        "joblib.dump",
    )
    with replacing(path) as file, zipfile.ZipFile(file, "w") as archive:
        archive.writestr(zipfile.ZipInfo(DOCUMENT), text)
        for name, array in arrays.items():
            _write_array(archive, name, array)


def _write_array(archive: zipfile.ZipFile, name: str, array: NDArray[Any]) -> None:
    array = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    # a ZipInfo has a fixed date: the same model gives the same file
    with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
        np.lib.format.write_array(member, array, version=(1, 0), allow_pickle=False)


class Archive:
    """Reads what `write` has written, and takes no more memory than the file has bytes."""

    def __init__(self, file: IO[bytes]) -> None:
        self._n_bytes = os.fstat(file.fileno()).st_size
        self._zip = zipfile.ZipFile(file)
        self._members = {info.filename: info for info in self._zip.infolist()}
        distinct = len(self._members) == len(self._zip.infolist())
        require(distinct, "two of its members have the same name")
        require(DOCUMENT in self._members, f"it has no {DOCUMENT}")

    def document(self) -> dict[str, Any]:
        """Return the JSON document, an object."""
        info = self._members[DOCUMENT]
        require(info.file_size <= MAX_DOCUMENT, f"{DOCUMENT} has more than {MAX_DOCUMENT:,} bytes")
        with self._open(info) as member:
            document = json.loads(member.read())
        require(isinstance(document, dict), f"{DOCUMENT} is no object")
        return document

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return all arrays by name."""
        n_bytes = sum(info.file_size for info in self._members.values())
        require(n_bytes <= self._n_bytes, "its members are larger than the file")
        arrays = {}
        for name, info in self._members.items():
            if name != DOCUMENT:
                require(name.endswith(".npy"), f"{name!r} is no array")
                with self._open(info) as member:
                    arrays[name.removesuffix(".npy")] = _read_array(member, name, info.file_size)
        return arrays

    def _open(self, info: zipfile.ZipInfo) -> IO[bytes]:
        stored = info.compress_type == zipfile.ZIP_STORED and info.compress_size == info.file_size
        require(stored, f"{info.filename!r} is compressed")
        return self._zip.open(info)


def _read_array(member: IO[bytes], name: str, n_bytes: int) -> NDArray[Any]:
    # numpy.lib.format would evaluate the header as a Python literal and believe its shape
    require(member.read(len(MAGIC)) == MAGIC, f"{name!r} is no array")
    header = member.read(int.from_bytes(member.read(2), "little"))
    match = HEADER.fullmatch(header)
    if match is None:
        raise ValueError(f"{name!r} has a header that hssvm does not write")
    dtype = np.dtype(match[1].decode())
    shape = tuple(int(size) for size in match[2].decode().rstrip(",").split(","))
    size = math.prod(shape) * dtype.itemsize
    require(
        len(MAGIC) + 2 + len(header) + size == n_bytes, f"{name!r} has another size than its shape"
    )
    values = np.empty(size, np.uint8)
    for begin in range(0, size, CHUNK):
        here = values[begin : begin + CHUNK]
        here[:] = np.frombuffer(member.read(here.size), np.uint8, here.size)
    return values.view(dtype).reshape(shape)
