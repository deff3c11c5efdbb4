"""Creating, fitting and resuming estimators."""

from __future__ import annotations

import inspect
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
import typer
from rich.console import Console

import hssvm
from hssvm.cli.messages import OPTIONS, print_line
from hssvm.cli.options import Task
from hssvm.cli.parsing import parse_separator
from hssvm.cli.progress import ProgressLine
from hssvm.cli.streams import data_source, load_model
from hssvm.estimators.monitoring.callbacks import stop_on_interrupt
from hssvm.io.columns import ColumnRule, Known, require_distinct
from hssvm.io.load import read_table
from hssvm.io.table import Table

INTERRUPTED = 130
"""Exit code after Ctrl-C."""

ESTIMATORS: dict[Task, Any] = {
    Task.svc: hssvm.SVC,
    Task.svr: hssvm.SVR,
    Task.one_class: hssvm.OneClassSVM,
}


def make_estimator(task: Task, parameters: dict[str, Any]) -> Any:
    """Return the estimator of a task."""
    cls = ESTIMATORS[task]
    check_options(cls, parameters, f"--task {task.value}")
    return cls(**parameters)


def check_options(cls: Any, parameters: dict[str, Any], where: str) -> None:
    """Refuse options that the estimator does not have."""
    for name in parameters:
        if name not in inspect.signature(cls).parameters:
            raise typer.BadParameter(f"not available for {where}.", param_hint=OPTIONS[name])


def read(
    path: Path,
    progress: ProgressLine,
    rule: ColumnRule,
    *,
    format: str | None,
    separator: str | None,
    dtype: Any,
) -> Table:
    """Read a table, and show the progress."""
    source = data_source(path)
    with progress.reading(source.fraction_read):
        return read_table(
            source, rule=rule, format=format, dtype=dtype, separator=parse_separator(separator)
        )


def require_trainable(table: Table, path: Path, labels: bool) -> Table:
    """Refuse a table without labels, or with duplicate column names."""
    if labels and table.y is None:
        raise ValueError(f"{path} has no labels; add them, or train with --task one-class")
    if table.feature_names is not None:
        require_distinct(str(path), table.feature_names, table.feature_names)
    return table


def known_columns(model: Any, target: str | int | None, ignored: Sequence[str | int] = ()) -> Known:
    """Return the rule that selects the columns of a fitted model."""
    names = getattr(model, "feature_names_in_", None)
    names = None if names is None else list(names)
    return Known(model.n_features_in_, names, model.target_name_, target, ignored)


def fit(estimator: Any, table: Table, progress: ProgressLine) -> None:
    """Fit; Ctrl-C stops the fit with the best coefficients so far, if there are any."""
    with stop_on_interrupt(progress.handle_interrupt):
        estimator.fit(table.X, table.y, sample_weight=table.sample_weight)
    remember(estimator, table)


def remember(estimator: Any, table: Table) -> None:
    """Store the column names, and the checksum of the data, in a fitted estimator."""
    if table.feature_names is not None:
        estimator.feature_names_in_ = np.array(table.feature_names, dtype=object)
    estimator.target_name_ = table.target
    estimator.data_checksum_ = checksum(table)


def load_unfinished(path: Path, task: Task | None) -> Any:
    """Load a model whose fit can be resumed."""
    model = load_model(path)
    classes = ESTIMATORS.values() if task is None else [ESTIMATORS[task]]
    if type(model) not in classes:
        names = " or ".join(cls.__name__ for cls in classes)
        raise ValueError(
            f"{path} contains a {type(model).__name__} instead of a {names}; train again without "
            "--resume"
        )
    if model.fit_report_.n_rows == 0:
        raise ValueError(
            f"{path} was converted from a LIBSVM model, which does not tell its training rows; "
            "train again without --resume"
        )
    if not hasattr(model, "dual_coef_"):
        raise ValueError(
            f"{path} is a finished approximation, without the coefficients needed to resume; train "
            "again without --resume"
        )
    return model


def require_same_data(model: Any, table: Table, path: Path) -> None:
    """Refuse to resume on data that differs from the first fit."""
    n_rows = model.fit_report_.n_rows
    if table.X.shape != (n_rows, model.n_features_in_):
        raise ValueError(
            f"{path} has {table.X.shape[0]} rows and {table.X.shape[1]} features, but the model "
            f"was trained on {n_rows} and {model.n_features_in_}; resume with the same data"
        )
    if model.data_checksum_ not in (None, checksum(table)):
        raise ValueError(
            f"{path} differs from the data that the model was trained on; resume with the same "
            "data, or train again without --resume"
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
    """Context in which an unhandled Ctrl-C ends the program with its exit code."""
    try:
        yield
    except KeyboardInterrupt:
        print_line(console, "stopped by Ctrl-C; no model was written")
        raise typer.Exit(INTERRUPTED) from None
