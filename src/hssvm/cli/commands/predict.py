"""``hssvm predict``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from hssvm.cli import options


def predict(
    model: options.Model,
    data: options.Data,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="File for the predictions: Parquet if it ends with .parquet, else a line per row; "
            "- is stdout.",
        ),
    ] = Path("-"),
    values: Annotated[
        bool, typer.Option("--values", help="Write decision values instead of labels.")
    ] = False,
    probability: Annotated[
        bool,
        typer.Option(
            "--probability", help="Write the probabilities of all classes instead of labels."
        ),
    ] = False,
    format: options.Format = None,
    separator: options.Separator = None,
    target: options.KnownTarget = None,
    ignore: options.Ignore = None,
    threads: options.Threads = None,
    quiet: options.Quiet = False,
) -> None:
    """Predict the rows of a file, and score the predictions if it has labels.

    If the training file had column names, the columns of a table are matched by name. Files are
    read and predicted some rows at a time, and may be larger than memory, except NumPy files.

    hssvm predict a9a.hssvm a9a.test.xz -o labels.txt

    hssvm predict flights.hssvm flights.parquet --probability -o late.parquet
    """
    import numpy as np

    from hssvm.cli import reading
    from hssvm.cli.checks import check_inputs, check_output
    from hssvm.cli.context import err, print_score, working
    from hssvm.cli.messages import print_line
    from hssvm.cli.parsing import parse_column, parse_columns
    from hssvm.cli.predictions import writing
    from hssvm.cli.progress import showing
    from hssvm.cli.scores import RunningScore
    from hssvm.cli.streams import data_source, load_parts, one_ahead
    from hssvm.loading.parts import known_columns

    check_inputs(model, data)
    check_output(output, model, data)
    with working(threads):
        estimator, encoder = load_parts(model)
        function = _function(estimator, values=values, probability=probability)
        rule = known_columns(estimator, encoder, parse_column(target), parse_columns(ignore))
        layout = reading.Layout(format, separator, np.float64)
        column = "decision" if values else "probability" if probability else "prediction"
        score, source = RunningScore(estimator), data_source(data)
        unused: Sequence[str] = ()
        with (
            showing(err, quiet or not err.is_terminal) as progress,
            writing(output, column, estimator) as writer,
        ):
            progress.begin("predict", source.fraction_read)
            for table in one_ahead(reading.read_known_parts(source, rule, layout, encoder)):
                predicted = function(table.X)
                writer.write(predicted)
                if not (values or probability):
                    score.add(predicted, table.y)
                unused = table.unused
        if unused:
            print_line(err, f"ignored {', '.join(unused)} of {data}, not used in training")
        if probability:
            print_line(err, f"probabilities of {', '.join(map(str, estimator.classes_))}")
        print_score(score, err)


def _function(estimator: Any, *, values: bool, probability: bool) -> Callable[[Any], Any]:
    """Return the method of the estimator that computes what was asked for."""
    from sklearn.base import ClassifierMixin

    name = type(estimator).__name__
    if values and probability:
        raise typer.BadParameter("leave out --values.", param_hint="--probability")
    if values and not hasattr(estimator, "decision_function"):
        raise typer.BadParameter(f"{name} has no decision values.", param_hint="--values")
    if probability and not hasattr(estimator, "predict_proba"):
        remedy = ""
        if isinstance(estimator, ClassifierMixin):
            remedy = "; train with --probability sigmoid"
        raise typer.BadParameter(
            f"the model has no probabilities{remedy}.", param_hint="--probability"
        )
    chosen = "decision_function" if values else "predict_proba" if probability else "predict"
    function: Callable[[Any], Any] = getattr(estimator, chosen)
    return function
