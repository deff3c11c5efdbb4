"""The context of all commands: consoles, threads, warnings, Ctrl-C."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from rich.console import Console

import hssvm
from hssvm._threads import openmp_threads
from hssvm.cli import tables
from hssvm.cli.messages import warnings_as_lines
from hssvm.cli.training import leaving_on_interrupt

out, err = Console(), Console(stderr=True)


@contextmanager
def working(threads: int | None = None) -> Iterator[None]:
    """Context in which a command runs."""
    limit = nullcontext() if threads is None else openmp_threads(threads)
    with leaving_on_interrupt(err), warnings_as_lines(err), limit:
        yield


def print_score(estimator: Any, predicted: Any, y: Any, console: Console) -> None:
    """Print the score of predictions, if there are labels or none are needed."""
    if y is not None or isinstance(estimator, hssvm.OneClassSVM):
        console.print(tables.score(estimator, predicted, y), highlight=False)
