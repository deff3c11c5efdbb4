"""The application: its commands, its version option, and its error handling."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

import hssvm
from hssvm.cli.commands.convert import convert
from hssvm.cli.commands.cv import cv
from hssvm.cli.commands.estimate import estimate
from hssvm.cli.commands.export import export
from hssvm.cli.commands.info import info
from hssvm.cli.commands.predict import predict
from hssvm.cli.commands.train import train
from hssvm.cli.context import err, out
from hssvm.cli.messages import in_options, print_line

FAILED = 1
"""Exit code of a command that failed; that of invalid options is 2."""

app = typer.Typer(
    help="Nonlinear support vector machines at scale.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)
for command in (train, predict, cv, info, estimate, convert, export):
    app.command()(command)


def run() -> None:
    """Run the application; expected errors are shown as one line."""
    try:
        app(prog_name="hssvm")
    except OSError as problem:
        print_line(err, str(problem))
    except (ValueError, ImportError, MemoryError, RuntimeError) as problem:
        print_line(err, in_options(str(problem)))
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
    """Nonlinear support vector machines at scale."""
