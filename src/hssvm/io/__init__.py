"""Reading of data: `load_data` returns (X, y) from LIBSVM text, CSV, Parquet or NumPy files.

There is one module per format (`libsvm`, `delimited`, `parquet`, `npy`); `files` opens and
decompresses files, `columns` selects the features and labels of a table, `table` is the result. X
is always finite: for missing or infinite values, reading fails with an error that names the line.
"""

from hssvm.io.load import load_data

__all__ = ["load_data"]
