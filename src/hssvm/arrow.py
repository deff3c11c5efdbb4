"""Predictions where data live: Arrow record batches in, Arrow record batches out.

Spark, Ray, DuckDB and Polars hand over their rows in this form, so one function serves all of them;
docs/guide/score.md has the recipes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from hssvm.io.columns import Known
from hssvm.io.parquet import numbers_of
from hssvm.loading import load
from hssvm.loading.parts import known_columns, output_columns, split_model
from hssvm.messages import Message, api
from hssvm.tables import TableEncoder

if TYPE_CHECKING:
    import pyarrow

METHODS = {
    "prediction": "predict",
    "probability": "predict_proba",
    "decision": "decision_function",
}


def predict_batches(
    model: Any,
    batches: Iterable[pyarrow.RecordBatch],
    *,
    output: Literal["prediction", "probability", "decision"] = "prediction",
    keep: Sequence[str] = (),
) -> Iterator[pyarrow.RecordBatch]:
    """Predict the rows of Arrow record batches, one batch at a time.

    Columns are matched by name, or by position if the model was trained without names. Batches
    without rows are left out.

    Parameters
    ----------
    model : estimator, Pipeline or path
        A fitted model, also behind a `TableEncoder` as `load` returns it; or a model file.
    batches : iterable of pyarrow.RecordBatch
        Such as a `pyarrow.RecordBatchReader`.
    output : {'prediction', 'probability', 'decision'}, default='prediction'
        What `predict`, `predict_proba` or `decision_function` returns.
    keep : sequence of str
        Columns to copy, such as an identifier.

    Yields
    ------
    pyarrow.RecordBatch
        The columns to keep, and one with the name of the output; or several, such as
        ``probability_yes``, one for each class or quantile.

    Examples
    --------
    >>> import numpy as np
    >>> import pyarrow as pa
    >>> from hssvm import SVC
    >>> from hssvm.arrow import predict_batches
    >>> X = np.random.default_rng(0).standard_normal((500, 2))
    >>> model = SVC().fit(X, np.where(np.hypot(*X.T) < 1, "in", "out"))
    >>> rows = pa.table({"x": [0.1, 2.0], "y": [0.2, 1.0]})
    >>> next(predict_batches(model, rows.to_batches())).to_pydict()
    {'prediction': ['in', 'out']}
    """
    import pyarrow

    if output not in METHODS:
        raise ValueError(f"output must be one of {', '.join(map(repr, METHODS))}, got {output!r}")
    loaded = load(model) if isinstance(model, str | os.PathLike) else model
    estimator, encoder = split_model(loaded)
    if not hasattr(estimator, METHODS[output]):
        raise ValueError(
            Message(f"the {type(estimator).__name__} has no {METHODS[output]}; change {api:output}")
        )
    rule = known_columns(estimator, encoder)
    nameless = copy(estimator)  # the rows have no names once their columns are chosen
    nameless.__dict__.pop("feature_names_in_", None)
    for batch in batches:
        if batch.num_rows == 0:
            continue
        table = pyarrow.Table.from_batches([batch])
        kept = {name: _kept(batch, name) for name in keep}
        X = _features(table.drop_columns(_only_kept(keep, rule)), rule, encoder)
        predicted = getattr(nameless, METHODS[output])(X)
        columns = kept | output_columns(estimator, output, predicted)
        yield pyarrow.RecordBatch.from_pydict(columns)


def _kept(batch: Any, name: str) -> Any:
    if name not in batch.schema.names:
        names = ", ".join(map(repr, batch.schema.names))
        raise ValueError(f"the rows have no column {name!r} to keep; their columns are {names}")
    return batch.column(name)


def _only_kept(keep: Sequence[str], rule: Known) -> list[str]:
    """Columns to keep that are not features, so that the others can be matched by position."""
    return [name for name in keep if rule.feature_names is None or name not in rule.feature_names]


def _features(table: Any, rule: Known, encoder: TableEncoder | None) -> Any:
    """Return the rows of a table as the estimator takes them."""
    source: Any = "the batch"
    columns = rule.choose(source, table.num_columns, table.column_names)
    if encoder is not None:
        return encoder.transform(table.select(columns.features))
    values = np.empty((table.num_rows, len(columns.features)))
    for to, j in enumerate(columns.features):
        values[:, to] = numbers_of(source, table, j, 0)
    return values
