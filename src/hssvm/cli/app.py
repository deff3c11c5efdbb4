"""The commands."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table
from sklearn.metrics import accuracy_score, r2_score

import hssvm
from hssvm.cli.progress import showing
from hssvm.estimators.callbacks import ending_on_interrupt
from hssvm.io import read
from hssvm.kernels.base import Rows

FAILED, MISUSED = 1, 2
"""Exit codes: of work that could not be done, and of a command that could not be understood."""

app = typer.Typer(
    help="Nonlinear support vector machines for many rows.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)
out, err = Console(), Console(stderr=True)


class Task(StrEnum):
    """What to train."""

    svc = "svc"
    svr = "svr"
    one_class = "one-class"


class Refine(StrEnum):
    """Whether to go on to the true kernel."""

    auto = "auto"
    yes = "yes"
    no = "no"


class Scaling(StrEnum):
    """Of the features."""

    none = "none"
    standard = "standard"
    minmax = "minmax"


class Kernel(StrEnum):
    """Kernels by name."""

    rbf = "rbf"
    laplacian = "laplacian"
    matern32 = "matern32"
    matern52 = "matern52"
    poly = "poly"
    linear = "linear"


Data = Annotated[Path, typer.Argument(help="LIBSVM text, CSV, Parquet or NumPy; .gz .bz2 .xz too.")]
Format = Annotated[
    str | None, typer.Option(help="libsvm, csv, parquet or numpy; else by the ending.")
]
Target = Annotated[
    str | None,
    typer.Option(help="Column of the labels in a table: its name or number; else the first."),
]
Gamma = Annotated[str, typer.Option(help="Inverse width of the kernel: scale, auto or a number.")]
KernelName = Annotated[Kernel, typer.Option(help="Kernel.")]
ScalingName = Annotated[Scaling, typer.Option("--scale", help="Scaling of the features.")]
Seed = Annotated[int, typer.Option(help="Seed of all random choices.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]
Double = Annotated[bool, typer.Option("--double", help="Compute in float64: twice the time.")]
Output = Annotated[Path, typer.Option("--output", "-o", help="File of the model.")]


def run() -> None:
    """Run the application; every foreseeable problem is one line and an exit code."""
    try:
        app()
    except (ValueError, OSError, ImportError, MemoryError, RuntimeError) as problem:
        err.print(f"[red]hssvm:[/red] {problem}", highlight=False, soft_wrap=True)
        sys.exit(FAILED)


@app.command()
def train(
    data: Data,
    output: Output,
    task: Annotated[Task, typer.Option(help="Classification, regression or novelty.")] = Task.svc,
    C: Annotated[float, typer.Option("--C", "-C", help="Penalty of the loss.")] = 1.0,
    gamma: Gamma = "scale",
    kernel: KernelName = Kernel.rbf,
    epsilon: Annotated[float, typer.Option(help="Half the width of the tube of svr.")] = 0.1,
    nu: Annotated[float, typer.Option(help="Share of rows that one-class leaves outside.")] = 0.5,
    scale: ScalingName = Scaling.none,
    tol: Annotated[float, typer.Option(help="Relative duality gap to stop at.")] = 1e-3,
    refine: Annotated[Refine, typer.Option(help="Go on to the true kernel.")] = Refine.auto,
    max_time: Annotated[float | None, typer.Option(help="Seconds to stop after.")] = None,
    max_rank: Annotated[int | None, typer.Option(help="Largest rank of a leaf.")] = None,
    memory_limit: Annotated[float | None, typer.Option(help="GB that training may take.")] = None,
    test: Annotated[Path | None, typer.Option(help="File to score the model on.")] = None,
    format: Format = None,
    target: Target = None,
    double: Double = False,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Train a model and write it to a file.

    Ctrl-C ends the training with the best model so far; a second one ends the program.

    [dim]hssvm train a9a.train.xz -o a9a.hssvm --C 1 --gamma 0.05 --test a9a.test.xz[/dim]
    """
    own = {Task.svc: {"C": C}, Task.svr: {"C": C, "epsilon": epsilon}, Task.one_class: {"nu": nu}}
    estimator = _estimator(
        task,
        **own[task],
        gamma=_number(gamma),
        kernel=kernel.value,
        scaling=_scaling(scale),
        tol=tol,
        refine={Refine.auto: "auto", Refine.yes: True, Refine.no: False}[refine],
        max_time=max_time,
        max_rank=max_rank,
        memory_limit=None if memory_limit is None else memory_limit * 1e9,
        random_state=seed,
    )
    X, y = _read(data, format, target, double, labels=task is not Task.one_class)
    test_rows = None if test is None else _read(test, format, target, double, X.shape[1])
    _fit(estimator, X, y, tol, quiet)
    estimator.save(output)
    out.print(_summary(estimator, output))
    if test_rows is not None:
        _print_score(estimator, estimator.predict(test_rows[0]), test_rows[1], out)


@app.command()
def predict(
    model: Annotated[Path, typer.Argument(help="File of a model.")],
    data: Data,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write to, a line per row.")
    ] = None,
    values: Annotated[
        bool, typer.Option("--values", help="Write decision values instead of labels.")
    ] = False,
    format: Format = None,
    target: Target = None,
) -> None:
    """Predict the rows of a file; if it has labels, score the predictions.

    [dim]hssvm predict a9a.hssvm a9a.test.xz -o labels.txt[/dim]
    """
    estimator = hssvm.load(model)
    n_features = estimator.n_features_in_
    X, y = read(
        data, format=format, n_features=n_features, dtype=np.float64, target=_column(target)
    )
    predicted = estimator.decision_function(X) if values else estimator.predict(X)
    lines = "\n".join(_line(row) for row in predicted) + "\n"
    if output is None:
        sys.stdout.write(lines)
    else:
        output.write_text(lines)
    if y is not None and not values:
        _print_score(estimator, predicted, y, err)


@app.command()
def cv(
    data: Data,
    Cs: Annotated[str, typer.Option("--Cs", help="Values of C, with commas.")] = "0.1,1,10,100",
    gammas: Annotated[str, typer.Option(help="Values of gamma, with commas.")] = "scale",
    folds: Annotated[int, typer.Option(help="Folds.")] = 5,
    kernel: KernelName = Kernel.rbf,
    scale: ScalingName = Scaling.none,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File for the model of the best values.")
    ] = None,
    format: Format = None,
    target: Target = None,
    double: Double = False,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Choose C and gamma of a classifier by cross-validation.

    [dim]hssvm cv a9a.train.xz --Cs 0.1,1,10 --gammas 0.01,0.05 -o a9a.hssvm[/dim]
    """
    X, y = _read(data, format, target, double, labels=True)
    parameters: dict[str, Any] = {
        "Cs": [float(C) for C in Cs.split(",")],
        "gammas": [_number(gamma) for gamma in gammas.split(",")],
        "scaling": _scaling(scale),
    }
    estimator = hssvm.SVCCV(**parameters, cv=folds, kernel=kernel.value, random_state=seed)
    _fit(estimator, X, y, 1e-2, quiet)
    means = estimator.scores_.mean(axis=2)
    table = Table("gamma", *(f"C = {C:g}" for C in estimator.Cs_), title="mean accuracy")
    for gamma, row in zip(estimator.gammas_, means, strict=True):
        style = ["[bold]{:.4f}[/bold]" if score == means.max() else "{:.4f}" for score in row]
        table.add_row(f"{gamma:g}", *(s.format(score) for s, score in zip(style, row, strict=True)))
    out.print(table)
    out.print(f"best: C = {estimator.C_:g}, gamma = {estimator.gamma_:g}")
    if output is not None:
        estimator.save(output)
        out.print(f"model in {output}")


@app.command()
def info(model: Annotated[Path, typer.Argument(help="File of a model.")]) -> None:
    """Say what a model is and how exact its fit was."""
    out.print(hssvm.load(model).summary(), highlight=False, soft_wrap=True)


@app.command()
def forecast(
    data: Data,
    task: Annotated[Task, typer.Option(help="Classification, regression or novelty.")] = Task.svc,
    C: Annotated[float, typer.Option("--C", "-C", help="Penalty of the loss.")] = 1.0,
    gamma: Gamma = "scale",
    kernel: KernelName = Kernel.rbf,
    scale: ScalingName = Scaling.none,
    max_rank: Annotated[int | None, typer.Option(help="Largest rank of a leaf.")] = None,
    format: Format = None,
    target: Target = None,
    double: Double = False,
) -> None:
    """Say what training would take, from a sample, in seconds.

    [dim]hssvm forecast covtype.libsvm --C 32 --gamma 8 --scale minmax[/dim]
    """
    own = {} if task is Task.one_class else {"C": C}
    estimator = _estimator(
        task, **own, gamma=_number(gamma), kernel=kernel.value, scaling=_scaling(scale),
        max_rank=max_rank, random_state=0,
    )  # fmt: skip
    X, y = _read(data, format, target, double, labels=task is not Task.one_class)
    rows = (X,) if task is Task.one_class else (X, y)
    out.print(str(estimator.forecast(*rows)), highlight=False, soft_wrap=True)


def _estimator(task: Task, **parameters: Any) -> Any:
    classes = {
        Task.svc: hssvm.SVC,
        Task.svr: hssvm.SVR,
        Task.one_class: hssvm.OneClassSVM,
    }
    return classes[task](**parameters)


def _read(
    path: Path,
    format: str | None,
    target: str | None,
    double: bool,
    n_features: int | None = None,
    labels: bool = False,
) -> tuple[Rows, Any]:
    dtype = np.float64 if double else np.float32
    X, y = read(path, format=format, n_features=n_features, dtype=dtype, target=_column(target))
    if labels and y is None:
        raise ValueError(f"{path} has no labels to learn from")
    return X, y


def _fit(estimator: Any, X: Rows, y: Any, tol: float, quiet: bool) -> None:
    with ending_on_interrupt(), showing(err, tol, quiet):
        estimator.fit(X, y)


def _summary(estimator: Any, path: Path) -> Table:
    report = estimator.fit_report_
    kernel = "true" if report.on_true_kernel else f"compressed, error {report.kernel_error:.2g}"
    table = Table(show_header=False, title=type(estimator).__name__)
    table.add_row("rows", f"{report.n_rows:,}")
    table.add_row("support vectors", f"{len(estimator.support_):,}")
    table.add_row("kernel", kernel)
    table.add_row("relative duality gap", f"{report.gap.max():.2g}")
    for advice in report.advice:
        table.add_row("", advice)
    table.add_row("seconds", f"{sum(report.seconds.values()):.1f}")
    table.add_row("model", f"{path}, {path.stat().st_size / 1e6:.1f} MB")
    return table


def _print_score(estimator: Any, predicted: Any, y: Any, console: Console) -> None:
    if isinstance(estimator, hssvm.OneClassSVM):
        name, score = "share inside", float(np.mean(predicted == 1))
    elif isinstance(estimator, hssvm.SVR):
        name, score = "R^2", r2_score(y, predicted)
    else:
        name, score = "accuracy", accuracy_score(y, predicted)
    console.print(f"{name} {score:.4f} on {len(predicted):,} rows", highlight=False)


def _line(row: Any) -> str:
    numbers = np.atleast_1d(row)
    return " ".join(f"{v:.9g}" if numbers.dtype.kind == "f" else f"{v}" for v in numbers)


def _scaling(scale: Scaling) -> str | None:
    return None if scale is Scaling.none else scale.value


def _number(text: str) -> float | str:
    """A number, or the word as it is: the estimator knows which words there are."""
    try:
        return float(text)
    except ValueError:
        return text


def _column(target: str | None) -> str | int | None:
    """A column by number if it is one."""
    return target if target is None or not target.lstrip("-").isdigit() else int(target)
