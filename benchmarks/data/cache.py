"""The folder with the data sets that were fetched, and the format of its files.

A set is one file, or two: ``NAME.train`` and ``NAME.test``. They are LIBSVM text (.xz), or arrays X
and y (.npz), where bytes are pixels. The tables of PMLB are in the folder pmlb, as they are
published.
"""

import hashlib
import lzma
import os
from pathlib import Path

import numpy as np
import scipy.sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

LISTED = Path(__file__).with_name("rows.sha256")


class MissingData(SystemExit):
    """A data set is not in the cache: a benchmark ends, and a test is skipped."""


def folder():
    """The folder that HSSVM_DATA names, or else the user's cache folder."""
    named = os.environ.get("HSSVM_DATA")
    if named:
        return Path(named)
    try:
        import pooch
    except ImportError:
        raise MissingData("Set HSSVM_DATA to the folder with the data sets.") from None
    return Path(pooch.os_cache("hssvm"))


def find(file, where=None):
    """Path of a file of the cache, given without its suffix; None if it is not there."""
    where = where or folder()
    candidates = (where / f"{file}{suffix}" for suffix in (".npz", ".xz", ".tsv.gz"))
    return next((path for path in candidates if path.exists()), None)


def read(file, features, where=None):
    """Rows and labels of a file of the cache.

    X is float32, a CSR matrix if the file is sparse, pixels divided by 255.
    """
    path = find(file, where)
    if path is None:
        name = file.removesuffix(".train").removesuffix(".test")
        raise MissingData(
            f"{file} is not in {where or folder()}; get it with: "
            f"python -m benchmarks.data fetch {name}"
        )
    if path.suffix == ".xz":
        with lzma.open(path) as text:
            return load_svmlight_file(text, n_features=features, dtype=np.float32, zero_based=False)
    if path.suffix == ".gz":
        import pandas as pd

        table = pd.read_csv(path, sep="\t")
        y = table.pop("target").to_numpy()
        return table.to_numpy(np.float32), y
    with np.load(path) as arrays:
        if "bits" in arrays:  # fingerprints, eight features a byte
            bits = np.unpackbits(arrays["bits"], axis=1)
            return scipy.sparse.csr_matrix(bits, dtype=np.float32), arrays["y"]
        X, y = arrays["X"], arrays["y"]
    largest = 255 if X.dtype == np.uint8 else 1
    return np.ascontiguousarray(X, dtype=np.float32) / np.float32(largest), y


def write(file, X, y, where):
    """Write rows and labels to a file of the cache: float64 as text."""
    if X.dtype == np.float64:
        with lzma.open(where / f"{file}.xz", "wb") as text:
            dump_svmlight_file(X, y, text, zero_based=False)
    else:
        np.savez_compressed(where / f"{file}.npz", X=X, y=y)


def digest(X, y):
    """SHA-256 of rows and labels.

    Of the shape, then of the CSR form without zeros (row ends, columns, float32 values), then of
    the labels in float64; little-endian, integers in 64 bits.
    """
    X = scipy.sparse.csr_matrix(X, dtype=np.float32, copy=True)
    X.sum_duplicates()
    X.eliminate_zeros()
    found = hashlib.sha256()
    for array, kind in (
        (X.shape, "<i8"), (X.indptr, "<i8"), (X.indices, "<i8"), (X.data, "<f4"), (y, "<f8")
    ):  # fmt: skip
        found.update(np.ascontiguousarray(array, dtype=kind))
    return found.hexdigest()


def listed():
    """The digest of every file of the cache that is known."""
    lines = (line.split() for line in LISTED.read_text().splitlines())
    return {file: found for found, file in lines}
