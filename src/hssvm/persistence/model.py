"""Saving and loading of fitted models; the package says what is in the file."""

from __future__ import annotations

import json
import os
import struct
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import version
from typing import Any

import numpy as np

from hssvm.persistence.archive import Archive, require, write

FORMAT, VERSION = "hssvm model", 1

HOMES = {
    "SVC": "hssvm.estimators",
    "SVR": "hssvm.estimators",
    "OneClassSVM": "hssvm.estimators",
    "SVCCV": "hssvm.model_selection",
}
"""Classes that may be in a file. They use this package, so it imports them when they are needed."""

DAMAGE = (
    ValueError, TypeError, AttributeError, LookupError, ArithmeticError, RuntimeError, EOFError,
    OSError, struct.error, zipfile.BadZipFile,
)  # fmt: skip
"""What a file that is not as it should be may lead to."""


def save_model(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted model; `model.save` of the estimators."""
    name = type(model).__name__
    if name not in HOMES or _class(name) is not type(model):
        raise ValueError(
            f"a model file holds one of {', '.join(HOMES)}, not a class of your own, {name}; "
            "use joblib.dump"
        )
    document, arrays = model._pack()
    header = {"format": FORMAT, "version": VERSION, "hssvm": version("hssvm"), "class": name}
    document = {**header, **document}
    try:
        type(model)._unpack(json.loads(json.dumps(document)), dict(arrays))
    except ValueError as error:
        raise ValueError(f"the model is not saved, as it could not be loaded: {error}") from error
    write(path, document, arrays)


def load(path: str | os.PathLike[str]) -> Any:
    """Load a model from a file that its method `save` has written.

    It predicts as the model did that was saved, to the last bit on the same machine. Loading runs
    no code from the file, whoever has written it.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    SVC, SVCCV, SVR or OneClassSVM
        Fitted. A model on the compressed kernel has neither `support_`, `support_vectors_` nor
        `dual_coef_`, unless it is one leaf.

    Raises
    ------
    ValueError
        If the file is damaged, no model, or of a newer version.

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
        with _as_value_error(path):
            archive = Archive(file)
            document = archive.document()
            require(document["format"] == FORMAT, "its format is another")
            found, writer = int(document["version"]), str(document["hssvm"])
        if found > VERSION:
            raise ValueError(
                f"{path} was saved by hssvm {writer} in version {found} of the format, and this "
                f"hssvm reads up to version {VERSION}; upgrade hssvm"
            )
        with _as_value_error(path), np.errstate(all="ignore"):
            require(found == VERSION, f"there is no version {found} of the format")
            require(document["class"] in HOMES, f"its class is not one of {', '.join(HOMES)}")
            return _class(document["class"])._unpack(document, archive.arrays())


def _class(name: str) -> Any:
    return getattr(import_module(HOMES[name]), name)


@contextmanager
def _as_value_error(path: str | os.PathLike[str]) -> Iterator[None]:
    try:
        yield
    except DAMAGE as error:
        reason = str(error) if isinstance(error, ValueError) else repr(error)
        raise ValueError(
            f"{path} is damaged, or not a model that hssvm has saved ({reason}); save the model "
            "again, or load it with joblib if that has written it"
        ) from error
