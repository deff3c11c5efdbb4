"""Models from files written by their `save` method."""

from __future__ import annotations

from os import PathLike
from typing import Any

from hssvm.estimators import SVC, SVR, OneClassSVM
from hssvm.estimators.models.saving import restore_model
from hssvm.model_selection import SVCCV, SVRCV
from hssvm.persistence import as_corruption, read_model
from hssvm.persistence.archive import require

CLASSES = {cls.__name__: cls for cls in (SVC, SVR, OneClassSVM, SVCCV, SVRCV)}
"""Classes that files may contain."""


def load(path: str | PathLike[str]) -> Any:
    """Load a model that was saved by its `save` method.

    On the same machine, the loaded and the saved model make identical predictions. Model files
    contain no code, so untrusted files are safe to load.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    SVC, SVCCV, SVR, SVRCV or OneClassSVM
        Fitted. An approximation with more than one leaf has no `support_`, `support_vectors_` or
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
    name, document, arrays = read_model(path)
    with as_corruption(path):
        require(name in CLASSES, f"its class is not one of {', '.join(CLASSES)}")
        return restore_model(CLASSES[name], document, arrays)
