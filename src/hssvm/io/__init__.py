"""Data from files: `read` returns (X, y) from LIBSVM text, CSV, Parquet or NumPy files.

One file per format (`libsvm`, `delimited`, `parquet`, `npy`); `files` opens and unpacks them,
`columns` finds features and labels in a table, `table` is what comes out. Whatever the format, X is
finite, or reading fails and says where and what to do.
"""

from hssvm.io.read import read

__all__ = ["read"]
