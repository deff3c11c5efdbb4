"""Reading and writing of model files; the package docstring describes their format."""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from os import PathLike
from typing import Any

import numpy as np

from hssvm.persistence.archive import Archive, require, write
from hssvm.persistence.predictors import Arrays

FORMAT, VERSION = "hssvm model", 1

LIBSVM_START = b"svm_type"
"""First bytes of a LIBSVM model file."""

DAMAGE = (
    ValueError, TypeError, AttributeError, LookupError, ArithmeticError, RuntimeError, EOFError,
    OSError, struct.error, zipfile.BadZipFile, zlib.error,
)  # fmt: skip
"""Exceptions that a corrupted file may cause."""


def write_model(
    path: str | PathLike[str], name: str, document: dict[str, Any], arrays: Arrays
) -> None:
    """Write a fitted model of the class `name`, given as a document and arrays."""
    header = {"format": FORMAT, "version": VERSION, "hssvm": version("hssvm"), "class": name}
    write(path, {**header, **document}, arrays)


def read_model(path: str | PathLike[str]) -> tuple[str, dict[str, Any], Arrays]:
    """Return the name of the class, the document and the arrays of a file.

    They may be anything: create a model from them in the context `as_corruption`.
    """
    with open(path, "rb") as file:
        if file.read(len(LIBSVM_START)) == LIBSVM_START:
            raise ValueError(
                f"{path} is a LIBSVM model; load it with hssvm.load_libsvm, or convert it with "
                "hssvm convert"
            )
        file.seek(0)
        with as_corruption(path):
            archive = Archive(file)
            document = archive.document()
            require(document["format"] == FORMAT, "its format is unknown")
            found, writer = int(document["version"]), str(document["hssvm"])
        if found > VERSION:
            raise ValueError(
                f"{path} was saved by hssvm {writer} in version {found} of the format, but this "
                f"hssvm reads only versions up to {VERSION}; upgrade hssvm"
            )
        with as_corruption(path):
            require(found >= 1, f"version {found} of the format does not exist")
            return document["class"], document, archive.arrays()


@contextmanager
def as_corruption(path: str | PathLike[str]) -> Iterator[None]:
    """Context in which any error is the ValueError of a corrupted file."""
    try:
        with np.errstate(all="ignore"):
            yield
    except DAMAGE as error:
        reason = str(error) if isinstance(error, ValueError) else repr(error)
        raise ValueError(
            f"{path} is corrupted, or not a model saved by hssvm ({reason}); save the model again, "
            "or load it with joblib if it was saved by joblib"
        ) from error
