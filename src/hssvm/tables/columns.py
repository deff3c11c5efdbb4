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
from hssvm.tables.values import NULL_STRINGS, as_dates, as_kind, as_numbers, as_text

if TYPE_CHECKING:
    import pandas as pd

MAX_LEVELS = 10
"""Levels that are one-hot encoded. More of them are encoded by the means of their targets, which
need one feature instead of many."""

MIN_LEVEL_ROWS = 5
"""Rows of a level that has a mean of its own. Rarer levels have one in common: in new rows, the
targets of few rows would be taken for a mean."""

MIN_FREQUENT = 0.5
"""Minimum share of rows whose level has a mean; else the text is split into parts."""

NEARLY = 0.95
"""Minimum share of numbers among the values of a column, of which the others count as missing."""

MAX_OFFSET = 1e5
"""Largest magnitude of numbers relative to their standard deviation; larger ones are shifted, as
float32 would round their differences."""

KINDS = {
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
        Whether the kind was given, or found in text, rather than by skrub.
    shift : float
        Subtracted from numbers.
    mean : float
        Of the shifted numbers; it takes the place of missing ones.
    steps : list of transformers
        They encode columns that are not numbers, one after the other.
    """

    name: str
    kind: str
    details: str
    outputs: list[str]
    converted: bool
    shift: float
    mean: float
    steps: list[Any]

    @property
    def uses_targets(self) -> bool:
        """Whether levels are encoded by means of targets."""
        return self.kind == "categories" and _has_target_means(self.steps)

    def transform(self, column: pd.Series) -> NDArray[np.float32]:
        """Encode the column of new rows, (n, n_outputs)."""
        import pandas as pd

        try:
            values: Any = self._as_kind(column)
            if self.kind == "categories":
                self._warn_of_new_levels(values)
            else:
                self._warn_of_misfits(column, column, values)
            if self.kind == "numbers":
                return _imputed(values, self.mean, len(self.outputs))
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

    def _as_kind(self, column: pd.Series) -> pd.Series:
        if self.kind != "dates":
            values = as_kind(column, self.kind if self.kind in ("numbers", "categories") else None)
            return values - self.shift if self.kind == "numbers" else values
        values = as_kind(column, None)
        if values.dtype.kind in "biuf" and values.notna().any():
            raise ValueError("it contains numbers instead of dates")
        if values.dtype == object and not any(getattr(step, "format_", 0) for step in self.steps):
            return as_dates(values)
        return values

    def _warn_of_new_levels(self, values: pd.Series) -> None:
        """Warn of values that look like the first of two levels, as there is a single feature."""
        known = [*getattr(self.steps[-1], "categories_", [[]])[0]]
        if len(self.outputs) == 1 and len(known) == 2:
            new = ~values.isin(known)
            if new.any():
                message = (
                    f"column {self.name!r} has two levels, {known[0]!r} and {known[1]!r}, but "
                    f"{int(new.sum()):,} of its values are missing or new; they count as "
                    f"{known[0]!r}"
                )
                warnings.warn(Message(message), DataWarning, stacklevel=2)

    def _warn_of_misfits(self, column: pd.Series, before: Any, after: Any) -> None:
        warn_of_misfits(column[(before.notna() & after.isna()).to_numpy()], self.kind)


def warn_of_misfits(values: pd.Series, kind: str, remedy: str = "") -> None:
    """Warn that values of a column are not of its kind, except for words that mean missing."""
    if len(values) == 0:
        return
    known = values[values.notna() & ~values.astype(str).str.strip().str.lower().isin(NULL_STRINGS)]
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

    name, given = str(column.name), kind
    if kind is None and isinstance(column.dtype, pd.CategoricalDtype):
        kind = "categories"
    elif kind is None and _is_text_of_numbers(column):
        kind = "numbers"
    values = as_kind(column, kind)
    if kind == "numbers":
        remedy = "" if given else f", unless you pass {api:categorical={[name]}}"
        warn_of_misfits(column[(column.notna() & values.isna()).to_numpy()], kind, remedy)
    if values.dtype.kind in "biuf" and values.notna().any():
        return _encode_numbers(name, as_numbers(values), kind is not None)
    vectorizer = _vectorizer(values, targets, random_state)
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
    outputs = [str(output) for output in encoded.columns]
    found = kind or (KINDS[vectorizer.column_to_kind_[name]] if outputs else "empty")
    steps = [step for step in vectorizer.all_processing_steps_[name] if hasattr(step, "transform")]
    details = _details(values, found, steps)
    result = EncodedColumn(name, found, details, outputs, kind is not None, 0.0, 0.0, steps)
    return result, _as_matrix(encoded, len(column))


def _encode_numbers(
    name: str, values: pd.Series, converted: bool
) -> tuple[EncodedColumn, NDArray[np.float32]]:
    """Encode numbers as `sklearn.impute.SimpleImputer` would, in a tenth of its time."""
    shift, n_missing = _shift_of(values), int(values.isna().sum())
    values = values - shift
    with np.errstate(over="ignore", invalid="ignore"):
        mean = float(values.mean())
    details = [f"{n_missing:,} missing"] if n_missing else []
    details += [f"less {shift:,.0f}"] if shift else []
    outputs = [name, f"missingindicator_{name}"][: 1 + bool(n_missing)]
    encoded = _imputed(values, mean, len(outputs))
    return (
        EncodedColumn(name, "numbers", ", ".join(details), outputs, converted, shift, mean, []),
        encoded,
    )


def _imputed(values: pd.Series, mean: float, n_outputs: int) -> NDArray[np.float32]:
    """Replace missing numbers by the mean; the second output tells which ones they are."""
    numbers = values.to_numpy(np.float64)
    missing = np.isnan(numbers)
    filled = np.where(missing, mean, numbers)
    return _as_matrix(np.stack([filled, missing][:n_outputs], axis=1), len(numbers))


def _is_text_of_numbers(column: pd.Series) -> bool:
    """Whether (nearly) all text of a column is numbers, which may also look like years."""
    import pandas as pd

    if pd.api.types.is_numeric_dtype(column.dtype) or column.dtype.kind in "mMc":
        return False
    text = as_text(column).dropna()
    if len(text) == 0:
        return False
    if text.str.fullmatch(r"[-+]?\d+,\d+").mean() >= NEARLY:
        raise ValueError("its numbers have decimal commas")
    return bool(as_numbers(text).notna().mean() >= NEARLY)


def _shift_of(values: pd.Series) -> float:
    """Return the mean of numbers whose differences float32 would round, else 0."""
    known = values.dropna().to_numpy(np.float64)
    if known.size == 0 or not np.isfinite(known).all():
        return 0.0
    with np.errstate(over="ignore"):
        rounds = np.abs(known).max() > MAX_OFFSET * known.std()
    return float(np.round(known.mean())) if rounds and np.ptp(known) > 0 else 0.0


def _details(values: pd.Series, kind: str, steps: list[Any]) -> str:
    if kind == "categories":
        n_levels = values.nunique()
        text = f"{n_levels:,} level{'s' * (n_levels != 1)}"
        if _has_target_means(steps):
            return text + ", means of targets"
        parts = type(steps[-1]).__name__ == "StringEncoder"
        return text + ", parts of the text" * parts
    missing = int(values.isna().sum())
    return f"{missing:,} missing" if missing and kind != "empty" else ""


def _has_target_means(steps: list[Any]) -> bool:
    return type(steps[-1]).__name__ == "Pipeline"


def _vectorizer(values: pd.Series, targets: TableTargets | None, random_state: Any) -> Any:
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, TargetEncoder

    skrub = import_skrub()
    levels = OneHotEncoder(
        drop="if_binary", dtype="float32", handle_unknown="ignore", sparse_output=False
    )
    many: Any = skrub.StringEncoder(n_components=MAX_LEVELS, random_state=random_state)
    counts = values.value_counts(dropna=False)
    frequent = counts[counts >= MIN_LEVEL_ROWS].sum() >= MIN_FREQUENT * len(values)
    if frequent and targets is not None and targets.kind is not None:
        many = make_pipeline(
            OrdinalEncoder(
                min_frequency=MIN_LEVEL_ROWS, handle_unknown="use_encoded_value", unknown_value=-1
            ),
            TargetEncoder(target_type=targets.kind, random_state=random_state),
        )
    return skrub.TableVectorizer(
        cardinality_threshold=MAX_LEVELS + 1,
        low_cardinality=levels,
        high_cardinality=many,
        datetime=make_pipeline(skrub.DatetimeEncoder(add_weekday=True), SimpleImputer()),
    )


def import_skrub() -> Any:
    """Import skrub."""
    try:
        import skrub
    except ImportError as error:
        raise ImportError("encoding a table needs skrub: pip install 'hssvm[tables]'") from error
    return skrub


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
