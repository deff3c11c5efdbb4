"""Selection of the features, labels and weights among the columns of a table.

`Roles` is for training data: the caller names the target and weight columns, and all others are
features. `Known` is for prediction: it selects the columns that the model was trained on, by
name if there are names.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from hssvm.io.files import Source
from hssvm.messages import api, value_error


@dataclass(frozen=True)
class Columns:
    """Indices of the selected columns.

    Attributes
    ----------
    features : list of int
        In the order of X.
    label, weight : int or None
    names : list of str, or None
        Names of all columns of the table.
    n : int
        Number of columns of the table.
    """

    features: list[int]
    label: int | None
    weight: int | None
    names: list[str] | None
    n: int

    @property
    def feature_names(self) -> list[str] | None:
        """Names of the features, in the order of X."""
        return None if self.names is None else [self.names[j] for j in self.features]

    @property
    def target(self) -> str | int | None:
        """Name of the target column, or its index if the columns have no names."""
        return self.label if self.names is None or self.label is None else self.names[self.label]

    @property
    def unused(self) -> list[int]:
        """Columns that are not read."""
        used = {*self.features, self.label, self.weight}
        return [j for j in range(self.n) if j not in used]

    def title(self, j: int) -> str:
        """Description of a column for messages."""
        return f"column {j if self.names is None else repr(self.names[j])}"


class ColumnRule(ABC):
    """Selects the columns of a table."""

    @abstractmethod
    def is_header(self, fields: list[str]) -> bool:
        """Whether the first record of a file must be a header."""

    @abstractmethod
    def choose(self, source: Source, n: int, names: Sequence[str] | None) -> Columns:
        """Select from `n` columns, which may have names."""

    @abstractmethod
    def check_no_table(self, where: str) -> None:
        """Raise ValueError if the rule names columns, for a file without; `where` explains it."""


@dataclass(frozen=True)
class Roles(ColumnRule):
    """Rule by which all columns are features, except those given here by name or index.

    Attributes
    ----------
    target : str, int, None or False
        None is the first column; False if there is no target column.
    weight : str, int or None
    ignored : sequence of str or int
        Columns that are not read.
    guess : bool
        Whether None is the first column also if the columns have names; else this is an error.
    """

    target: str | int | None = None
    weight: str | int | None = None
    ignored: Sequence[str | int] = ()
    guess: bool = True

    def is_header(self, fields: list[str]) -> bool:
        """Whether a column is given by name, which requires a header."""
        return any(isinstance(c, str) for c in (self.target, self.weight, *self.ignored))

    def choose(self, source: Source, n: int, names: Sequence[str] | None) -> Columns:
        """Select from `n` columns, which may have names."""
        label = None
        ignored = _ignored_columns(source, self.ignored, n, names)
        if self.target is None and names is not None and not self.guess:
            raise value_error(
                f"{source} has column names; name the column of labels by {api:target}, one of "
                f"{_listed(names)}"
            )
        if self.target is not False:
            label = column_number(source, 0 if self.target is None else self.target, n, names)
            if n == 1:
                raise value_error(
                    f"{source} has only one column, which would be the target; check the separator "
                    f"if there should be more{api:, or pass target=False if it is a feature}"
                )
        weight = None if self.weight is None else column_number(source, self.weight, n, names)
        if weight is not None and weight == label:
            raise ValueError(f"{source}: column {self.weight!r} cannot be both label and weight")
        if not ignored.isdisjoint({label, weight}):
            raise ValueError(f"{source}: a column of labels or weights cannot be ignored")
        features = [j for j in range(n) if j not in (label, weight) and j not in ignored]
        if not features:
            raise ValueError(f"{source} has no feature columns")
        return Columns(features, label, weight, None if names is None else list(names), n)

    def check_no_table(self, where: str) -> None:
        """Raise ValueError if the rule names columns."""
        if self.target is not None and self.target is not False:
            raise ValueError(f"target applies only to tables; {where}")
        if self.weight is not None:
            raise ValueError("sample weights must be a column of a table, and this file is not one")
        _check_none_ignored(self.ignored)


@dataclass(frozen=True)
class Known(ColumnRule):
    """Rule that selects the columns that a model was trained on.

    Attributes
    ----------
    n_features : int
    feature_names : list of str, or None
    trained_target : str, int or None
        Target column of the training file, which may be missing.
    target : str, int or None
        Target column given by the caller, which must exist.
    ignored : sequence of str or int
        Columns that are not read, for tables or models without column names.
    """

    n_features: int
    feature_names: list[str] | None = None
    trained_target: str | int | None = None
    target: str | int | None = None
    ignored: Sequence[str | int] = ()

    def is_header(self, fields: list[str]) -> bool:
        """Whether the fields contain a known name."""
        known = [*(self.feature_names or ())]
        others = (self.target, self.trained_target, *self.ignored)
        known += [name for name in others if isinstance(name, str)]
        return not set(known).isdisjoint(fields)

    def choose(self, source: Source, n: int, names: Sequence[str] | None) -> Columns:
        """Select by name if the table and the model have names, else by position."""
        ignored = _ignored_columns(source, self.ignored, n, names)
        if names is None or self.feature_names is None:
            return self._by_position(source, n, names, ignored)
        missing = [name for name in self.feature_names if name not in names]
        if missing:
            raise ValueError(
                f"{source} lacks {_listed(missing)}, which the model was trained on; its columns "
                f"are {_listed(names)}"
            )
        require_distinct(source, names, self.feature_names)
        features = [names.index(name) for name in self.feature_names]
        label = None
        if self.target is not None:
            label = column_number(source, self.target, n, names)
        elif self.trained_target in names:
            label = names.index(str(self.trained_target))
        if label in features:
            raise ValueError(
                f"{source}: column {names[label]!r} cannot be the target, as it is a feature of "
                "the model"
            )
        for j in ignored.intersection(features):
            raise ValueError(
                f"{source}: column {names[j]!r} cannot be ignored, as it is a feature of the model"
            )
        return Columns(features, label, None, list(names), n)

    def _by_position(
        self, source: Source, n: int, names: Sequence[str] | None, ignored: set[int]
    ) -> Columns:
        left = [j for j in range(n) if j not in ignored]
        target = self.trained_target if self.target is None else self.target
        if isinstance(target, str) and (names is None or target not in names):
            target = self.target
        columns = None if names is None else list(names)
        if len(left) == self.n_features and self.target is None:
            return Columns(left, None, None, columns, n)
        if len(left) != self.n_features + 1:
            raise ValueError(
                f"{source} has {len(left)} columns, but the model has {self.n_features} features; "
                f"the file must have {self.n_features} columns, or {self.n_features + 1} with the "
                "labels"
            )
        if target is None:
            raise ValueError(
                f"{source} has one column more than the model has features; pass the index of the "
                "column of labels as target"
            )
        label = column_number(source, target, n, names)
        if label in ignored:
            raise ValueError(f"{source}: the column of labels cannot be ignored")
        return Columns([j for j in left if j != label], label, None, columns, n)

    def check_no_table(self, where: str) -> None:
        """Raise ValueError if the rule names columns."""
        if self.target is not None:
            raise ValueError(f"target applies only to tables; {where}")
        _check_none_ignored(self.ignored)


def _ignored_columns(
    source: Source, ignored: Sequence[str | int], n: int, names: Sequence[str] | None
) -> set[int]:
    return {column_number(source, column, n, names) for column in ignored}


def _check_none_ignored(ignored: Sequence[str | int]) -> None:
    if ignored:
        raise ValueError(
            f"only columns of a table can be ignored, and this file is not one; got {ignored[0]!r}"
        )


def column_number(source: Source, column: str | int, n: int, names: Sequence[str] | None) -> int:
    """Index of a column that is given by its name, or by an index that may be negative."""
    if isinstance(column, str):
        if names is None:
            raise ValueError(f"{source} has no column names; pass the index of {column!r}")
        if column not in names:
            raise ValueError(f"{source} has no column {column!r}; its columns are {_listed(names)}")
        return list(names).index(column)
    if not -n <= column < n:
        raise ValueError(f"{source} has no column {column}; its columns are 0 to {n - 1}")
    return column % n


def require_distinct(source: Source | str, names: Sequence[str], wanted: Sequence[str]) -> None:
    """Raise ValueError if several columns share one of the wanted names."""
    counts = Counter(names)
    for name in wanted:
        if counts[name] > 1:
            raise ValueError(f"{source} has {counts[name]} columns named {name!r}; rename them")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:10])) + (", ..." if len(names) > 10 else "")
