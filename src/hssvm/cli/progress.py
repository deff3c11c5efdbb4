"""Progress of a command: a single updating line on a terminal, else the lines of the log."""

from __future__ import annotations

import logging
import math
import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from hssvm.progress import (
    BAR_WIDTH,
    Event,
    Progress,
    StageBegan,
    StageEnded,
    emit,
    listening,
    show_log,
)

SAVABLE = ("solve", "refine", "finish")
"""Stages in which an interrupted fit has a model to save."""


class ProgressLine:
    """The progress of a command: of reading files, and of a fit.

    Attributes
    ----------
    progress : Progress
    stage : str
        The last stage that started.
    stopping : bool
        Whether Ctrl-C was pressed.
    """

    def __init__(self, console: Console, quiet: bool) -> None:
        self.console = console
        self.quiet = quiet
        self.stopping = False
        self.progress = Progress()
        self.begin("read")

    def begin(self, stage: str, fraction: Callable[[], float | None] | None = None) -> None:
        """Start a stage; `fraction` returns how much of it is done."""
        self.progress.begin(stage)
        self.stage, self.fraction = stage, fraction

    @contextmanager
    def reading(self, fraction: Callable[[], float | None]) -> Iterator[None]:
        """Context in which a file is read."""
        start = time.perf_counter()
        self.begin("read", fraction)
        yield
        elapsed = time.perf_counter() - start
        emit(StageEnded("read", elapsed), "read: %.2f s", elapsed)

    def handle_interrupt(self) -> None:
        """Acknowledge Ctrl-C immediately; raise KeyboardInterrupt if there is no model yet."""
        if self.stage not in SAVABLE:
            raise KeyboardInterrupt
        self.stopping = True
        if self.quiet or not self.console.is_terminal:
            # not through the console: this runs inside a signal handler
            os.write(2, b"hssvm: stopping; Ctrl-C again quits without a model\n")

    def listen(self, event: Event) -> None:
        """Follow an event of a fit."""
        self.progress.update(event)
        if isinstance(event, StageBegan):
            self.stage, self.fraction = event.name, None

    def line(self) -> Group | Text:
        """Return the line to display, and below it the rounds of a search."""
        minutes, seconds = divmod(int(self.progress.elapsed), 60)
        clock = f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"
        if self.stopping:
            text = f"{self.stage}: stopping; Ctrl-C again quits without a model"
            return Text(f"{text} {clock}", no_wrap=True, overflow="crop")
        if self.fraction is not None:
            self.progress.done = self.fraction() or 0.0
        done, gap, left = self.progress.done, self.progress.gap, self.progress.seconds_left
        parts: list[ProgressBar | str] = [
            f"{self.stage:<8}",
            ProgressBar(total=1.0, completed=done, width=BAR_WIDTH),
            f"{min(done, 0.99):4.0%}" if done else "    ",
            f"gap {gap:.1e}" if gap < math.inf else "",
            "" if left is None else f"about {duration(left)} left",
            clock,
        ]
        grid = Table.grid(padding=(0, 1))
        for part in parts:
            width = BAR_WIDTH if part is parts[1] else None
            grid.add_column(no_wrap=True, overflow="crop", width=width)
        grid.add_row(*parts)
        rounds = self.progress.rounds.values()
        return Group(grid, *(Text(text, no_wrap=True, overflow="crop") for text in rounds))


@contextmanager
def showing(console: Console, quiet: bool) -> Iterator[ProgressLine]:
    """Context in which `console` shows the progress."""
    progress = ProgressLine(console, quiet)
    with listening(progress.listen), ExitStack() as stack:
        if not quiet and console.is_terminal:
            live = Live(
                get_renderable=progress.line, console=console, refresh_per_second=10, transient=True
            )
            stack.enter_context(live)
        elif not quiet:
            stack.callback(show_log(logging.StreamHandler(console.file), logging.INFO))
        yield progress


def duration(seconds: float) -> str:
    """Format a duration in seconds, minutes or hours."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{min(seconds / 3600, 999):.0f} h"
