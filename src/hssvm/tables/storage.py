"""An encoder as JSON values, which a model file stores.

The transformers of skrub and scikit-learn are stored by skops, which creates only objects of known
types. They are not code.
"""

from __future__ import annotations

import base64
import io
import json
import warnings
import zipfile
from dataclasses import asdict
from importlib.metadata import version
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from hssvm.exceptions import DataWarning
from hssvm.persistence.archive import require
from hssvm.tables.columns import KINDS, EncodedColumn
from hssvm.tables.encoder import TableEncoder
from hssvm.tables.formats import SEPARATORS, UNITS, NumberFormat
from hssvm.tables.vectorizer import import_skrub

OBJECTS = {
    "datetime.timedelta", "datetime.timezone", "pandas.DatetimeTZDtype",
    "sklearn.decomposition._truncated_svd.TruncatedSVD",
    "sklearn.feature_extraction.text.TfidfTransformer",
    "sklearn.feature_extraction.text.TfidfVectorizer", "sklearn.pipeline.Pipeline",
    "sklearn.preprocessing._encoders.OneHotEncoder",
    "sklearn.preprocessing._encoders.OrdinalEncoder",
    "sklearn.preprocessing._target_encoder.TargetEncoder",
    "skrub._clean_categories.CleanCategories", "skrub._clean_null_strings.CleanNullStrings",
    "skrub._datetime_encoder.DatetimeEncoder", "skrub._drop_uninformative.DropUninformative",
    "skrub._string_encoder.StringEncoder", "skrub._to_datetime.ToDatetime",
    "skrub._to_float.ToFloat", "skrub._to_str.ToStr",
    "zoneinfo.ZoneInfo",
}  # fmt: skip
"""Types of objects that a file may contain, and no others that skops would trust."""

DATA_LOADERS = {
    "DTypeNode", "DictNode", "JsonNode", "ListNode", "NdArrayNode", "TupleNode", "TypeNode",
}  # fmt: skip
OBJECT_LOADERS = {"ConstructorFromReduceNode", "ObjectNode"}
"""What skops may do: make values of Python and NumPy, and objects of `OBJECTS`, but call no
functions or methods that a file names."""

FIXED = {"input": '"content"', "memory": "null"}
"""Attributes that would read files."""

PIPELINE = "OrdinalEncoder", "TargetEncoder"
"""Steps of a pipeline, by their classes."""

MAX_GROWTH, MAX_BYTES = 200, 2**28
"""Maximum size of the transformers relative to their compressed size, and in bytes."""


def pack_encoder(encoder: TableEncoder) -> dict[str, Any]:
    """Convert a fitted encoder to JSON values."""
    check_is_fitted(encoder)
    skops = _import_skops()
    steps = [column.steps for column in encoder.columns_]
    packed = skops.dumps(steps, compression=zipfile.ZIP_DEFLATED)
    seed = encoder.random_state
    return {
        "skrub": version("skrub"),
        "scikit-learn": version("scikit-learn"),
        "random_state": int(seed) if isinstance(seed, Integral) else None,
        "names": list(encoder.feature_names_in_),
        "columns": [
            {
                "name": column.name,
                "kind": column.kind,
                "details": column.details,
                "outputs": column.outputs,
                "converted": column.converted,
                "shift": column.shift,
                "means": column.means,
                "format": None if column.format is None else asdict(column.format),
            }
            for column in encoder.columns_
        ],
        "steps": base64.b64encode(packed).decode(),
    }


def unpack_encoder(path: Any, document: Any) -> TableEncoder:
    """Invert `pack_encoder`; raise ValueError, which names the file, if that is impossible."""
    import_skrub()
    skops = _import_skops()
    try:
        require(document["skrub"] == version("skrub"), "its version of skrub is another")
        same = document["scikit-learn"] == version("scikit-learn")
        encoder = _unpack(document, skops)
    except MemoryError:
        raise
    except Exception as error:  # a file that was changed, or the steps of another version
        raise ValueError(
            f"{path}: its encoder of columns cannot be restored ({error}); it was written with "
            f"{_versions(document)}: install that version, or train again"
        ) from error
    if not same and any(column.steps for column in encoder.columns_):
        warnings.warn(
            f"{path}: its encoder of columns may give other values, as it was written with "
            f"{_versions(document)}; install that version, or train again",
            DataWarning,
            stacklevel=2,
        )
    return encoder


def _versions(document: Any) -> str:
    """Name the version of the package that the writer had, and the one that is installed."""
    known = document if isinstance(document, dict) else {}
    packages = "skrub", "scikit-learn"
    package = next((name for name in packages if known.get(name) != version(name)), "skrub")
    return f"{package} {known.get(package)}, and this is {package} {version(package)}"


def _unpack(document: Any, skops: Any) -> TableEncoder:
    names, columns = document["names"], document["columns"]
    require(_are_names(names) and type(columns) is list, "its columns are invalid")
    packed = base64.b64decode(document["steps"], validate=True)
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        n_bytes = sum(entry.file_size for entry in archive.infolist())
        require(n_bytes <= min(MAX_BYTES, MAX_GROWTH * len(packed)), "it is too large")
        _check_schema(json.loads(archive.read("schema.json")))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InconsistentVersionWarning)  # one for each transformer
        steps = skops.loads(packed, trusted=[*OBJECTS, "numpy.dtype"])
    require(type(steps) is list and all(type(its) is list for its in steps), "it has no steps")
    for step in (step for its_steps in steps for step in its_steps):
        require(hasattr(step, "transform"), "it contains something else than transformers")
        if isinstance(step, Pipeline):
            classes = tuple(type(inner).__name__ for _, inner in step.steps)
            require(classes == PIPELINE, f"it contains a pipeline of {', '.join(classes)}")
    encoder = TableEncoder(
        **_parameters(columns, names), random_state=_seed(document["random_state"])
    )
    encoder.feature_names_in_, encoder.n_features_in_ = np.array(names, dtype=object), len(names)
    encoder.columns_ = [
        _unpack_column(entry, its_steps, names)
        for entry, its_steps in zip(columns, steps, strict=True)
    ]
    _try(encoder)
    return encoder


def _check_schema(node: Any) -> None:
    """Refuse all types and loaders that encoders do not need, wherever they are."""
    if isinstance(node, list):
        for part in node:
            _check_schema(part)
    if not isinstance(node, dict):
        return
    if "__loader__" in node:
        loader, module = node["__loader__"], node.get("__module__")
        name = f"{module}.{node.get('__class__')}"
        data = loader in DATA_LOADERS and module in ("builtins", "numpy")
        require(data or (loader in OBJECT_LOADERS and name in OBJECTS), f"it contains {name}")
    for key, part in node.items():
        if key in FIXED and isinstance(part, dict):
            require(part.get("content") == FIXED[key], f"it reads files: {key}")
        _check_schema(part)


def _parameters(columns: list[Any], names: list[str]) -> dict[str, Any]:
    """Parameters that read the columns of a table as those of the file."""
    kinds = [(entry["name"], entry["kind"]) for entry in columns if entry["converted"]]
    return {
        "categorical": [name for name, kind in kinds if kind == "categories"],
        "numeric": [name for name, kind in kinds if kind == "numbers"],
        "ignored": [name for name in names if name not in {entry["name"] for entry in columns}],
    }


def _seed(seed: Any) -> int | None:
    require(seed is None or (type(seed) is int and 0 <= seed < 2**32), "its seed is invalid")
    return seed


def _unpack_column(entry: Any, steps: Any, names: list[str]) -> EncodedColumn:
    format = None if entry["format"] is None else NumberFormat(**entry["format"])
    column = EncodedColumn(**{**entry, "format": format}, steps=steps)
    valid = column.name in names and column.kind in {*KINDS.values(), "numbers", "empty"}
    valid = valid and type(column.details) is str and type(column.converted) is bool
    valid = valid and column.details.isprintable() and _are_names(column.outputs)
    valid = valid and _are_means(column) and type(column.shift) is float
    valid = valid and bool(np.isfinite(column.shift))
    require(valid and (format is None or _is_format(format)), "a column is invalid")
    return column


def _are_means(column: EncodedColumn) -> bool:
    """Whether numbers and dates have a mean for each output, but the indicator of missing ones."""
    if column.kind not in ("numbers", "dates"):
        return column.means == []
    valid = type(column.means) is list and 0 <= len(column.outputs) - len(column.means) <= 1
    return valid and all(type(mean) is float and np.isfinite(mean) for mean in column.means)


def _is_format(format: NumberFormat) -> bool:
    return format.unit in UNITS and format.separator in SEPARATORS


def _are_names(names: Any) -> bool:
    return type(names) is list and all(type(name) is str for name in names)


def _try(encoder: TableEncoder) -> None:
    """Encode a row, which shows whether the transformers fit together."""
    import pandas as pd

    names = list(encoder.feature_names_in_)
    require(len(set(names)) == len(names), "two columns have the same name")
    row = pd.DataFrame({name: pd.Series([None], dtype=object) for name in names})
    n_outputs = len(encoder.get_feature_names_out())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        require(encoder.transform(row).shape == (1, n_outputs), "its outputs are wrong")


def _import_skops() -> Any:
    try:
        import skops.io
    except ImportError as error:
        raise ImportError("storing an encoder needs skops: pip install 'hssvm[tables]'") from error
    return skops.io
