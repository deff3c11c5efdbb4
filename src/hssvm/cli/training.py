"""Estimators from options, and their fits: begun, stopped and resumed."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
import typer
from rich.console import Console
from sklearn.model_selection import GridSearchCV

import hssvm
from hssvm.cli.messages import OPTIONS, tell
from hssvm.cli.options import Task, parse_separator
from hssvm.cli.progress import ProgressLine
from hssvm.cli.streams import data_source, load_model
from hssvm.estimators.base import gamma_of_rows
from hssvm.estimators.callbacks import ending_on_interrupt
from hssvm.estimators.scaling import Scaling
from hssvm.io.columns import ColumnRule, Known, require_distinct
from hssvm.io.read import read_table
from hssvm.io.table import Table

INTERRUPTED = 130
"""Exit code after Ctrl-C."""

ESTIMATORS: dict[Task, Any] = {
    Task.svc: hssvm.SVC,
    Task.svr: hssvm.SVR,
    Task.one_class: hssvm.OneClassSVM,
}

SVR_CS, SVR_WIDTHS = (0.1, 1.0, 10.0, 100.0), (0.25, 1.0, 4.0)
"""Values of C for a regression, and multiples of the gamma 'scale', that are tried by default."""


def make_estimator(task: Task, parameters: dict[str, Any]) -> Any:
    """Return the estimator of a task."""
    cls = ESTIMATORS[task]
    check_options(cls, parameters, f"--task {task.value}")
    return cls(**parameters)


def check_options(cls: Any, parameters: dict[str, Any], where: str) -> None:
    """Refuse options that the estimator would not use."""
    for name in parameters:
        if name not in cls._get_param_names():
            raise typer.BadParameter(f"{where} does not use it.", param_hint=OPTIONS[name])


def read(
    path: Path,
    progress: ProgressLine,
    rule: ColumnRule,
    *,
    format: str | None,
    separator: str | None,
    dtype: Any,
) -> Table:
    """Read a table, as a stage."""
    source = data_source(path)
    with progress.reading(source.fraction_read):
        return read_table(
            source, rule=rule, format=format, dtype=dtype, separator=parse_separator(separator)
        )


def require_trainable(table: Table, path: Path, labels: bool) -> Table:
    """Refuse a table without labels, or with names that could not be found again."""
    if labels and table.y is None:
        raise ValueError(f"{path} has no labels to learn from")
    if table.feature_names is not None:
        require_distinct(str(path), table.feature_names, table.feature_names)
    return table


def known_columns(model: Any, target: str | int | None) -> Known:
    """Return the rule that finds the columns of a fitted model."""
    names = getattr(model, "feature_names_in_", None)
    return Known(
        model.n_features_in_, None if names is None else list(names), model.target_name_, target
    )


def fit(estimator: Any, table: Table, progress: ProgressLine) -> None:
    """Fit; Ctrl-C ends it with the best coefficients so far, if there are any."""
    with ending_on_interrupt(progress.heard_interrupt):
        estimator.fit(table.X, table.y, sample_weight=table.sample_weight)
    remember(estimator, table)


def remember(estimator: Any, table: Table) -> None:
    """Give a fitted estimator what the file knows of its columns."""
    if table.feature_names is not None:
        estimator.feature_names_in_ = np.array(table.feature_names, dtype=object)
    estimator.target_name_ = table.target
    estimator.data_checksum_ = checksum(table)


def search_regression(
    estimator: Any,
    table: Table,
    Cs: list[float] | None,
    gammas: list[Any] | None,
    folds: int,
    scoring: str | None,
) -> GridSearchCV:
    """Choose C and gamma of an SVR."""
    if gammas is None:
        scaling = Scaling.of(table.X, estimator.scaling)
        width = gamma_of_rows("scale", scaling(table.X), np.ones(table.X.shape[0]))
        gammas = [width * factor for factor in SVR_WIDTHS]
    grid = {"C": list(SVR_CS) if Cs is None else Cs, "gamma": gammas}
    search = GridSearchCV(estimator, grid, cv=folds, scoring=scoring, error_score="raise")
    return search.fit(table.X, table.y, sample_weight=table.sample_weight)


def load_unfinished(path: Path, task: Task | None) -> Any:
    """Load a model whose fit can be resumed."""
    model = load_model(path)
    classes = ESTIMATORS.values() if task is None else [ESTIMATORS[task]]
    if type(model) not in classes:
        names = " or ".join(cls.__name__ for cls in classes)
        raise ValueError(f"{path} holds a {type(model).__name__}, which is not a {names}")
    if not hasattr(model, "dual_coef_"):
        raise ValueError(
            f"{path} is a finished model on the compressed kernel, without the coefficients to "
            "resume from; train again without --resume"
        )
    return model


def require_same_data(model: Any, table: Table, path: Path) -> None:
    """Refuse to resume on other data than those of the first fit."""
    n_rows = model.fit_report_.n_rows
    if table.X.shape != (n_rows, model.n_features_in_):
        raise ValueError(
            f"{path} has {table.X.shape[0]} rows and {table.X.shape[1]} features, the model was "
            f"trained on {n_rows} and {model.n_features_in_}; resume with the same data"
        )
    if model.data_checksum_ not in (None, checksum(table)):
        raise ValueError(
            f"{path} has other numbers, or another order, than what the model was trained on; "
            "resume with the same data, or train again without --resume"
        )


def checksum(table: Table) -> int:
    """CRC-32 of rows, labels and weights."""
    X = table.X
    arrays = [X.data, X.indices, X.indptr] if scipy.sparse.issparse(X) else [X]
    arrays += [array for array in (table.y, table.sample_weight) if array is not None]
    value = 0
    for array in arrays:
        value = zlib.crc32(np.ascontiguousarray(array).view(np.uint8).reshape(-1).data, value)
    return value


@contextmanager
def leaving_on_interrupt(console: Console) -> Iterator[None]:
    """Context in which Ctrl-C, where nothing else hears it, ends the program with its code."""
    try:
        yield
    except KeyboardInterrupt:
        tell(console, "stopped by Ctrl-C; no model was written")
        raise typer.Exit(INTERRUPTED) from None
