"""Checks of the files of a command, before anything is read."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

import typer

from hssvm.cli.streams import STREAM
from hssvm.io.files import FORMATS, Source
from hssvm.persistence.replace import require_replaceable

ENDING = ".hssvm"


def check_inputs(*inputs: Path | None) -> None:
    """Refuse inputs that do not exist, a closed stdin, and to read stdin twice."""
    if sum(path == STREAM for path in inputs) > 1:
        raise typer.BadParameter("only one input can be -, which is stdin")
    for path in inputs:
        if path == STREAM and sys.stdin is None:
            raise OSError("stdin is closed; redirect it, or name a file instead of -")
        if path is not None and path != STREAM and not path.exists():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))


def check_output(output: Path, *inputs: Path | None, name: str = "--output") -> None:
    """Refuse a closed stdout, a file that cannot be written, and to overwrite an input."""
    if output == STREAM:
        if sys.stdout is None:
            raise OSError(f"stdout is closed; redirect it, or name a file with {name}")
        return
    if not output.exists() or output.is_file() or output.is_dir():  # else a device or a pipe
        require_replaceable(output)
    for path in inputs:
        if path is not None and path.exists() and output.exists() and output.samefile(path):
            raise typer.BadParameter(
                f"{path} would be overwritten; choose another name", param_hint=name
            )


def check_model_output(output: Path, *inputs: Path | None, name: str = "--output") -> None:
    """Refuse what `check_output` refuses, and to write a model to a terminal."""
    check_output(output, *inputs, name=name)
    if output == STREAM and sys.stdout.isatty():
        raise typer.BadParameter(
            "a model cannot be written to a terminal; name a file, or redirect stdout",
            param_hint=name,
        )


def default_model(data: Path) -> Path:
    """Return the model file of a data file: in the working folder, with another extension."""
    if data == STREAM:
        raise typer.BadParameter("name the model file, since stdin has no name", param_hint="-o")
    source = Source(data)
    name = data.stem if source.is_packed else data.name
    if any(source.ending in endings for endings in FORMATS.values()):
        name = name.removesuffix(Path(name).suffix)
    return Path(name + ENDING)
