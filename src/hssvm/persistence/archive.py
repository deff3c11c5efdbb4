"""A zip archive of arrays and one JSON document."""

from __future__ import annotations

import json
import math
import os
import re
import zipfile
import zlib
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from hssvm.persistence.replace import replacing

DOCUMENT = "model.json"

ZIP_MAGIC = b"PK\x03\x04"
MAGIC = b"\x93NUMPY\x01\x00"
ARRAY_HEADER = re.compile(
    rb"\{'descr': '(<[fi][48])', 'fortran_order': False, 'shape': \(([0-9, ]+)\), \} *\n"
)
"""Header of an array in NumPy's format, as `write` writes it; no other headers are accepted."""

CHUNK = 2**24
"""Number of bytes to read at a time."""

COMPRESSION_SAMPLE, MIN_COMPRESSION = 2**20, 1.5
"""An array is compressed if its first COMPRESSION_SAMPLE bytes become smaller by this factor.
Features often do, by 4 to 6: they have few values, or few digits."""

LEVEL = 1
"""Level of compression. 9 makes the rows of covtype 20 % smaller, in seven times the time."""

MAX_GROWTH = 100
"""Maximum size of all arrays relative to the file, so that a small file cannot fill the
memory."""

MAX_DOCUMENT = 2**26
"""Maximum size of the document in bytes; as Python objects it needs about 20 times this memory."""


def require(condition: bool | np.bool_, problem: str) -> None:
    """Raise ValueError with a description of the problem unless the condition holds."""
    if not condition:
        raise ValueError(problem)


def has_form(array: Any, dtype: Any, shape: tuple[int, ...]) -> bool:
    """Whether `array` is a NumPy array of the given dtype and shape."""
    return isinstance(array, np.ndarray) and array.dtype == dtype and array.shape == shape


def write(path: str | os.PathLike[str], document: Any, arrays: dict[str, NDArray[Any]]) -> None:
    """Write a file atomically: an existing file is unchanged if this fails."""
    text = json.dumps(document, indent=1, allow_nan=False).encode()
    require(
        len(text) <= MAX_DOCUMENT,
        f"{DOCUMENT} would have {len(text):,} bytes, more than the {MAX_DOCUMENT:,} that a model "
        "file may have; use joblib.dump",
    )
    arrays = {
        name: np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
        for name, array in arrays.items()
    }
    n_bytes = sum(array.nbytes for array in arrays.values())
    compressed = {name for name, array in arrays.items() if _is_compressible(array)}
    with replacing(path) as file:
        _write(file, text, arrays, compressed)
        if n_bytes > MAX_GROWTH * file.tell():
            file.seek(0)
            file.truncate()
            _write(file, text, arrays, set())


def _write(
    file: IO[bytes], text: bytes, arrays: dict[str, NDArray[Any]], compressed: set[str]
) -> None:
    try:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=LEVEL) as archive:
            # a ZipInfo is for a member that is not compressed; all dates are the same, and so the
            # same model gives the same file
            archive.writestr(zipfile.ZipInfo(DOCUMENT), text)
            for name, array in arrays.items():
                member = f"{name}.npy"
                info = member if name in compressed else zipfile.ZipInfo(member)
                with archive.open(info, "w", force_zip64=True) as stream:
                    np.lib.format.write_array(stream, array, version=(1, 0), allow_pickle=False)
    except ValueError as error:  # the archive cannot be closed in a member, and Ctrl-C may be there
        if isinstance(error.__context__, KeyboardInterrupt):
            raise error.__context__ from None
        raise


def _is_compressible(array: NDArray[Any]) -> bool:
    sample = array.reshape(-1)[: COMPRESSION_SAMPLE // array.itemsize].tobytes()
    return len(sample) > MIN_COMPRESSION * len(zlib.compress(sample, LEVEL))


def is_archive(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins like the files of `write`."""
    with open(path, "rb") as file:
        return file.read(len(ZIP_MAGIC)) == ZIP_MAGIC


class Archive:
    """Reads a file written by `write`, with memory for MAX_GROWTH times its size at most."""

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
        require(_is_stored(info), f"{DOCUMENT} is compressed")
        with self._zip.open(info) as member:
            document = json.loads(member.read())
        require(isinstance(document, dict), f"{DOCUMENT} is not a JSON object")
        return document

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return all arrays by name."""
        infos = self._members.values()
        n_bytes = sum(info.compress_size for info in infos)
        require(n_bytes <= self._n_bytes, "its members are larger than the file")
        n_bytes = sum(info.file_size for info in infos)
        require(
            n_bytes <= MAX_GROWTH * self._n_bytes,
            f"its arrays would take more than {MAX_GROWTH} times the memory of the file",
        )
        arrays = {}
        for name, info in self._members.items():
            if name != DOCUMENT:
                require(name.endswith(".npy"), f"{name!r} is not an array")
                known = _is_stored(info) or info.compress_type == zipfile.ZIP_DEFLATED
                require(known, f"{name!r} is compressed by another method than deflate")
                with self._zip.open(info) as member:
                    arrays[name.removesuffix(".npy")] = _read_array(member, name, info.file_size)
        return arrays


def _is_stored(info: zipfile.ZipInfo) -> bool:
    return info.compress_type == zipfile.ZIP_STORED and info.compress_size == info.file_size


def _read_array(member: IO[bytes], name: str, n_bytes: int) -> NDArray[Any]:
    # numpy.lib.format would evaluate the header as a Python literal and trust its shape
    require(member.read(len(MAGIC)) == MAGIC, f"{name!r} is not an array")
    header = member.read(int.from_bytes(member.read(2), "little"))
    match = ARRAY_HEADER.fullmatch(header)
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
