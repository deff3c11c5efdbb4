"""The encoder of tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from hssvm.messages import api, value_error
from hssvm.tables.columns import EncodedColumn, encode_column
from hssvm.tables.frames import as_frame, lacking, listed
from hssvm.tables.targets import targets_of

if TYPE_CHECKING:
    import pandas as pd


class TableEncoder(TransformerMixin, BaseEstimator):
    """Encode the columns of a table as numbers, for a pipeline with an estimator.

    The columns are read by `skrub.TableVectorizer`: numbers and dates that are stored as text are
    recognized. This class also recognizes numbers with a currency, a percent sign or thousands
    separators, and chooses what suits a kernel: missing numbers and dates become the mean, beside
    an indicator; categories of few levels are one-hot encoded, and those of many levels become the
    mean of the targets of each level, cross-fitted; dates become years, months, days, hours and
    weekdays, and their total. The estimator must scale the features: ``scaling="standard"``, or
    `SVCCV` and `SVRCV`, which choose a scaling. Indicators keep the range 1 there.

    Levels with fewer than five rows have one mean in common. If most levels are that rare, if there
    are no targets, or if classes are rare, a column becomes ten features of the parts of its text.
    Targets that are integers with at most 20 different values count as classes.

    It is used instead of `skrub.tabular_pipeline` because it also accepts new columns, another
    order of the columns, and frames of another library in `predict`; its errors name the column;
    importances can be summed by column; and it can be stored in the model file.

    Parameters
    ----------
    categorical : sequence of str, default=()
        Columns whose values are levels, although they look like numbers or dates.
    numeric : sequence of str, default=()
        Columns of numbers, although some values are text, which count as missing.
    ignored : sequence of str, default=()
        Columns that are not used.
    random_state : int, RandomState or None, default=0
        Determines the parts of the rows that cross-fit the means of targets, and the features of
        the parts of text.

    Attributes
    ----------
    columns_ : list of EncodedColumn
        How each column is read.
    output_columns_ : (n_outputs,) array of str
        The column of the table that each encoded feature belongs to.
    feature_names_in_ : (n_columns,) array of str
    n_features_in_ : int

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.pipeline import make_pipeline
    >>> from hssvm import SVC
    >>> from hssvm.tables import TableEncoder
    >>> frame = pd.DataFrame({
    ...     "city": ["Oslo", "Rome", "Rome", None, "Oslo", "Rome"] * 20,
    ...     "rooms": [1, 2, None, 4, 2, 5] * 20,
    ... })
    >>> y = (frame["city"] == "Rome").map({True: "south", False: "north"})
    >>> model = make_pipeline(TableEncoder(), SVC(scaling="standard")).fit(frame, y)
    >>> model.predict(pd.DataFrame({"rooms": [3, None], "city": ["Rome", "Oslo"]}))
    array(['south', 'north'], dtype=object)
    >>> print(model[0].describe())
    city   categories  2 levels
    rooms  numbers     20 missing
    """

    def __init__(
        self,
        categorical: Sequence[str] = (),
        numeric: Sequence[str] = (),
        ignored: Sequence[str] = (),
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.categorical = categorical
        self.numeric = numeric
        self.ignored = ignored
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn how to encode the columns.

        Parameters
        ----------
        X : frame of pandas or Polars, or Arrow table
        y : (n,), optional
            Targets, whose means encode categories of many levels.
        """
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> NDArray[np.float32]:
        """Learn how to encode the columns, and encode the rows.

        The means of targets are those of other rows, so that they do not tell the own target:
        each of five parts of the rows is encoded by the targets of the other four. `transform`
        uses the means of all rows; a model that is trained on its result believes noise.

        Parameters
        ----------
        X : frame of pandas or Polars, or Arrow table
        y : (n,), optional

        Returns
        -------
        (n, n_outputs) float32
        """
        frame = as_frame(X)
        named = self._named_columns(frame)
        targets = None if y is None else targets_of(y)
        if targets is not None and len(targets.y) != len(frame):
            raise ValueError(f"X has {len(frame)} rows, and y has {len(targets.y)}")
        self.feature_names_in_ = np.array(frame.columns, dtype=object)
        self.n_features_in_ = frame.shape[1]
        self.columns_, parts = list[EncodedColumn](), []
        kinds: dict[str, str | None] = dict.fromkeys(named["categorical"], "categories")
        kinds |= dict.fromkeys(named["numeric"], "numbers")
        for name in (name for name in frame.columns if name not in named["ignored"]):
            kind = kinds.get(name)
            column, values = encode_column(frame[name], kind, targets, self.random_state)
            self.columns_.append(column)
            parts.append(values)
        return self._joined(parts, len(frame))

    def transform(self, X: Any) -> NDArray[np.float32]:
        """Encode rows.

        Columns are matched by name, and others are not used. New levels count as none of those
        known; if there are only two, they count as the first, with a warning.

        Parameters
        ----------
        X : frame of pandas or Polars, or Arrow table

        Returns
        -------
        (n, n_outputs) float32
        """
        check_is_fitted(self)
        frame = as_frame(X)
        used = [column.name for column in self.columns_ if column.outputs]
        if missing := lacking(frame, used):
            raise ValueError(
                f"X has no {missing}, which the model was trained on; add what is missing, or "
                "train without it"
            )
        parts = [column.transform(frame[column.name]) for column in self.columns_ if column.outputs]
        return self._joined(parts, len(frame))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the encoded features.

        Parameters
        ----------
        input_features
            Not used.
        """
        check_is_fitted(self)
        return np.array([name for column in self.columns_ for name in column.outputs], dtype=object)

    @property
    def output_columns_(self) -> NDArray[np.object_]:
        """Column of the table that each encoded feature belongs to, (n_outputs,)."""
        names = [column.name for column in self.columns_ for _ in column.outputs]
        return np.array(names, dtype=object)

    def sum_by_column(self, values: Any) -> NDArray[Any]:
        """Sum values of the encoded features, such as importances, over each column of the table.

        Parameters
        ----------
        values : (..., n_outputs) array

        Returns
        -------
        (..., n_columns) array
            In the order of `feature_names_in_`; 0 for columns that are not used.
        """
        check_is_fitted(self)
        values, outputs = np.asarray(values), self.output_columns_
        if values.shape[-1] != outputs.size:
            raise ValueError(
                f"values has {values.shape[-1]} columns, but there are {outputs.size} encoded "
                "features; pass the values of the estimator behind this encoder"
            )
        sums = [values[..., outputs == name].sum(axis=-1) for name in self.feature_names_in_]
        return np.stack(sums, axis=-1)

    def describe(self) -> str:
        """Describe how each column is read, in a line each."""
        check_is_fitted(self)
        lines = [(column.name, column.kind, column.details) for column in self.columns_]
        widths = [max((len(line[j]) for line in lines), default=0) for j in range(2)]
        return "\n".join(
            f"{name:{widths[0]}}  {kind:{widths[1]}}  {details}".rstrip()
            for name, kind, details in lines
        )

    def _named_columns(self, frame: pd.DataFrame) -> dict[str, set[str]]:
        """Return the columns that each parameter names, as text; ValueError if they are wrong."""
        named = {}
        for parameter in ("categorical", "numeric", "ignored"):
            names = getattr(self, parameter)
            if isinstance(names, str):
                raise ValueError(f"{parameter} must be a list of names, got {names!r}")
            named[parameter] = set(map(str, names))
            if missing := lacking(frame, list(map(str, names))):
                raise value_error(f"X has no {missing}, which {api:{parameter}} names")
        both = sorted(named["categorical"] & named["numeric"])
        if both:
            raise value_error(f"{listed(both)} cannot be both {api:categorical} and {api:numeric}")
        if set(frame.columns) <= named["ignored"]:
            raise ValueError("X has no columns that are used; ignore fewer columns")
        return named

    def _joined(self, parts: list[NDArray[np.float32]], n_rows: int) -> NDArray[np.float32]:
        joined: NDArray[np.float32] = np.concatenate(
            [np.zeros((n_rows, 0), np.float32), *parts], axis=1
        )
        if joined.shape[1] == 0:
            raise ValueError("X has no values in any column; pass a table with values")
        return joined

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.categorical = tags.input_tags.allow_nan = True
        return tags
