"""Which columns of a table are the features, the labels and the weights.

`Roles` are those of a table to learn from: the caller names the special columns, the others are
features. `Known` are those of a table to predict: the model has seen the columns before, and finds
them by name wherever there are names.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from hssvm.io.files import Source


@dataclass(frozen=True)
class Columns:
    """Numbers of the columns in use.

    Attributes
    ----------
    features : list of int
        In the order of X.
    label, weight : int or None
    names : list of str, or None
        Of all columns of the table.
    n : int
        How many there are.
    """

    features: list[int]
    label: int | None
    weight: int | None
    names: list[str] | None
    n: int

    @property
    def feature_names(self) -> list[str] | None:
        """In the order of X."""
        return None if self.names is None else [self.names[j] for j in self.features]

    @property
    def target(self) -> str | int | None:
        """Name of the column of labels, or its number where columns have no names."""
        return self.label if self.names is None or self.label is None else self.names[self.label]

    @property
    def unused(self) -> list[int]:
        """Columns that are not read."""
        used = {*self.features, self.label, self.weight}
        return [j for j in range(self.n) if j not in used]

    def title(self, j: int) -> str:
        """A column in a message."""
        return f"column {j if self.names is None else repr(self.names[j])}"


class ColumnRule(ABC):
    """Chooses the columns of a table."""

    @abstractmethod
    def is_header(self, fields: list[str]) -> bool:
        """Whether the first record of a file must be its header."""

    @abstractmethod
    def choose(self, source: Source, n: int, names: Sequence[str] | None) -> Columns:
        """Choose among `n` columns; `names` if they have any."""

    @abstractmethod
    def check_no_table(self, where: str) -> None:
        """Raise ValueError if the rule names columns, which `where` does not have."""


@dataclass(frozen=True)
class Roles(ColumnRule):
    """All columns are features but those named here, by name or number.

    Attributes
    ----------
    target : str, int, None or False
        None is the first column, False none.
    weight : str, int or None
    """

    target: str | int | None = None
    weight: str | int | None = None

    def is_header(self, fields: list[str]) -> bool:
        """A name needs a header."""
        return isinstance(self.target, str) or isinstance(self.weight, str)

    def choose(self, source: Source, n: int, names: Sequence[str] | None) -> Columns:
        """Choose among `n` columns; `names` if they have any."""
        label = None
        if self.target is not False:
            label = column_number(source, 0 if self.target is None else self.target, n, names)
            if n == 1:
                raise ValueError(
                    f"{source} has one column, which would be that of the labels; look for what "
                    "separates the columns if there should be more, or pass target=False if it is "
                    "a feature"
                )
        weight = None if self.weight is None else column_number(source, self.weight, n, names)
        if weight is not None and weight == label:
            raise ValueError(f"{source}: column {self.weight!r} cannot be both label and weight")
        features = [j for j in range(n) if j not in (label, weight)]
        if not features:
            raise ValueError(f"{source} has no columns left for features")
        return Columns(features, label, weight, None if names is None else list(names), n)

    def check_no_table(self, where: str) -> None:
        """Raise ValueError if a column is named; `where` has none."""
        if self.target is not None and self.target is not False:
            raise ValueError(f"target is for tables; {where}")
        if self.weight is not None:
            raise ValueError("weights are a column of a table, which this file is not")


@dataclass(frozen=True)
class Known(ColumnRule):
    """The columns that a model was trained on.

    Attributes
    ----------
    n_features : int
    feature_names : list of str, or None
    trained_target : str, int or None
        Column of the labels in the training file. It may be missing.
    target : str, int or None
        Column that the caller says to have the labels. It must be there.
    """

    n_features: int
    feature_names: list[str] | None = None
    trained_target: str | int | None = None
    target: str | int | None = None

    def is_header(self, fields: list[str]) -> bool:
        """Known names make a header."""
        known = [*(self.feature_names or ())]
        known += [name for name in (self.target, self.trained_target) if isinstance(name, str)]
        return not set(known).isdisjoint(fields)

    def choose(self, source: Source, n: int, names: Sequence[str] | None) -> Columns:
        """Choose by name if table and model have names, else by position."""
        if names is None or self.feature_names is None:
            return self._by_position(source, n, names)
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
                f"{source}: column {names[label]!r} is a feature of the model, and cannot be the "
                "target"
            )
        return Columns(features, label, None, list(names), n)

    def _by_position(self, source: Source, n: int, names: Sequence[str] | None) -> Columns:
        target = self.trained_target if self.target is None else self.target
        if isinstance(target, str) and (names is None or target not in names):
            target = self.target
        columns = None if names is None else list(names)
        if n == self.n_features and self.target is None:
            return Columns(list(range(n)), None, None, columns, n)
        if n != self.n_features + 1:
            raise ValueError(
                f"{source} has {n} columns, but the model has {self.n_features} features: the file "
                f"must have {self.n_features} columns, or {self.n_features + 1} with the labels"
            )
        if target is None:
            raise ValueError(
                f"{source} has one column more than the model has features; pass the number of the "
                "column of labels as target"
            )
        label = column_number(source, target, n, names)
        return Columns([j for j in range(n) if j != label], label, None, columns, n)

    def check_no_table(self, where: str) -> None:
        """Raise ValueError if a column is named; `where` has none."""
        if self.target is not None:
            raise ValueError(f"target is for tables; {where}")


def column_number(source: Source, column: str | int, n: int, names: Sequence[str] | None) -> int:
    """Number of a column that is given by its name, or by a number that may count from the end."""
    if isinstance(column, str):
        if names is None:
            raise ValueError(f"{source}: its columns have no names; pass the number of {column!r}")
        if column not in names:
            raise ValueError(f"{source} has no column {column!r}; its columns are {_listed(names)}")
        return list(names).index(column)
    if not -n <= column < n:
        raise ValueError(f"{source} has no column {column}; it has {n}, the first is 0")
    return column % n


def require_distinct(source: Source | str, names: Sequence[str], wanted: Sequence[str]) -> None:
    """Raise ValueError if two columns have one of the wanted names."""
    counts = Counter(names)
    for name in wanted:
        if counts[name] > 1:
            raise ValueError(f"{source} has {counts[name]} columns called {name!r}; rename them")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:10])) + (", ..." if len(names) > 10 else "")
