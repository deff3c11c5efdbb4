"""Data files: the first byte of an input selects the format, and the others are the file."""

import bz2
import gzip
import io
import lzma

import numpy as np
from helpers.outcomes import data_outcome
from helpers.text_mutants import LINES, overwrite, text_changed

LIBSVM, CSV = (b"".join(LINES[format]) for format in ("libsvm", "csv"))

FORMATS = [
    ("rows.libsvm", {}),
    ("rows.libsvm", {"n_features": 7, "dtype": np.float64}),
    ("rows.csv", {}),
    ("rows.csv", {"separator": ";", "dtype": np.float64}),
    ("rows.tsv", {"target": "y"}),
    ("rows.npy", {}),
    ("rows.npz", {"dtype": np.float64}),
    ("rows.libsvm.gz", {}),
    ("rows.csv.bz2", {}),
    ("rows.csv.xz", {}),
]
"""The name of the file, and options of `load_data`."""


def seeds():
    """Few rows in every format."""
    rows = np.arange(12.0).reshape(4, 3)
    table, arrays = io.BytesIO(), io.BytesIO()
    np.save(table, rows)
    np.savez(arrays, X=rows, y=np.array(["a", "b", "a", "b"]))
    files = [
        LIBSVM, LIBSVM, CSV, CSV.replace(b",", b";"), CSV.replace(b",", b"\t"),
        table.getvalue(), arrays.getvalue(),
        gzip.compress(LIBSVM, mtime=0), bz2.compress(CSV), lzma.compress(CSV),
    ]  # fmt: skip
    return [bytes([i]) + file for i, file in enumerate(files)]


def changed(content, rng, mutate):
    """One of the changes that the tests make to text, also inside a compressed file."""
    name, _ = FORMATS[content[0] % len(FORMATS)]
    head, body = content[:1], content[1:]
    if name.endswith(".gz"):
        return head + gzip.compress(text_changed(gzip.decompress(body), rng), 1, mtime=0)
    return head + text_changed(body, rng)


def read(content, folder):
    """Read rows and labels."""
    name, options = FORMATS[content[0] % len(FORMATS) if content else 0]
    path = folder / name
    path.touch()
    overwrite(path, content[1:])
    return data_outcome(path, **options)
