"""Files of models, and of pipelines with the encoder of a table."""

from __future__ import annotations

from os import PathLike
from typing import Any

from sklearn.utils.validation import check_is_fitted

from hssvm.loading.parts import split_model
from hssvm.tables import TableEncoder
from hssvm.tables.storage import pack_encoder


def save(model: Any, path: str | PathLike[str]) -> None:
    """Save a fitted model, also behind the `TableEncoder` of a pipeline.

    `load` returns it. A file contains no code.

    Parameters
    ----------
    model : estimator or Pipeline
        A pipeline has two steps, a `TableEncoder` and a model.
    path : str or path

    Examples
    --------
    >>> import os, tempfile
    >>> import pandas as pd
    >>> from sklearn.pipeline import make_pipeline
    >>> import hssvm
    >>> from hssvm import SVC
    >>> from hssvm.tables import TableEncoder
    >>> frame = pd.DataFrame({"city": ["Oslo", "Rome", "Bern"] * 20, "rooms": range(60)})
    >>> model = make_pipeline(TableEncoder(), SVC(C=10, scaling="standard"))
    >>> model = model.fit(frame, frame["city"] == "Rome")
    >>> path = os.path.join(tempfile.mkdtemp(), "cities.hssvm")
    >>> hssvm.save(model, path)
    >>> hssvm.load(path).predict(frame[:3])
    array([False,  True, False])
    """
    estimator, encoder = split_model(model)
    estimator._write(path, None if encoder is None else _packed(encoder, estimator))  # noqa: SLF001


def _packed(encoder: TableEncoder, model: Any) -> dict[str, Any]:
    """Convert the encoder in front of a model to JSON values."""
    check_is_fitted(model)
    n_outputs = len(encoder.get_feature_names_out())
    if n_outputs != model.n_features_in_:
        raise ValueError(
            f"the encoder has {n_outputs} outputs, but the model has {model.n_features_in_} "
            "features; fit the pipeline"
        )
    return pack_encoder(encoder)
