"""Conversion of Python values to JSON and back.

None, bool, int, finite float, str and list are represented by themselves, other values by objects
whose keys give the type: {"float": "inf"}, {"tuple": [...]}, {"dict": [[key, value], ...]},
{"array": [...], "dtype": "int64"}, {"object": "Gaussian", "fields": {"gamma": 0.5}}.
"""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm.hss import HSSANN, Compressor, NestedNystroem
from hssvm.kernels import (
    Categorical,
    ChiSquared,
    ColumnsKernel,
    Constant,
    Cosine,
    Exponential,
    Gaussian,
    HistogramIntersection,
    Kernel,
    Laplacian,
    Linear,
    Matern32,
    Matern52,
    MinMax,
    Polynomial,
    ProductKernel,
    SumKernel,
    Tanimoto,
)
from hssvm.training.approximation import HSS, Cells

OBJECTS: dict[str, Any] = {
    cls.__name__: cls
    for cls in (
        Gaussian, Laplacian, Exponential, Matern32, Matern52, Polynomial, Linear, Tanimoto, MinMax,
        Cosine, HistogramIntersection, ChiSquared, Categorical, SumKernel, ProductKernel,
        ColumnsKernel, Constant, NestedNystroem, HSSANN, Cells, HSS,
    )
}  # fmt: skip
"""Dataclasses that a file may contain; no other objects are created from a file."""

FIELD_TYPES = (bool, int, float, tuple, type(None), Compressor, Kernel)
"""Types of their fields."""

DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
    "float32", "float64",
)  # fmt: skip

MAX_TEXT = 2**26
"""Maximum size of an array of strings: its length times the length of the longest string."""


def to_plain(value: Any) -> Any:
    """Convert `value` to JSON values; raise TypeError if that is not possible.

    Examples
    --------
    >>> from hssvm.kernels import Gaussian
    >>> from hssvm.persistence.plain import from_plain, to_plain
    >>> to_plain({0: (1, float("inf"))})
    {'dict': [[0, {'tuple': [1, {'float': 'inf'}]}]]}
    >>> from_plain(to_plain(Gaussian(0.5)))
    Gaussian(gamma=0.5)
    """
    if isinstance(value, np.generic):
        value = value.item()
    kind = type(value)
    if value is None or kind in (bool, int, str):
        return value
    if kind is float:
        return value if math.isfinite(value) else {"float": repr(value)}
    if kind is list:
        return [to_plain(item) for item in value]
    if kind is tuple:
        return {"tuple": [to_plain(item) for item in value]}
    if kind is dict:
        return {"dict": [[to_plain(key), to_plain(item)] for key, item in value.items()]}
    if kind is np.ndarray:
        return _from_array(value)
    if kind in OBJECTS.values():
        names = [field.name for field in fields(value)]
        plain = {name: to_plain(getattr(value, name)) for name in names}
        return {"object": kind.__name__, "fields": plain}
    raise TypeError(f"{value!r} cannot be converted to JSON")


def _from_array(array: NDArray[Any]) -> dict[str, Any]:
    items = array.tolist()
    if array.dtype.name in DTYPES:
        return {"array": to_plain(items), "dtype": array.dtype.name}
    # NumPy drops trailing NULs of strings, which could make two of them equal
    if array.ndim == 1 and all(type(item) is str and item[-1:] != "\0" for item in items):
        return {"array": items, "dtype": "str"}
    raise TypeError(f"an array of {array.dtype} cannot be converted to JSON")


def from_plain(value: Any) -> Any:
    """Invert `to_plain`; raise ValueError, TypeError or OverflowError for invalid input."""
    if isinstance(value, list):
        return [from_plain(item) for item in value]
    if not isinstance(value, dict):
        return value
    match value:
        case {"float": "inf" | "-inf" | "nan" as text}:
            return float(text)
        case {"tuple": list(items)}:
            return tuple(from_plain(items))
        case {"dict": list(items)}:
            return dict(from_plain(items))
        case {"array": list(items), "dtype": "str"}:
            return _to_strings(items)
        case {"array": list(items), "dtype": dtype} if dtype in DTYPES:
            return np.array(from_plain(items), dtype=dtype)
        case {"object": str(name), "fields": dict(fields)} if name in OBJECTS:
            plain = {key: from_plain(item) for key, item in fields.items()}
            if all(isinstance(item, FIELD_TYPES) for item in plain.values()):
                return OBJECTS[name](**plain)
    raise ValueError(f"an object with the keys {', '.join(map(repr, value))} is unknown")


def _to_strings(items: list[Any]) -> NDArray[np.str_]:
    if not all(type(item) is str for item in items):
        raise ValueError("an array of strings has items of another type")
    if len(items) * max(map(len, items), default=0) > MAX_TEXT:
        raise ValueError("an array of strings is too large")
    return np.array(items, dtype=str)
