"""Predictions where data live: Arrow record batches in, Arrow record batches out.

Spark, Ray, DuckDB and Polars hand over their rows in this form, so one function serves all of them;
docs/guide/score.md has the recipes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from hssvm.io.parquet import numbers_of
from hssvm.loading import load
from hssvm.loading.parts import known_columns, output_columns, split_model
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
    keep: str | Sequence[str] = (),
) -> Iterator[pyarrow.RecordBatch]:
    """Predict the rows of Arrow record batches, one batch at a time.

    Columns are matched by name, or by position if the model was trained without names.

    Parameters
    ----------
    model : estimator, Pipeline or path
        A fitted model, also behind a `TableEncoder` as `load` returns it; or a model file.
    batches : iterable of pyarrow.RecordBatch
        Such as a `pyarrow.RecordBatchReader`, or a `pyarrow.Table`.
    output : {'prediction', 'probability', 'decision'}, default='prediction'
        What `predict`, `predict_proba` or `decision_function` returns.
    keep : str or sequence of str
        Columns to copy, such as an identifier.

    Returns
    -------
    iterator of pyarrow.RecordBatch
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
    >>> next(predict_batches(model, rows)).to_pydict()
    {'prediction': ['in', 'out']}
    """
    import pyarrow

    if output not in METHODS:
        raise ValueError(f"output must be one of {', '.join(map(repr, METHODS))}, got {output!r}")
    loaded = load(model) if isinstance(model, str | os.PathLike) else model
    estimator, encoder = split_model(loaded)
    check_is_fitted(estimator)
    if not hasattr(estimator, METHODS[output]):
        raise ValueError(
            f"the {type(estimator).__name__} has no {METHODS[output]}; change the output"
        )
    if isinstance(batches, pyarrow.Table):
        batches = batches.to_batches()
    keep = [keep] if isinstance(keep, str) else keep
    return _Predictions(estimator, encoder, output, keep).of(batches)


class _Predictions:
    """Predicts batches, and counts their rows for error messages."""

    def __init__(
        self, estimator: Any, encoder: TableEncoder | None, output: str, keep: Sequence[str]
    ) -> None:
        self.output, self.keep, self.encoder = output, keep, encoder
        self.rule = replace(known_columns(estimator, encoder), trained_target=None)
        self.estimator = copy(estimator)  # its rows have no names once their columns are chosen
        self.estimator.__dict__.pop("feature_names_in_", None)
        self.n_rows = 0

    def of(self, batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow

        for batch in batches:
            kept = {name: self._kept(batch, name) for name in self.keep}
            columns = output_columns(self.estimator, self.output, self._predicted(batch))
            if again := kept.keys() & columns.keys():
                raise ValueError(f"the predictions have a column {again.pop()!r}; do not keep it")
            yield pyarrow.RecordBatch.from_pydict(kept | columns)
            self.n_rows += batch.num_rows

    def _kept(self, batch: Any, name: str) -> Any:
        if name not in batch.schema.names:
            names = ", ".join(map(repr, batch.schema.names))
            raise ValueError(f"the rows have no column {name!r} to keep; their columns are {names}")
        return batch.column(name)

    def _predicted(self, batch: Any) -> NDArray[Any]:
        predict = getattr(self.estimator, METHODS[self.output])
        if batch.num_rows == 0:  # the types and columns of some rows
            return predict(np.zeros((1, self.estimator.n_features_in_)))[:0]
        return predict(self._features(batch))

    def _features(self, batch: Any) -> Any:
        """Return the rows of a batch as the estimator takes them."""
        import pyarrow

        table, names = pyarrow.Table.from_batches([batch]), self.rule.feature_names
        others = [name for name in self.keep if names is None or name not in names]
        table, source = table.drop_columns(others), cast("Any", "the data")
        if names is None and table.num_columns != self.rule.n_features:
            raise ValueError(
                f"the model has {self.rule.n_features} features without names, but the rows have "
                f"{table.num_columns} columns besides those to keep; select the features"
            )
        columns = self.rule.choose(source, table.num_columns, table.column_names)
        if self.encoder is not None:
            return np.asarray(self.encoder.transform(table.select(columns.features)))
        values = np.empty((table.num_rows, len(columns.features)))
        for to, j in enumerate(columns.features):
            values[:, to] = numbers_of(source, table, j, self.n_rows)
        return values
