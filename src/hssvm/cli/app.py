"""The application: its commands, its version option, and its error handling."""

from __future__ import annotations

import errno
import sys
from typing import Annotated

import typer

import hssvm
from hssvm.cli.commands.convert import convert
from hssvm.cli.commands.cv import cv
from hssvm.cli.commands.estimate import estimate
from hssvm.cli.commands.explain import explain
from hssvm.cli.commands.export import export
from hssvm.cli.commands.info import info
from hssvm.cli.commands.predict import predict
from hssvm.cli.commands.train import train

FAILED = 1
"""Exit code of a command that failed; invalid options exit with 2."""

app = typer.Typer(
    help="Nonlinear support vector machines at scale.",
    no_args_is_help=True,
    rich_markup_mode=None,  # importing the modules that format with rich doubles the time of --help
    pretty_exceptions_enable=False,
)
for command in (train, predict, explain, cv, info, estimate, convert, export):
    app.command()(command)


def run() -> None:
    """Run the application; expected errors are shown as one line."""
    try:
        app(prog_name="hssvm")
    except OSError as problem:
        _print_error(_sentence(problem))
    except (ValueError, ImportError, MemoryError, RuntimeError) as problem:
        from hssvm.cli.messages import in_options

        _print_error(in_options(problem))
    sys.exit(FAILED)


def _print_error(message: str) -> None:
    from hssvm.cli.context import err
    from hssvm.cli.messages import print_line

    print_line(err, message)


def _sentence(problem: OSError) -> str:
    """Describe an error of the system without its error number."""
    if problem.strerror is None:
        return str(problem)
    text = problem.strerror[:1].lower() + problem.strerror[1:]
    if problem.errno == errno.ENOENT:
        text = "no such file"
    return text if problem.filename is None else f"{text}: {problem.filename}"


def _show_version(value: bool) -> None:
    if value:
        typer.echo(f"hssvm {hssvm.__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Nonlinear support vector machines at scale."""
