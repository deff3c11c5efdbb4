"""Files of models, and of pipelines with the encoder of a table."""

from __future__ import annotations

from os import PathLike
from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from hssvm.loading.model import CLASSES
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
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    encoders = all(isinstance(step, TableEncoder) for step in steps[:-1])
    if len(steps) > 2 or not encoders or type(steps[-1]).__name__ not in CLASSES:
        raise TypeError(
            "a model file contains a model of hssvm, behind a TableEncoder or alone, but not "
            f"{' and '.join(type(step).__name__ for step in steps)}; store it with skops or joblib"
        )
    encoder = _packed(*steps) if len(steps) == 2 else None
    steps[-1]._write(path, encoder)  # noqa: SLF001


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
