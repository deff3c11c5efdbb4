"""Progress bar of a fit in a notebook."""

from __future__ import annotations

import html
import math
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hssvm.progress import BAR_WIDTH, Event, Progress, listening

UPDATE_INTERVAL = 0.1
"""Minimum number of seconds between two updates of the display."""


def in_notebook() -> bool:
    """Whether the code runs in a Jupyter kernel, whose front end displays HTML."""
    module = sys.modules.get("IPython")
    shell = None if module is None else module.get_ipython()
    return getattr(shell, "kernel", None) is not None


@contextmanager
def showing_bar() -> Iterator[None]:
    """Context in which a bar shows the progress of a fit; at the end, its outcome replaces it."""
    from IPython.display import display

    view = View(Progress())
    handle: Any = display(view, display_id=True)
    shown = time.perf_counter()

    def listen(event: Event) -> None:
        nonlocal shown
        view.progress.update(event)
        if time.perf_counter() - shown >= UPDATE_INTERVAL:
            handle.update(view)
            shown = time.perf_counter()

    try:
        with listening(listen):
            yield
    finally:
        view.ended = True
        handle.update(view)


class View:
    """The progress as text and as HTML."""

    def __init__(self, progress: Progress) -> None:
        self.progress, self.ended = progress, False

    def __repr__(self) -> str:
        if self.ended:
            return self._outcome()
        full = round(self.progress.done * BAR_WIDTH)
        bar = f"{self._stage()} {'█' * full}{'░' * (BAR_WIDTH - full)} {self._details()}"
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
