"""Readers of the formats in which data sets are published.

Each accepts opened files, and returns rows and labels. Rows in float64 become text in the cache,
others an array of the same type.
"""

import bz2
import gzip
import zipfile
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath

import numpy as np
from sklearn.datasets import load_svmlight_file

from benchmarks.data import lzw

UNPACK = {".gz": gzip.open, ".bz2": bz2.open, ".Z": lzw.unpacked}
"""Functions of a path or an opened file; .Z is in archives only."""


def same(y):
    """Labels as they are published."""
    return y


def libsvm(file, *, features, labels=same):
    """LIBSVM text."""
    X, y = load_svmlight_file(file, n_features=features, dtype=np.float64, zero_based=False)
    return X, labels(y)


def delimited(
    file, *, features, delimiter=None, header=0, target=-1, labels=same, dtype=np.float64
):
    """A table of numbers, one column of which is the target."""
    table = np.loadtxt(file, dtype, delimiter=delimiter, skiprows=header, ndmin=2)
    if table.shape[1] != features + 1:
        raise ValueError(f"{table.shape[1]} columns instead of {features + 1}")
    return np.delete(table, target, axis=1), labels(table[:, target])


def idx(images, numbers, *, features):
    """Images and their labels, as MNIST has them: a header, then bytes."""
    X, y = (array_of_idx(file.read()) for file in (images, numbers))
    return X.reshape(len(y), features), y


def array_of_idx(content):
    """The array in a file of format IDX: a type (8 is bytes), n, n sizes, and the values."""
    zero, kind, n_axes = int.from_bytes(content[:2]), content[2], content[3]
    if zero != 0 or kind != 8:
        raise ValueError("not a file of bytes in the format IDX")
    start = 4 + 4 * n_axes
    shape = np.frombuffer(content[4:start], ">u4")
    return np.frombuffer(content[start:], np.uint8).reshape(shape)


@contextmanager
def opened(path, member=""):
    """The unpacked bytes of a file, or of a member of a .zip."""
    with ExitStack() as stack:
        packed = path
        if member:
            packed = stack.enter_context(zipfile.ZipFile(path)).open(member)
        file = UNPACK.get(PurePosixPath(member or path).suffix, _plain)(packed)
        yield stack.enter_context(file)


def _plain(file):
    return open(file, "rb") if isinstance(file, Path) else file
