"""Progress: on a terminal one line with a clock, elsewhere the lines of the log."""

from __future__ import annotations

import logging
import math
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext

from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

logger = logging.getLogger(__name__)

BEGINS, LEVELS, GAPS = "%s begins", " of %d", "largest gap"
"""Parts of the records of the log that tell a stage, a level of the tree, and the gap."""

SAVABLE = ("solve", "refine", "finish")
"""Stages in which there is a model to save."""

BAR = 20


class Progress:
    """The stage of a fit and how far it is, from the records of the log.

    Attributes
    ----------
    stage : str
        One of read, tree, compress, factor, folds, solve, refine, finish.
    stopping : bool
        Whether Ctrl-C came.
    """

    def __init__(self, console: Console, tol: float, quiet: bool) -> None:
        self.console = console
        self.tol = tol
        self.quiet = quiet
        self.stopping = False
        self.start = time.perf_counter()
        self.depth = 0
        self.begin("read")

    def begin(self, stage: str, fraction: Callable[[], float | None] | None = None) -> None:
        """Tell that a stage begins; `fraction` says how much of it is done."""
        self.stage = stage
        self.stage_start = time.perf_counter()
        self.gaps: list[tuple[float, float]] = []
        self.share: float | None = None
        self.fraction = fraction or (lambda: self.share)

    @contextmanager
    def reading(self, fraction: Callable[[], float | None]) -> Iterator[None]:
        """Context in which a file is read."""
        self.begin("read", fraction)
        yield
        logger.info("read: %.2f s", time.perf_counter() - self.stage_start)

    def heard_interrupt(self) -> None:
        """Tell at once that Ctrl-C came; end at once if there is no model yet."""
        if self.stage not in SAVABLE:
            raise KeyboardInterrupt
        self.stopping = True
        if self.quiet or not self.console.is_terminal:
            # not through the console: this runs inside a signal handler
            os.write(2, b"hssvm: stopping; Ctrl-C again quits without a model\n")

    def listen(self, record: logging.LogRecord) -> None:
        """Take what a record tells."""
        values = record.args if isinstance(record.args, tuple) else ()
        if record.msg == BEGINS:
            self.begin(str(values[0]))
        elif record.name == "hssvm.hss.tree" and len(values) == 2:
            self.depth = int(values[1])  # type: ignore[call-overload]
            self.share = (int(values[0]) - 1) / max(1, self.depth)  # type: ignore[call-overload]
        elif record.name in ("hssvm.hss.strategies", "hssvm.hss.ulv") and values:
            if self.stage in ("compress", "factor"):
                self.share = 1 - int(values[0]) / (self.depth + 1)  # type: ignore[call-overload]
        elif GAPS in str(record.msg) and len(values) > 1:
            gap = float(values[1])  # type: ignore[arg-type]
            self.gaps.append((time.perf_counter(), gap))
            self.share = share_of_fall(self.gaps, self.tol)

    def seconds_left(self) -> float | None:
        """Of the stage, if it can be told."""
        if self.gaps:
            return seconds_left(self.gaps, self.tol)
        share, elapsed = self.fraction(), time.perf_counter() - self.stage_start
        return None if not share or elapsed < 1 else elapsed * (1 - share) / share

    def line(self) -> Table | Text:
        """One line, narrower than the terminal."""
        minutes, seconds = divmod(int(time.perf_counter() - self.start), 60)
        clock = f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"
        if self.stopping:
            text = f"{self.stage}: stopping; Ctrl-C again quits without a model"
            return Text(f"{text} {clock}", no_wrap=True, overflow="crop")
        share, left = self.fraction(), self.seconds_left()
        parts: list[ProgressBar | str] = [
            f"{self.stage:<8}",
            ProgressBar(total=1.0, completed=share or 0.0, width=BAR),
            "    " if share is None else f"{min(share, 0.99):4.0%}",
            f"gap {self.gaps[-1][1]:.1e}" if self.gaps else "",
            "" if left is None else f"about {duration(left)} left",
            clock,
        ]
        grid = Table.grid(padding=(0, 1))
        for part in parts:
            grid.add_column(no_wrap=True, overflow="crop", width=BAR if part is parts[1] else None)
        grid.add_row(*parts)
        return grid


@contextmanager
def showing(console: Console, tol: float, quiet: bool) -> Iterator[Progress]:
    """Context in which progress is shown on `console`."""
    progress = Progress(console, tol, quiet)
    log = logging.getLogger("hssvm")
    before = log.level
    handlers: list[logging.Handler] = [_Listener(progress)]
    live = Live(
        get_renderable=progress.line, console=console, refresh_per_second=10, transient=True
    )
    if not quiet and not console.is_terminal:
        handlers.append(logging.StreamHandler(console.file))
        handlers[-1].setLevel(logging.INFO)
    for handler in handlers:
        log.addHandler(handler)
    log.setLevel(logging.DEBUG)
    try:
        with nullcontext() if quiet or not console.is_terminal else live:
            yield progress
    finally:
        log.setLevel(before)
        for handler in handlers:
            log.removeHandler(handler)


class _Listener(logging.Handler):
    def __init__(self, progress: Progress) -> None:
        super().__init__()
        self.progress = progress

    def emit(self, record: logging.LogRecord) -> None:
        self.progress.listen(record)


def share_of_fall(gaps: list[tuple[float, float]], tol: float) -> float | None:
    """How far the logarithm of the gap has come from the first one, at least 1, to `tol`."""
    first, last = max(1.0, gaps[0][1]), min(gap for _, gap in gaps)
    if not (first > tol and math.isfinite(first)) or last <= 0:
        return None
    return min(1.0, max(0.0, math.log(first / last) / math.log(first / tol)))


def seconds_left(gaps: list[tuple[float, float]], tol: float) -> float | None:
    """Guess when the gap will be below `tol`, from how its logarithm fell; None if it does not."""
    recent = [(t, gap) for t, gap in gaps[-6:] if 0 < gap < math.inf]
    if len(recent) < 3 or recent[-1][1] <= tol:
        return None
    (t0, first), (t1, last) = recent[0], recent[-1]
    fall = math.log(first / last)
    return (t1 - t0) * math.log(last / tol) / fall if fall > 0 else None


def duration(seconds: float) -> str:
    """Seconds, minutes or hours."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{min(seconds / 3600, 999):.0f} h"
