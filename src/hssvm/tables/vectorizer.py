"""The transformers of skrub and scikit-learn that suit a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hssvm.tables.targets import TableTargets

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


def make_vectorizer(values: pd.Series, targets: TableTargets | None, random_state: Any) -> Any:
    """Return a `skrub.TableVectorizer` for a column."""
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
        datetime=skrub.DatetimeEncoder(add_weekday=True),
    )


def has_target_means(steps: list[Any]) -> bool:
    """Whether the steps of a column of categories encode levels by means of targets."""
    return type(steps[-1]).__name__ == "Pipeline"


def import_skrub() -> Any:
    """Import skrub."""
    try:
        import skrub
    except ImportError as error:
        raise ImportError("encoding a table needs skrub: pip install 'hssvm[tables]'") from error
    return skrub
