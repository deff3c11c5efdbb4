"""Models from files."""

from __future__ import annotations

from os import PathLike
from typing import Any

from sklearn.pipeline import Pipeline, make_pipeline

from hssvm.estimators import (
    SVC,
    SVR,
    CensoredSVR,
    GaussianProcessRegressor,
    KernelRidge,
    OneClassSVM,
    QuantileSVR,
)
from hssvm.estimators.models.saving import restore_model
from hssvm.model_selection import SVCCV, SVRCV, QuantileSVRCV
from hssvm.persistence import as_corruption, read_model
from hssvm.persistence.archive import require

CLASSES = {
    cls.__name__: cls
    for cls in (
        SVC,
        SVR,
        QuantileSVR,
        CensoredSVR,
        KernelRidge,
        GaussianProcessRegressor,
        OneClassSVM,
        SVCCV,
        SVRCV,
        QuantileSVRCV,
    )
}
"""Classes that files may contain."""


def load(path: str | PathLike[str]) -> Any:
    """Load a model, or a pipeline of an encoder and a model, from a file.

    On the same machine, the loaded and the saved model make identical predictions. Model files
    contain no code, so untrusted files are safe to load.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    SVC, SVCCV, SVR, SVRCV, QuantileSVR, QuantileSVRCV, CensoredSVR, KernelRidge, \
GaussianProcessRegressor or OneClassSVM
        Fitted; behind its `TableEncoder` in a `Pipeline` if the file contains one. An approximation
        with more than one leaf has no `support_`, `support_vectors_` or `dual_coef_`.

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
        model = restore_model(CLASSES[name], document, arrays)
        encoder = document["encoder"]
    return model if encoder is None else _behind(path, encoder, model)


def _behind(path: str | PathLike[str], document: Any, model: Any) -> Pipeline:
    """Return a pipeline of an encoder and the model behind it."""
    from hssvm.tables.storage import unpack_encoder

    encoder = unpack_encoder(path, document)
    with as_corruption(path):
        n_outputs = len(encoder.get_feature_names_out())
        require(n_outputs == model.n_features_in_, "its encoder does not match the model")
    if hasattr(model, "feature_names_in_"):  # it was trained behind `set_output`
        encoder.set_output(transform="pandas")
    return make_pipeline(encoder, model)
