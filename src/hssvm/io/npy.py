"""NumPy's own files."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm.io.table import as_features, as_labels, target_column
from hssvm.kernels.base import Floats

_DAMAGE = (
    EOFError, KeyError, OSError, RuntimeError, ValueError, zipfile.BadZipFile, zlib.error,
)  # fmt: skip


def read_numpy(
    path: Path, dtype: np.dtype[Any], target: str | int | None
) -> tuple[Floats, NDArray[Any] | None]:
    """X and y of an .npz file with these arrays, or of the table in an .npy file."""
    with open(path, "rb") as file:
        try:
            loaded = np.load(file, allow_pickle=False)
            if isinstance(loaded, np.ndarray):
                arrays = {"table": loaded}
            else:
                arrays = {k: np.asarray(loaded[k]) for k in ("X", "y") if k in loaded.files}
        except _DAMAGE as error:
            raise ValueError(f"{path} cannot be read as a NumPy file: {error}") from error
    if "table" in arrays:
        return _from_table(path, arrays["table"], dtype, target)
    if target is not None:
        raise ValueError(f"{path}: target is for tables; the labels of an .npz file are its y")
    if "X" not in arrays:
        raise ValueError(f"{path} has no array X; it has {', '.join(loaded.files) or 'none'}")
    X = as_features(path, arrays["X"], dtype)
    if "y" not in arrays:
        return X, None
    if arrays["y"].shape != X.shape[:1]:
        raise ValueError(f"{path}: X has {len(X)} rows, but y has shape {arrays['y'].shape}")
    return X, as_labels(path, arrays["y"])


def _from_table(
    path: Path, table: NDArray[Any], dtype: np.dtype[Any], target: str | int | None
) -> tuple[Floats, NDArray[Any] | None]:
    if table.ndim != 2:
        raise ValueError(f"{path}: expected a table, got shape {table.shape}")
    column = target_column(path, target, table.shape[1], None)
    if column is None:
        return as_features(path, table, dtype), None
    features = np.delete(table, column, axis=1)
    return as_features(path, features, dtype), as_labels(path, table[:, column])
