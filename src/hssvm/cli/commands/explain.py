"""``hssvm explain``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from hssvm.cli import options


def explain(
    model: options.Model,
    data: options.Data,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="File for the values: Parquet if it ends with .parquet, else CSV; - is stdout.",
        ),
    ] = Path("-"),
    background: Annotated[
        Path | None,
        typer.Option(
            help="File of some tens of rows that predictions are compared with.  [default: about "
            "20 training rows, which the model contains]",
            show_default=False,
        ),
    ] = None,
    log_odds: Annotated[
        bool,
        typer.Option(
            "--log-odds", help="Explain the log-odds of the second class, not decision values."
        ),
    ] = False,
    format: options.Format = None,
    separator: options.Separator = None,
    target: options.KnownTarget = None,
    ignore: options.Ignore = None,
    threads: options.Threads = None,
    quiet: options.Quiet = False,
) -> None:
    """Write how much each feature adds to each prediction: exact Shapley values.

    There is a column of values for each feature, or for each column of a table whose text,
    categories and dates are encoded, and the base value. These sum to the decision value or
    prediction. Files are read and explained some rows at a time, and may be larger than memory.

    hssvm explain flights.hssvm flights.parquet -o values.parquet
    """
    import numpy as np

    from hssvm.cli import reading
    from hssvm.cli.checks import check_inputs, check_output
    from hssvm.cli.context import err, print_result, working
    from hssvm.cli.parsing import parse_column, parse_columns
    from hssvm.cli.progress import showing
    from hssvm.cli.streams import data_source, load_parts, one_ahead
    from hssvm.cli.values import MeanValues, columns_of, writing_columns
    from hssvm.loading.parts import known_columns

    check_inputs(model, data, background)
    check_output(output, model, data, background)
    with working(threads):
        estimator, encoder = load_parts(model)
        rule = known_columns(estimator, encoder, parse_column(target), parse_columns(ignore))
        layout = reading.Layout(format, separator, np.float64)
        arguments: dict[str, Any] = {"output": "log_odds" if log_odds else "decision"}
        if encoder is not None:
            arguments["groups"] = encoder.output_columns_
        source, means = data_source(data), MeanValues()
        with (
            showing(err, quiet or not err.is_terminal) as progress,
            writing_columns(output) as writer,
        ):
            if background is not None:
                arguments["background"] = reading.read_known(
                    background, progress, rule, layout, encoder
                ).X
            progress.begin("explain", source.fraction_read)
            for table in one_ahead(reading.read_known_parts(source, rule, layout, encoder)):
                explanation = estimator.explain(table.X, **arguments)
                writer.write_columns(columns_of(explanation))
                means.add(explanation)
        if (line := means.line()) is not None:
            print_result(line, output)
