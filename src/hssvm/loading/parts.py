"""A loaded model as parts, and the columns that it reads and writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.pipeline import Pipeline

from hssvm.io.columns import Known
from hssvm.loading.model import CLASSES
from hssvm.tables import TableEncoder


def split_model(model: Any) -> tuple[Any, TableEncoder | None]:
    """Return the estimator, and the encoder in front of it, None if there is none.

    Raise TypeError for others than `load` returns.
    """
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    encoders = all(isinstance(step, TableEncoder) for step in steps[:-1])
    if len(steps) > 2 or not encoders or type(steps[-1]).__name__ not in CLASSES:
        names = " and ".join(type(step).__name__ for step in steps)
        raise TypeError(
            f"expected a model of hssvm, behind a TableEncoder or alone, but not {names}; store it "
            "with skops or joblib, and call its predict"
        )
    return steps[-1], steps[0] if len(steps) == 2 else None


def known_columns(
    model: Any,
    encoder: TableEncoder | None,
    target: str | int | None = None,
    ignored: Sequence[str | int] = (),
) -> Known:
    """Return the rule that selects the columns of a fitted model."""
    names = getattr(model, "feature_names_in_", None) if encoder is None else used_names(encoder)
    n_features = model.n_features_in_ if names is None else len(names)
    names = None if names is None else list(names)
    return Known(n_features, names, model.target_name_, target, ignored)


def used_names(encoder: TableEncoder) -> list[str]:
    """Names of the columns that an encoder needs."""
    return [column.name for column in encoder.columns_ if column.outputs]


def output_columns(estimator: Any, name: str, predicted: Any) -> dict[str, Any]:
    """Name the columns of predictions, (m,) or (m, k): `name`, or one for each class or quantile.

    Several targets, and quantiles of which two are the same, are numbered.
    """
    if predicted.ndim == 1:
        return {name: predicted}
    several = getattr(estimator, "classes_", getattr(estimator, "quantile_", ()))
    if len(set(several)) < predicted.shape[1]:  # several targets, or a quantile twice
        several = range(predicted.shape[1])
    return {f"{name}_{one}": predicted[:, j] for j, one in enumerate(several)}
