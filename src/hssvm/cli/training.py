"""Creating, fitting and resuming estimators."""

from __future__ import annotations

import inspect
import zlib
from collections.abc import Iterator
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
from hssvm.cli.progress import ProgressLine
from hssvm.cli.streams import load_parts
from hssvm.estimators.monitoring.callbacks import stop_on_interrupt
from hssvm.io.table import Table

INTERRUPTED = 130
"""Exit code after Ctrl-C."""

ESTIMATORS: dict[Task, Any] = {
    Task.svc: hssvm.SVC,
    Task.svr: hssvm.SVR,
    Task.quantile: hssvm.QuantileSVR,
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


def load_unfinished(path: Path, task: Task | None) -> tuple[Any, Any]:
    """Load a model whose fit can be resumed, and its encoder if it has one."""
    model, encoder = load_parts(path)
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
    return model, encoder


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
