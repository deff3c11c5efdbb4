"""``hssvm train``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from hssvm.cli import options
from hssvm.cli.options import Task


def train(
    data: options.Data,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Model file; - is stdout.  [default: the model of --resume, or the name of the "
            "data file with the extension .hssvm, in the working folder]",
        ),
    ] = None,
    task: options.TaskName = None,
    C: options.C = None,
    gamma: options.Gamma = None,
    kernel: options.KernelName = None,
    degree: options.Degree = None,
    coef0: options.Coef0 = None,
    epsilon: options.Epsilon = None,
    loss: options.LossName = None,
    quantile: options.Quantile = None,
    nu: Annotated[
        float | None,
        typer.Option(help="Maximum fraction of rows outside, for one-class.  [default: 0.5]"),
    ] = None,
    class_weight: options.ClassWeight = None,
    multi_class: options.MultiClassName = None,
    probability: options.ProbabilityName = None,
    sample_weight: options.SampleWeight = None,
    scale: options.ScalingName = None,
    tol: Annotated[
        float | None,
        typer.Option(
            help="Relative duality gap at which training stops.  [default: 1e-3, or 1e-2 to 5e-2 "
            "for an approximation]"
        ),
    ] = None,
    refine: Annotated[
        options.Refine | None,
        typer.Option(help="Continue on the exact kernel.  [default: auto]"),
    ] = None,
    max_time: options.MaxTime = None,
    approximation: options.ApproximationName = None,
    cell_size: options.CellSize = None,
    trees: options.NTrees = None,
    max_rank: options.MaxRank = None,
    memory_limit: options.MemoryLimit = None,
    resume: Annotated[
        Path | None,
        typer.Option(
            help="Model whose training was stopped, to continue on the same data.  "
            "[default: none, train a new model]"
        ),
    ] = None,
    test: Annotated[
        Path | None, typer.Option(help="File to score the model on.  [default: none]")
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
    """Train a model, and write it to a file.

    Once the solver has started, Ctrl-C saves the best model so far, and --resume continues the
    training; a second Ctrl-C quits without a model.

    hssvm train rows.csv --target label

    hssvm train a9a.train.xz -o a9a.hssvm --C 1 --gamma 0.05 --test a9a.test.xz
    """
    import numpy as np

    import hssvm
    from hssvm.cli import checks, reading, tables, training
    from hssvm.cli.context import err, out, print_score, working
    from hssvm.cli.messages import warnings_as_lines
    from hssvm.cli.parsing import (
        given,
        parse_approximation,
        parse_class_weight,
        parse_column,
        parse_columns,
    )
    from hssvm.cli.progress import showing
    from hssvm.cli.scores import RunningScore
    from hssvm.cli.streams import STREAM, save_model
    from hssvm.io.columns import Roles

    if output is None:
        output = checks.default_model(data) if resume is None else resume
    checks.check_inputs(data, test, resume)
    checks.check_model_output(output, data, test)
    parameters = given(
        C=C, gamma=gamma, kernel=kernel, degree=degree, coef0=coef0, epsilon=epsilon, nu=nu,
        loss=loss, quantile=quantile,
        class_weight=class_weight, multi_class=multi_class, probability=probability, scaling=scale,
        tol=tol, refine=refine, max_time=max_time, memory_limit=memory_limit, random_state=seed,
    )  # fmt: skip
    rough = approximation, cell_size, trees, max_rank
    if resume is None:
        task = Task.svc if task is None else task
        parameters |= given(approximation=parse_approximation(*rough, task))
        estimator = training.make_estimator(task, {"random_state": 0, **parameters})
        dtype: Any = np.float64 if double else np.float32
        column, known_encoder = parse_column(target), None
        unfitted = reading.make_encoder(categorical, numeric, seed)
    else:
        estimator, known_encoder = training.load_unfinished(resume, task)
        unfitted = reading.make_encoder(categorical, numeric, encoder=known_encoder)
        last = estimator.approximation
        parameters |= given(approximation=parse_approximation(*rough, task, last))
        training.check_options(type(estimator), parameters, str(resume))
        estimator.set_params(**parameters)
        dtype = estimator.dual_coef_.dtype
        column = estimator.target_name_ if target is None else parse_column(target)
    labels = not isinstance(estimator, hssvm.OneClassSVM)
    ignored = parse_columns(ignore)
    rule = Roles(
        column if labels or column is not None else False,
        parse_column(sample_weight),
        ignored,
        guess=False,
    )
    layout = reading.Layout(format, separator, dtype)
    with working(threads), showing(err, quiet) as progress:
        table, encoder = reading.read_training(
            data,
            progress,
            rule,
            layout,
            unfitted,
            labels=labels,
            encode=known_encoder is not None,
        )
        test_table = None
        if test is not None:
            known = reading.columns_of(table, encoder, ignored)
            test_table = reading.read_known(test, progress, known, layout, encoder)
        if class_weight is not None:
            weights = parse_class_weight(class_weight, table.y)
            estimator.set_params(class_weight=weights)
        if resume is None:
            training.fit(estimator, table, progress)
        else:
            training.require_same_data(estimator, table, data)
            estimator.set_params(warm_start=True)
            training.fit(estimator, table, progress)
            estimator.set_params(warm_start=False)
        n_bytes = save_model(estimator, output, encoder)
    console = err if output == STREAM else out
    labels_in = tables.where_labels_are(table, named=column is not None)
    console.print(tables.summary(estimator, table, encoder, labels_in, output, n_bytes))
    if test_table is not None:
        score = RunningScore(estimator)
        with warnings_as_lines(err):
            score.add(estimator.predict(test_table.X), test_table.y)
        print_score(score, console)
    if progress.stopping:
        _print_how_to_resume(estimator, data, output)
        raise typer.Exit(training.INTERRUPTED)


def _print_how_to_resume(estimator: Any, data: Path, output: Path) -> None:
    from hssvm.cli.context import err
    from hssvm.cli.messages import print_line
    from hssvm.training.reports.summary import counted

    report = estimator.fit_report_
    gap, tol = report.gap.max(), report.tol
    if "FEWER_TREES" in report.status:
        print_line(
            err,
            f"stopped by Ctrl-C after {counted(report.n_trees, 'tree')}; the model is saved in "
            f"{output}; add the others with: hssvm train {data} --resume {output}",
        )
        return
    if gap <= tol:
        print_line(err, f"training had converged before Ctrl-C; the model is in {output}")
        return
    print_line(
        err,
        f"stopped by Ctrl-C with a relative duality gap of {gap:.2g}, above --tol {tol:g}; the "
        f"model is saved in {output}; continue with: hssvm train {data} --resume {output}",
    )
