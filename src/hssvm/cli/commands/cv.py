"""``hssvm cv``."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import typer

from hssvm.cli import options
from hssvm.cli.options import SearchTask


def cv(
    data: options.Data,
    task: Annotated[
        SearchTask, typer.Option(help="Classification, regression, or its quantiles.")
    ] = SearchTask.svc,
    Cs: Annotated[
        str | None,
        typer.Option("--Cs", help="Values of C, separated by commas, or auto.  [default: auto]"),
    ] = None,
    gammas: Annotated[
        str | None,
        typer.Option(help="Values of gamma, separated by commas, or auto.  [default: auto]"),
    ] = None,
    folds: Annotated[int, typer.Option(min=2, help="Number of folds.")] = 5,
    scoring: Annotated[
        str | None,
        typer.Option(help="scikit-learn scorer, such as roc_auc.  [default: accuracy, R^2 or D^2]"),
    ] = None,
    max_members: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Average the best models of at most this many kernels and scalings.  [default: 4]",
        ),
    ] = None,
    kernel: options.SearchKernel = None,
    degree: options.Degree = None,
    coef0: options.Coef0 = None,
    epsilon: options.SearchEpsilon = None,
    quantile: options.Quantile = None,
    class_weight: options.ClassWeight = None,
    multi_class: options.MultiClassName = None,
    probability: options.ProbabilityName = None,
    sample_weight: options.SampleWeight = None,
    scale: options.SearchScaling = None,
    max_time: options.MaxTime = None,
    memory_limit: options.MemoryLimit = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="File for the best model; - is stdout.  [default: none]"
        ),
    ] = None,
    format: options.Format = None,
    separator: options.Separator = None,
    target: options.Target = None,
    ignore: options.Ignore = None,
    categorical: options.Categorical = None,
    numeric: options.Numeric = None,
    double: options.Double = False,
    threads: options.Threads = None,
    seed: options.Seed = None,
    quiet: options.Quiet = False,
) -> None:
    """Select C and gamma by cross-validation.

    hssvm cv a9a.train.xz --Cs 0.1,1,10 --gammas 0.01,0.05 -o a9a.hssvm
    """
    import numpy as np

    import hssvm
    from hssvm.cli import checks, parsing, reading, tables, training
    from hssvm.cli.context import err, out, working
    from hssvm.cli.parsing import as_text, given, parse_column, parse_columns
    from hssvm.cli.progress import showing
    from hssvm.cli.streams import STREAM, save_model
    from hssvm.io.columns import Roles
    from hssvm.training.reports.summary import counted

    checks.check_inputs(data)
    if output is not None:
        checks.check_model_output(output, data)
    grid: dict[str, Any] = {
        "Cs": None if Cs is None else parsing.parse_numbers(Cs, "--Cs"),
        "gammas": None if gammas is None else parsing.parse_gammas(gammas),
    }
    parameters = given(
        kernel=kernel, degree=degree, coef0=coef0, epsilon=epsilon, quantile=quantile,
        class_weight=class_weight, multi_class=multi_class, probability=probability, scaling=scale,
        max_time=max_time, memory_limit=memory_limit, max_members=max_members, random_state=seed,
    )  # fmt: skip
    searches: dict[SearchTask, tuple[Any, str]] = {
        SearchTask.svc: (hssvm.SVCCV, "accuracy"),
        SearchTask.svr: (hssvm.SVRCV, "R^2"),
        SearchTask.quantile: (hssvm.QuantileSVRCV, "D^2"),
    }
    cls, metric = searches[task]
    training.check_options(cls, parameters, f"--task {task.value}")
    estimator: Any = cls(**{"random_state": 0, **parameters})
    rule = Roles(
        parse_column(target), parse_column(sample_weight), parse_columns(ignore), guess=False
    )
    layout = reading.Layout(format, separator, np.float64 if double else np.float32)
    unfitted = reading.make_encoder(categorical, numeric, seed)
    with working(threads), showing(err, quiet) as progress:
        table, encoder = reading.read_training(data, progress, rule, layout, unfitted, labels=True)
        if class_weight is not None:
            weights = parsing.parse_class_weight(class_weight, table.y)
            estimator.set_params(class_weight=weights)
        estimator.set_params(cv=folds, scoring=scoring, **given(**grid))
        estimator.fit(table.X, table.y, sample_weight=table.sample_weight)
        training.remember(estimator, table)
        n_bytes = 0 if output is None else save_model(estimator, output, encoder)
    console = err if output == STREAM else out
    name = scoring or metric
    console.print(f"mean {name}", highlight=False, markup=False)
    console.print(tables.scores(estimator))
    values = {name: value or "none" for name, value in estimator.best_params_.items()}
    best = ", ".join(f"{name} = {as_text(value)}" for name, value in values.items())
    console.print(f"best: {best}", highlight=False)
    if len(estimator.members_) > 1:
        console.print(f"mean of {len(estimator.members_)} models", highlight=False)
    n_folds, n_rows = counted(estimator.n_splits_, "fold"), counted(estimator.best_n_rows_, "row")
    console.print(
        f"{name} {estimator.best_score_:.4f} in {n_folds} of {n_rows}",
        highlight=False,
        markup=False,
    )
    out_of_fold = estimator.fit_report_.out_of_fold_score
    if not math.isnan(out_of_fold):
        console.print(f"out-of-fold {metric} {out_of_fold:.4f} on all rows", highlight=False)
    if output is not None:
        console.print(
            f"model in {output}, {tables.size_of(n_bytes)}, relative duality gap "
            f"{estimator.fit_report_.gap.max():.2g}",
            highlight=False,
            markup=False,
        )
