"""The context of all commands: consoles, threads, warnings, Ctrl-C."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from rich.console import Console

from hssvm._threads import openmp_threads
from hssvm.cli.messages import warnings_as_lines
from hssvm.cli.scores import RunningScore
from hssvm.cli.streams import STREAM
from hssvm.cli.training import leaving_on_interrupt

out, err = Console(), Console(stderr=True)


@contextmanager
def working(threads: int | None = None) -> Iterator[None]:
    """Context in which a command runs."""
    limit = nullcontext() if threads is None else openmp_threads(threads)
    with leaving_on_interrupt(err), warnings_as_lines(err), limit:
        yield


def print_result(line: str, output: Path) -> None:
    """Print a line on what was written to `output`, to stderr if that is stdout."""
    console = err if output == STREAM else out
    console.print(line, highlight=False, markup=False, soft_wrap=True)


def print_score(score: RunningScore, console: Console) -> None:
    """Print the score of predictions, if there are labels or none are needed."""
    if (line := score.line()) is not None:
        console.print(line, highlight=False)
