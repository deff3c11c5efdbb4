"""Progress bar of a fit in a notebook."""

from __future__ import annotations

import html
import logging
import math
import sys
import time
from typing import Any

from hssvm.estimators.progress import Progress

WIDTH = 20
"""Width of the bar in plain text."""

INTERVAL = 0.1
"""Minimum number of seconds between two updates of the display."""


def in_notebook() -> bool:
    """Whether the code runs in a Jupyter kernel, whose front end displays HTML."""
    module = sys.modules.get("IPython")
    shell = None if module is None else module.get_ipython()
    return getattr(shell, "kernel", None) is not None


class NotebookBar(logging.Handler):
    """Logging handler that shows the progress of a fit as a bar."""

    def __init__(self) -> None:
        super().__init__()
        from IPython.display import display

        self._view = View(Progress())
        self._handle: Any = display(self._view, display_id=True)
        self._shown = time.perf_counter()

    def emit(self, record: logging.LogRecord) -> None:
        """Process a record; pass warnings on to the handlers of the program."""
        if record.levelno >= logging.WARNING:
            logging.getLogger().callHandlers(record)
            return
        self._view.progress.take(record)
        if time.perf_counter() - self._shown >= INTERVAL:
            self._update()

    def close(self) -> None:
        """Replace the bar by the outcome."""
        self._view.ended = True
        self._update()
        super().close()

    def _update(self) -> None:
        self._shown = time.perf_counter()
        self._handle.update(self._view)


class View:
    """The progress as text and as HTML."""

    def __init__(self, progress: Progress) -> None:
        self.progress, self.ended = progress, False

    def __repr__(self) -> str:
        if self.ended:
            return self._outcome()
        full = round(self.progress.done * WIDTH)
        bar = f"{self._stage()} {'█' * full}{'░' * (WIDTH - full)} {self._details()}"
        return "\n".join([bar, *self.progress.rounds.values()])

    def _repr_html_(self) -> str:
        if self.ended:
            return f"<pre>{html.escape(self._outcome())}</pre>"
        bar = f'<progress value="{self.progress.done:.3f}" max="1"></progress>'
        rest = "\n".join([self._details(), *self.progress.rounds.values()])
        return f"<pre>{html.escape(self._stage())} {bar} {html.escape(rest)}</pre>"

    def _stage(self) -> str:
        return self.progress.stage.ljust(8)

    def _details(self) -> str:
        progress = self.progress
        parts = [f"{progress.done:.0%}"] if progress.done else []
        if progress.gap < math.inf:
            parts.append(f"gap {progress.gap:.1e}")
        if progress.seconds_left is not None:
            parts.append(f"about {progress.seconds_left:.0f} s left")
        return ", ".join([*parts, f"{progress.elapsed:.1f} s"])

    def _outcome(self) -> str:
        progress = self.progress
        if progress.stage:
            return f"stopped during {progress.stage}, after {progress.elapsed:.1f} s"
        stages = ", ".join(f"{name} {value:.2f}" for name, value in progress.seconds.items())
        total = f"{progress.elapsed:.2f} s in all: {stages or 'nothing was trained'}"
        return "\n".join([*progress.rounds.values(), total])
