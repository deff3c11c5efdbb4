"""Progress on a terminal as one line that changes, elsewhere as lines of the log."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.status import Status

STAGES = {
    "hssvm.hss.tree": "tree",
    "hssvm.hss.strategies": "compress",
    "hssvm.hss.ulv": "factor",
    "hssvm.solvers.admm": "solve",
    "hssvm.solvers.refine": "refine",
}
"""Stage of a fit by the module that logs."""


@contextmanager
def showing(console: Console, tol: float, quiet: bool) -> Iterator[None]:
    """Context in which the progress of a fit is shown on `console`."""
    logger = logging.getLogger("hssvm")
    before = logger.level
    with console.status("reading", spinner="dots") as status:
        if quiet or not console.is_terminal:
            status.stop()
        handler: logging.Handler = (
            _Line(status, tol) if console.is_terminal else logging.StreamHandler(console.file)
        )
        handler.setFormatter(logging.Formatter("%(message)s"))
        if not quiet:
            logger.setLevel(logging.DEBUG if console.is_terminal else logging.INFO)
            logger.addHandler(handler)
        try:
            yield
        finally:
            logger.removeHandler(handler)
            logger.setLevel(before)


class _Line(logging.Handler):
    """Turns records of the log into the text of a status line."""

    def __init__(self, status: Status, tol: float) -> None:
        super().__init__()
        self.status = status
        self.tol = tol
        self.start = time.perf_counter()
        self.gaps: list[tuple[float, float]] = []

    def emit(self, record: logging.LogRecord) -> None:
        elapsed = time.perf_counter() - self.start
        stage = STAGES.get(record.name, "fit")
        text = record.getMessage().removeprefix(f"{stage}: ")
        if record.name == "hssvm.solvers.admm" and isinstance(record.args, tuple):
            self.gaps.append((elapsed, float(record.args[1])))  # type: ignore[arg-type]
            text += seconds_left(self.gaps, self.tol)
        self.status.update(f"[bold]{stage}[/bold] {text} ({elapsed:.0f} s)")


def seconds_left(gaps: list[tuple[float, float]], tol: float) -> str:
    """Guess when the gap will be below `tol`, from how its logarithm fell; "" if it does not."""
    recent = [(t, gap) for t, gap in gaps[-6:] if gap > 0]
    if len(recent) < 3 or recent[-1][1] <= tol:
        return ""
    (t0, first), (t1, last) = recent[0], recent[-1]
    fall = math.log(first / last)
    if fall <= 0:
        return ""
    left = (t1 - t0) * math.log(last / tol) / fall
    return f", about {left:.0f} s left"
