"""Saving and loading of fitted models; the package docstring describes the file format."""

from __future__ import annotations

import inspect
import json
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import version
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hssvm.persistence.archive import Archive, require, write
from hssvm.persistence.plain import from_plain

FORMAT, VERSION = "hssvm model", 1

MODULES = {
    "SVC": "hssvm.estimators",
    "SVR": "hssvm.estimators",
    "OneClassSVM": "hssvm.estimators",
    "SVCCV": "hssvm.model_selection",
    "SVRCV": "hssvm.model_selection",
}
"""Classes that files may contain, and the modules that define them. These modules import this
package, so they are imported only when they are needed."""

LIBSVM_START = b"svm_type"
"""First bytes of a LIBSVM model file."""

SAVABLE: dict[str, tuple[type, Callable[..., None]]] = {}
"""Classes registered by `savable`, and their methods that restore a model."""


def savable(cls: type) -> type:
    """Class decorator that registers a class of `MODULES`."""
    SAVABLE[cls.__name__] = cls, cls._restore  # type: ignore[attr-defined]
    return cls


DAMAGE = (
    ValueError, TypeError, AttributeError, LookupError, ArithmeticError, RuntimeError, EOFError,
    OSError, struct.error, zipfile.BadZipFile, zlib.error,
)  # fmt: skip
"""Exceptions that a corrupted file may cause."""


def save_model(
    cls: type, document: dict[str, Any], arrays: dict[str, NDArray[Any]], path: str | PathLike[str]
) -> None:
    """Write a fitted model, given as a document and arrays, to a file."""
    name = cls.__name__
    if name not in MODULES or SAVABLE.get(name, (None,))[0] is not cls:
        raise ValueError(
            f"model files store {', '.join(MODULES)}, but not your class {name}; use joblib.dump"
        )
    header = {"format": FORMAT, "version": VERSION, "hssvm": version("hssvm"), "class": name}
    document = {**header, **document}
    try:
        restore_model(json.loads(json.dumps(document)), dict(arrays))
    except ValueError as error:
        raise ValueError(
            f"the model cannot be saved, because the file could not be loaded: {error}"
        ) from error
    write(path, document, arrays)


def load(path: str | PathLike[str]) -> Any:
    """Load a model that was saved by its `save` method.

    On the same machine, its predictions are identical to those of the saved model. Model files
    contain no code, so untrusted files are safe to load.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    SVC, SVCCV, SVR, SVRCV or OneClassSVM
        Fitted. A compressed model with more than one leaf has no `support_`, `support_vectors_` or
        `dual_coef_`.

    Raises
    ------
    ValueError
        If the file is corrupted, is not a model, or was saved by a newer version.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> import hssvm
    >>> X = np.random.default_rng(0).standard_normal((3000, 2))
    >>> y = np.where(np.hypot(*X.T) < 1, "in", "out")
    >>> path = os.path.join(tempfile.mkdtemp(), "rings.hssvm")
    >>> hssvm.SVC(C=10, random_state=0).fit(X, y).save(path)
    >>> hssvm.load(path).predict([[0.1, 0.2], [2.0, 1.0]])
    array(['in', 'out'], dtype='<U3')
    """
    with open(path, "rb") as file:
        if file.read(len(LIBSVM_START)) == LIBSVM_START:
            raise ValueError(
                f"{path} is a LIBSVM model; load it with hssvm.load_libsvm, or convert it with "
                "hssvm convert"
            )
        file.seek(0)
        with _as_value_error(path):
            archive = Archive(file)
            document = archive.document()
            require(document["format"] == FORMAT, "its format is unknown")
            found, writer = int(document["version"]), str(document["hssvm"])
        if found > VERSION:
            raise ValueError(
                f"{path} was saved by hssvm {writer} in version {found} of the format, but this "
                f"hssvm reads only versions up to {VERSION}; upgrade hssvm"
            )
        with _as_value_error(path), np.errstate(all="ignore"):
            require(found >= 1, f"version {found} of the format does not exist")
            return restore_model(document, archive.arrays())


def restore_model(document: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Any:
    """Create the model from a document and arrays."""
    name = document["class"]
    require(name in MODULES, f"its class is not one of {', '.join(MODULES)}")
    import_module(MODULES[name])
    cls, restore = SAVABLE[name]
    parameters = {key: from_plain(value) for key, value in document["parameters"].items()}
    unknown = sorted(parameters.keys() - inspect.signature(cls).parameters)
    require(
        not unknown, f"this version of {name} has no parameter {unknown}; a later one may have it"
    )
    model = cls(**parameters)
    restore(model, document, arrays)
    return model


@contextmanager
def _as_value_error(path: str | PathLike[str]) -> Iterator[None]:
    try:
        yield
    except DAMAGE as error:
        reason = str(error) if isinstance(error, ValueError) else repr(error)
        raise ValueError(
            f"{path} is corrupted, or not a model saved by hssvm ({reason}); save the model again, "
            "or load it with joblib if it was saved by joblib"
        ) from error
