"""A loaded model as parts, and the columns that it reads and writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hssvm.io.columns import Known
from hssvm.tables import TableEncoder


def split_model(model: Any) -> tuple[Any, TableEncoder | None]:
    """Return the estimator, and the encoder in front of it, None if there is none."""
    return (model[-1], model[0]) if hasattr(model, "steps") else (model, None)


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

    Several targets are numbered.
    """
    if predicted.ndim == 1:
        return {name: predicted}
    several = getattr(estimator, "classes_", getattr(estimator, "quantile_", None))
    several = range(predicted.shape[1]) if several is None else several
    return {f"{name}_{one}": predicted[:, j] for j, one in enumerate(several)}
