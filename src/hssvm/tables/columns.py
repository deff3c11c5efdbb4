"""One column of a table: how it is read, and its encoding."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hssvm.exceptions import DataWarning
from hssvm.messages import Message, api, value_error
from hssvm.tables.targets import TableTargets

if TYPE_CHECKING:
    import pandas as pd

MAX_LEVELS = 10
"""Levels that are one-hot encoded. More of them are encoded by the means of their targets, which
need one feature instead of many, and tell levels apart that are rare."""

NEARLY = 0.95
"""Minimum share of numbers among the values of a column, of which the others count as missing."""

COLLECTIONS = (list, tuple, dict, set, np.ndarray)

NULL_STRINGS = {"", "?", "na", "n/a", "nan", "null", "none", "NA", "N/A", "NaN", "NULL", "None"}
"""Text that means a missing value, of which no warning is necessary."""

KINDS = {
    "numeric": "numbers",
    "datetime": "dates",
    "low_cardinality": "categories",
    "high_cardinality": "categories",
}
"""Kinds of columns, by the names that `skrub.TableVectorizer` gives them."""


@dataclass(frozen=True, eq=False)
class EncodedColumn:
    """A column that has been read.

    Attributes
    ----------
    name : str
    kind : {'numbers', 'dates', 'categories', 'empty'}
    details : str
        What else is worth knowing.
    outputs : list of str
        Names of the encoded features.
    converted : bool
        Whether values are first converted to the kind; otherwise the steps do this.
    steps : list of transformers
        They are applied one after the other.
    """

    name: str
    kind: str
    details: str
    outputs: list[str]
    converted: bool
    steps: list[Any]

    def transform(self, column: pd.Series) -> NDArray[np.float32]:
        """Encode the column of new rows, (n, n_outputs)."""
        import pandas as pd

        try:
            values: Any = as_kind(column, self.kind if self.converted else None)
            if self.kind == "categories":
                values = as_text(values)
            else:
                self._warn_of_misfits(column, column, values)
            for step in self.steps:
                before = values
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # new levels
                    values = _apply(step, values)
                if self.kind != "categories" and isinstance(values, pd.Series):
                    self._warn_of_misfits(column, before, values)
            return _as_matrix(values, len(column))
        except Exception as error:
            raise _column_error(self.name, error) from error

    def _warn_of_misfits(self, column: pd.Series, before: Any, after: Any) -> None:
        warn_of_misfits(column[(before.notna() & after.isna()).to_numpy()], self.kind)


def warn_of_misfits(values: pd.Series, kind: str, remedy: str = "") -> None:
    """Warn that values of a column are not of its kind, except for words that mean missing."""
    known = values[values.notna() & ~values.astype(str).str.strip().isin(NULL_STRINGS)]
    if len(known):
        message = (
            f"column {str(values.name)!r} contains {kind}, but {len(known):,} of its values "
            f"cannot be read as such, for example {str(known.iloc[0])[:40]!r}; they count as "
            f"missing{remedy}"
        )
        warnings.warn(Message(message), DataWarning, stacklevel=2)


def encode_column(
    column: pd.Series, kind: str | None, targets: TableTargets | None, random_state: Any
) -> tuple[EncodedColumn, NDArray[np.float32]]:
    """Decide how a column of the training rows is read, and encode it.

    Parameters
    ----------
    column : Series
    kind : {'numbers', 'categories'}, optional
        By default, the values decide.
    targets : TableTargets, optional
    random_state
        Of the parts of the rows that cross-fit the means of the targets.
    """
    name = str(column.name)
    try:
        return _encode(column, kind, targets, random_state)
    except Exception as error:
        raise _column_error(name, error) from error


def _encode(
    column: pd.Series, kind: str | None, targets: TableTargets | None, random_state: Any
) -> tuple[EncodedColumn, NDArray[np.float32]]:
    import pandas as pd

    name = str(column.name)
    if kind is None and isinstance(column.dtype, pd.CategoricalDtype):
        kind = "categories"
    elif kind is None and _is_text_of_numbers(column):
        kind = "numbers"
    values = as_kind(column, kind)
    if kind == "numbers":
        remedy = f", unless you pass {api:categorical={[name]}}"
        warn_of_misfits(column[(column.notna() & values.isna()).to_numpy()], kind, remedy)
    vectorizer = _vectorizer(targets, random_state)
    if kind == "categories":  # even if their text is that of numbers
        few = values.nunique() <= MAX_LEVELS
        encoder = vectorizer.low_cardinality if few else vectorizer.high_cardinality
        vectorizer.set_params(specific_transformers=[(encoder, [name])])
    with warnings.catch_warnings():
        # Of dates in several formats, and of levels that a part of the rows lacks.
        warnings.simplefilter("ignore")
        encoded = vectorizer.fit_transform(
            values.to_frame(), None if targets is None else targets.y
        )
    found = kind or KINDS.get(vectorizer.column_to_kind_.get(name, ""), "empty")
    steps = [step for step in vectorizer.all_processing_steps_[name] if hasattr(step, "transform")]
    outputs = [str(output) for output in encoded.columns]
    result = EncodedColumn(
        name, found, _details(values, found, steps), outputs, kind is not None, steps
    )
    return result, _as_matrix(encoded, len(column))


def _is_text_of_numbers(column: pd.Series) -> bool:
    """Whether (nearly) all text of a column is numbers, which may also look like years."""
    import pandas as pd

    if pd.api.types.is_numeric_dtype(column.dtype) or column.dtype.kind in "mMc":
        return False
    text = as_text(column).dropna()
    share = pd.to_numeric(text, errors="coerce").notna().mean() if len(text) else 0.0
    return bool(share >= NEARLY)


def _details(values: pd.Series, kind: str, steps: list[Any]) -> str:
    if kind == "categories":
        last = {"TargetEncoder": ", means of targets", "StringEncoder": ", parts of the text"}
        n_levels = as_text(values).nunique()
        text = f"{n_levels:,} level{'s' * (n_levels != 1)}"
        return text + last.get(type(steps[-1]).__name__, "")
    missing = int(values.isna().sum())
    return f"{missing:,} missing" if missing and kind != "empty" else ""


def _vectorizer(targets: TableTargets | None, random_state: Any) -> Any:
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, TargetEncoder

    skrub = import_skrub()
    levels = OneHotEncoder(
        drop="if_binary", dtype="float32", handle_unknown="ignore", sparse_output=False
    )
    many: Any = skrub.StringEncoder(n_components=MAX_LEVELS)
    if targets is not None and targets.kind is not None:
        many = TargetEncoder(target_type=targets.kind, random_state=random_state)
    return skrub.TableVectorizer(
        cardinality_threshold=MAX_LEVELS + 1,
        low_cardinality=levels,
        high_cardinality=many,
        numeric=SimpleImputer(add_indicator=True),
        datetime=make_pipeline(skrub.DatetimeEncoder(add_weekday=True), SimpleImputer()),
    )


def import_skrub() -> Any:
    """Import skrub."""
    try:
        import skrub
    except ImportError as error:
        raise ImportError("encoding a table needs skrub: pip install 'hssvm[tables]'") from error
    return skrub


def as_kind(column: pd.Series, kind: str | None) -> pd.Series:
    """Return a dense column, converted if its kind is given."""
    import pandas as pd

    if isinstance(column.dtype, pd.SparseDtype):
        column = column.sparse.to_dense()
    column = column.infer_objects()
    if column.dtype == object and any(issubclass(t, COLLECTIONS) for t in set(map(type, column))):
        raise ValueError("it contains lists or other collections")
    if column.dtype.kind == "m" and kind != "categories":
        column = column.dt.total_seconds()
    if column.dtype.kind == "c":
        raise ValueError("it contains complex numbers")
    if kind == "numbers":
        return pd.to_numeric(column, errors="coerce").astype(np.float64)
    return as_text(column) if kind == "categories" else column


def as_text(values: pd.Series) -> pd.Series:
    """Convert values to text; missing ones are None, and whole numbers have no decimal point."""
    import pandas as pd

    missing = values.isna()
    if pd.api.types.is_float_dtype(values) and (values[~missing] % 1 == 0).all():
        values = values.astype("Int64")
    text = values.astype(str)
    return text.astype(object).where(~(missing | text.isin(NULL_STRINGS)), None)


def _apply(step: Any, values: Any) -> Any:
    """Apply a step to a column, or to the frame of what the steps before have made of it."""
    if hasattr(step, "__single_column_transformer__") or not hasattr(values, "to_frame"):
        return step.transform(values)
    return step.transform(values.to_frame())


def _as_matrix(values: Any, n_rows: int) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):
        matrix: NDArray[np.float32] = np.asarray(values, np.float32).reshape(n_rows, -1)
    if not np.isfinite(matrix).all():
        raise ValueError("it contains infinite values, or values too large for float32")
    return matrix


def _column_error(name: str, error: Exception) -> ValueError:
    return value_error(
        f"column {name!r} cannot be encoded ({error}); convert it first, or leave it out by "
        f"{api:ignored}"
    )
