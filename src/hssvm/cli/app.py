"""The commands."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console

import hssvm
from hssvm._threads import openmp_threads
from hssvm.cli import options, tables, training
from hssvm.cli.messages import in_options, tell, warnings_as_lines
from hssvm.cli.options import SearchTask, Task, given, parse_column
from hssvm.cli.progress import showing
from hssvm.cli.streams import (
    STREAM,
    check_streams,
    load_model,
    require_other_file,
    save_model,
    write_lines,
)
from hssvm.io.columns import Known, Roles

FAILED = 1
"""Exit code of work that could not be done; that of a command that is not understood is 2."""

app = typer.Typer(
    help="Nonlinear support vector machines for many rows.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)
out, err = Console(), Console(stderr=True)


def run() -> None:
    """Run the application; every foreseeable problem is one line and an exit code."""
    try:
        app(prog_name="hssvm")
    except OSError as problem:
        tell(err, str(problem))
    except (ValueError, ImportError, MemoryError, RuntimeError) as problem:
        tell(err, in_options(str(problem)))
    sys.exit(FAILED)


def _show_version(value: bool) -> None:
    if value:
        out.print(f"hssvm {hssvm.__version__}", highlight=False)
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Nonlinear support vector machines for many rows."""


@app.command()
def train(
    data: options.Data,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="File of the model; - is stdout.  [default: that of --resume]",
        ),
    ] = None,
    task: options.TaskName = None,
    C: options.C = None,
    gamma: options.Gamma = None,
    kernel: options.KernelName = None,
    degree: options.Degree = None,
    coef0: options.Coef0 = None,
    epsilon: options.Epsilon = None,
    nu: Annotated[
        float | None,
        typer.Option(help="Share of rows that one-class leaves outside.  [default: 0.5]"),
    ] = None,
    class_weight: options.ClassWeight = None,
    sample_weight: options.SampleWeight = None,
    scale: options.ScalingName = None,
    tol: Annotated[
        float | None, typer.Option(help="Relative duality gap to stop at.  [default: 0.001]")
    ] = None,
    refine: Annotated[
        options.Refine | None, typer.Option(help="Continue on the exact kernel.  [default: auto]")
    ] = None,
    max_time: Annotated[float | None, typer.Option(help="Seconds to stop after.")] = None,
    max_rank: options.MaxRank = None,
    memory_limit: Annotated[float | None, typer.Option(help="GB that training may take.")] = None,
    resume: Annotated[
        Path | None,
        typer.Option(help="Model of a training that ended early, to continue on the same data."),
    ] = None,
    test: Annotated[Path | None, typer.Option(help="File to score the model on.")] = None,
    format: options.Format = None,
    separator: options.Separator = None,
    target: options.Target = None,
    double: options.Double = False,
    threads: options.Threads = None,
    seed: options.Seed = None,
    quiet: options.Quiet = False,
) -> None:
    """Train a model and write it to a file.

    Once the solver has started, Ctrl-C saves the best model so far, which --resume continues; a
    second one quits without a model.

    [dim]hssvm train a9a.train.xz -o a9a.hssvm --C 1 --gamma 0.05 --test a9a.test.xz[/dim]
    """
    output = resume if output is None else output
    if output is None:
        raise typer.BadParameter("name the file of the model.", param_hint="--output")
    check_streams(data, test, resume, output=output)
    require_other_file(output, data, test)
    parameters = given(
        C=C, gamma=gamma, kernel=kernel, degree=degree, coef0=coef0, epsilon=epsilon, nu=nu,
        class_weight=class_weight, scaling=scale, tol=tol, refine=refine, max_time=max_time,
        max_rank=max_rank, memory_limit=None if memory_limit is None else memory_limit * 1e9,
        random_state=seed,
    )  # fmt: skip
    if resume is None:
        task = Task.svc if task is None else task
        estimator = training.make_estimator(task, {"random_state": 0, **parameters})
        dtype: Any = np.float64 if double else np.float32
        column = parse_column(target)
    else:
        estimator = training.load_unfinished(resume, task)
        training.check_options(type(estimator), parameters, str(resume))
        estimator.set_params(**parameters)
        dtype = estimator.dual_coef_.dtype
        column = estimator.target_name_ if target is None else parse_column(target)
    labels = not isinstance(estimator, hssvm.OneClassSVM)
    rule = Roles(column if labels or column is not None else False, parse_column(sample_weight))
    layout = {"format": format, "separator": separator}
    with _work(threads), showing(err, quiet) as progress:
        table = training.read(data, progress, rule, dtype=dtype, **layout)
        training.require_trainable(table, data, labels)
        test_table = None
        if test is not None:
            names = None if table.feature_names is None else list(table.feature_names)
            known = Known(table.X.shape[1], names, table.target)
            test_table = training.read(test, progress, known, dtype=dtype, **layout)
        if class_weight is not None:
            weights = options.parse_class_weight(class_weight, table.y)
            estimator.set_params(class_weight=weights)
        if resume is None:
            training.fit(estimator, table, progress)
        else:
            training.require_same_data(estimator, table, data)
            estimator.set_params(warm_start=True)
            training.fit(estimator, table, progress)
            estimator.set_params(warm_start=False)
        n_bytes = save_model(estimator, output)
    console = err if output == STREAM else out
    labels_in = tables.where_labels_are(table, asked=column is not None)
    console.print(tables.summary(estimator, table, labels_in, output, n_bytes))
    if test_table is not None:
        with warnings_as_lines(err):
            predicted = estimator.predict(test_table.X)
        _print_score(estimator, predicted, test_table.y, console)
    if progress.stopping:
        _tell_how_to_resume(estimator, data, output)
        raise typer.Exit(training.INTERRUPTED)


@app.command()
def predict(
    model: options.Model,
    data: options.Data,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write to, a line per row; - is stdout."),
    ] = None,
    values: Annotated[
        bool, typer.Option("--values", help="Write decision values instead of labels.")
    ] = False,
    format: options.Format = None,
    separator: options.Separator = None,
    target: options.KnownTarget = None,
    threads: options.Threads = None,
    quiet: options.Quiet = False,
) -> None:
    """Predict the rows of a file; if it has labels, score the predictions.

    The columns of a table are found by their names, in any order, if the training file had names.

    [dim]hssvm predict a9a.hssvm a9a.test.xz -o labels.txt[/dim]
    """
    check_streams(model, data)
    require_other_file(output, model, data)
    with _work(threads):
        estimator = load_model(model)
        if values and not hasattr(estimator, "decision_function"):
            raise typer.BadParameter(
                f"{type(estimator).__name__} predicts values anyway.", param_hint="--values"
            )
        rule = training.known_columns(estimator, parse_column(target))
        with showing(err, quiet or not err.is_terminal) as progress:
            table = training.read(
                data, progress, rule, format=format, separator=separator, dtype=np.float64
            )
            progress.begin("predict")
            predicted = (estimator.decision_function if values else estimator.predict)(table.X)
        if table.unused:
            tell(err, f"ignored {', '.join(table.unused)} of {data}, not used in training")
        write_lines([tables.prediction(row) for row in predicted], output)
        if not values:
            _print_score(estimator, predicted, table.y, err)


@app.command()
def cv(
    data: options.Data,
    task: Annotated[SearchTask, typer.Option(help="Classification or regression.")] = (
        SearchTask.svc
    ),
    Cs: Annotated[
        str | None, typer.Option("--Cs", help="Values of C, with commas, or auto.")
    ] = None,
    gammas: Annotated[
        str | None, typer.Option(help="Values of gamma, with commas, or auto.")
    ] = None,
    folds: Annotated[int, typer.Option(min=2, help="Folds.")] = 5,
    scoring: Annotated[
        str | None,
        typer.Option(help="A score of scikit-learn, such as roc_auc.  [default: accuracy or R^2]"),
    ] = None,
    kernel: options.KernelName = None,
    degree: options.Degree = None,
    coef0: options.Coef0 = None,
    epsilon: options.Epsilon = None,
    class_weight: options.ClassWeight = None,
    sample_weight: options.SampleWeight = None,
    scale: options.ScalingName = None,
    max_time: Annotated[float | None, typer.Option(help="Seconds to stop after.")] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File for the model of the best values; - is stdout."),
    ] = None,
    format: options.Format = None,
    separator: options.Separator = None,
    target: options.Target = None,
    double: options.Double = False,
    threads: options.Threads = None,
    seed: options.Seed = None,
    quiet: options.Quiet = False,
) -> None:
    """Choose C and gamma by cross-validation.

    [dim]hssvm cv a9a.train.xz --Cs 0.1,1,10 --gammas 0.01,0.05 -o a9a.hssvm[/dim]
    """
    check_streams(data, output=output)
    require_other_file(output, data)
    grid: dict[str, Any] = {
        "Cs": None if Cs is None else options.parse_numbers(Cs, "--Cs"),
        "gammas": None if gammas is None else options.parse_gammas(gammas),
    }
    parameters = given(
        kernel=kernel, degree=degree, coef0=coef0, epsilon=epsilon, class_weight=class_weight,
        scaling=scale, max_time=max_time, random_state=seed,
    )  # fmt: skip
    searches = task is SearchTask.svc
    cls = hssvm.SVCCV if searches else hssvm.SVR
    training.check_options(cls, parameters, f"--task {task.value}")
    estimator: Any = cls(**{"random_state": 0, **parameters})
    rule = Roles(parse_column(target), parse_column(sample_weight))
    dtype = np.float64 if double else np.float32
    with _work(threads), showing(err, quiet) as progress:
        table = training.read(data, progress, rule, format=format, separator=separator, dtype=dtype)
        training.require_trainable(table, data, labels=True)
        if class_weight is not None:
            weights = options.parse_class_weight(class_weight, table.y)
            estimator.set_params(class_weight=weights)
        if searches:
            found = estimator.set_params(cv=folds, scoring=scoring, **given(**grid))
            found.fit(table.X, table.y, sample_weight=table.sample_weight)
            estimator = found
        else:
            found = training.search_regression(
                estimator, table, **grid, folds=folds, scoring=scoring
            )
            estimator = found.best_estimator_
        training.remember(estimator, table)
        n_bytes = 0 if output is None else save_model(estimator, output)
    console = err if output == STREAM else out
    name = scoring or ("accuracy" if searches else "R^2")
    console.print(f"mean {name}", highlight=False, markup=False)
    console.print(tables.scores(found.cv_results_))
    best = found.best_params_
    console.print(
        f"best: C = {best['C']:g}, gamma = {options.as_text(best['gamma'])}", highlight=False
    )
    if output is not None:
        console.print(
            f"model in {output}, {tables.size_of(n_bytes)}, relative duality gap "
            f"{estimator.fit_report_.gap.max():.2g}",
            highlight=False,
            markup=False,
        )


@app.command()
def info(model: options.Model) -> None:
    """Say what a model is and how well its training was solved."""
    with _work(None):
        loaded = load_model(model)
        report = in_options(loaded.fit_report_.summary())
        text = f"{tables.describe(loaded)}\n\n{loaded}\n{report}"
        out.print(text, highlight=False, soft_wrap=True, markup=False)


@app.command()
def forecast(
    data: options.Data,
    task: options.TaskName = None,
    C: options.C = None,
    gamma: options.Gamma = None,
    kernel: options.KernelName = None,
    degree: options.Degree = None,
    coef0: options.Coef0 = None,
    epsilon: options.Epsilon = None,
    scale: options.ScalingName = None,
    max_rank: options.MaxRank = None,
    format: options.Format = None,
    separator: options.Separator = None,
    target: options.Target = None,
    double: options.Double = False,
    threads: options.Threads = None,
) -> None:
    """Say what training would take, from a sample, in seconds.

    [dim]hssvm forecast covtype.libsvm --C 32 --gamma 8 --scale minmax[/dim]
    """
    parameters = given(
        C=C, gamma=gamma, kernel=kernel, degree=degree, coef0=coef0, epsilon=epsilon,
        scaling=scale, max_rank=max_rank,
    )  # fmt: skip
    task = Task.svc if task is None else task
    estimator = training.make_estimator(task, {"random_state": 0, **parameters})
    labels, column = task is not Task.one_class, parse_column(target)
    rule = Roles(column if labels or column is not None else False)
    dtype = np.float64 if double else np.float32
    with _work(threads):
        with showing(err, quiet=not err.is_terminal) as progress:
            table = training.read(
                data, progress, rule, format=format, separator=separator, dtype=dtype
            )
            training.require_trainable(table, data, labels)
            rows = (table.X, table.y) if labels else (table.X,)
            text = str(estimator.forecast(*rows))
        out.print(in_options(text), highlight=False, soft_wrap=True, markup=False)


@contextmanager
def _work(threads: int | None) -> Iterator[None]:
    """Context of every command: threads, warnings, Ctrl-C."""
    limit = nullcontext() if threads is None else openmp_threads(threads)
    with training.leaving_on_interrupt(err), warnings_as_lines(err), limit:
        yield


def _print_score(estimator: Any, predicted: Any, y: Any, console: Console) -> None:
    if y is not None or isinstance(estimator, hssvm.OneClassSVM):
        console.print(tables.score(estimator, predicted, y), highlight=False)


def _tell_how_to_resume(estimator: Any, data: Path, output: Path) -> None:
    gap, tol = estimator.fit_report_.gap.max(), estimator.tol
    if gap <= tol:
        tell(err, f"the training was complete when Ctrl-C came; the model is in {output}")
        return
    tell(
        err,
        f"stopped by Ctrl-C with a relative duality gap of {gap:.2g}, above --tol {tol:g}; the "
        f"model in {output} is saved as it is; continue with: hssvm train {data} --resume {output}",
    )
