"""The progress of a fit: events, their lines in the log, and listeners.

`emit` logs a line, and passes an event to the listeners: the bar of a notebook, the progress line
of a command, and scikit-learn callbacks. `Progress` holds what displays know after each event.

Listeners belong to a context: they hear the fits inside it, and the threads that these fits start
with a copy of the context, but not the fits of other threads.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeAlias

EARLY = 0.1
"""Fraction of a stage below which the time left is unknown."""

BAR_WIDTH = 20
"""Width of a progress bar in text, in characters."""

LINE_INTERVAL = 5.0
"""Minimum number of seconds between two lines of solvers in a log that shows few of them."""


@dataclass(frozen=True)
class StageBegan:
    """A stage has begun; `goal` is its target gap."""

    name: str
    goal: float | None = None


@dataclass(frozen=True)
class StageEnded:
    """A stage has ended."""

    name: str
    seconds: float


@dataclass(frozen=True)
class Share:
    """A loop within a stage has done a fraction of its work."""

    done: float


@dataclass(frozen=True)
class Gap:
    """A solver has evaluated the largest gap of its columns."""

    iteration: int
    gap: float


@dataclass(frozen=True)
class Violation:
    """The working-set solver has finished a round that began with this largest violation."""

    iteration: int
    violation: float


@dataclass(frozen=True)
class SearchRound:
    """The best candidate of a round of a search, as text."""

    index: int
    text: str


@dataclass(frozen=True)
class MemberBegan:
    """The training of one of several models has begun; the text describes it."""

    text: str


Event: TypeAlias = StageBegan | StageEnded | Share | Gap | Violation | SearchRound | MemberBegan
Listener: TypeAlias = Callable[[Event], None]

STEPS = {"hssvm.progress.Gap", "hssvm.progress.Violation"}
"""Loggers of the steps within a stage."""

_listeners: ContextVar[tuple[Listener, ...]] = ContextVar("listeners", default=())


def emit(event: Event, message: str, *args: object) -> None:
    """Log a message about an event, and pass the event to the listeners."""
    level = logging.DEBUG if isinstance(event, (StageBegan, Share)) else logging.INFO
    logger = logging.getLogger(f"{__name__}.{type(event).__name__}")
    logger.log(level, message, *args, stacklevel=2)
    tell(event)


def tell(event: Event) -> None:
    """Pass an event to the listeners."""
    listeners = _listeners.get()
    token = _listeners.set(())  # a callback may fit other models
    try:
        for listener in listeners:
            listener(event)
    finally:
        _listeners.reset(token)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Context in which `listener` hears all events, from one thread at a time."""
    lock = threading.Lock()

    def one_at_a_time(event: Event) -> None:
        with lock:
            listener(event)

    token = _listeners.set((*_listeners.get(), one_at_a_time))
    try:
        yield
    finally:
        _listeners.reset(token)


def show_log(handler: logging.Handler, level: int) -> Callable[[], None]:
    """Send the log to a handler, with few steps unless it is detailed; return its undo function."""
    logger = logging.getLogger("hssvm")
    before = logger.level
    if level > logging.DEBUG:
        handler.addFilter(FewSteps())
    logger.addHandler(handler)
    logger.setLevel(level)

    def restore() -> None:
        logger.setLevel(before)
        logger.removeHandler(handler)

    return restore


class FewSteps(logging.Filter):
    """Logging filter that shows a step of a solver only if nothing was shown for a while."""

    def __init__(self) -> None:
        super().__init__()
        self.last = time.perf_counter()

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to show a record."""
        now = time.perf_counter()
        if record.name in STEPS and now - self.last < LINE_INTERVAL:
            return False
        self.last = now
        return True


class Progress:
    """Current stage of a fit, the fraction of it that is done, and the time left.

    Attributes
    ----------
    stage : str
        scales, tree, compress, solve, refine, folds or finish; empty between two of them.
        The command line adds read and predict.
    done : float
        Fraction of the stage, 0 if unknown.
    gap : float
        The last gap of this stage; infinite before the first.
    seconds : dict
        Seconds of the finished stages.
    rounds : dict
        For a search, a line for every round, with its rows, candidates, and the best so far, and
        then for every model whose training has begun, if there are several.

    Examples
    --------
    >>> from hssvm.progress import Gap, Progress, StageBegan
    >>> progress = Progress()
    >>> for event in (StageBegan("solve", goal=1e-3), Gap(10, 1e-1), Gap(20, 1e-2)):
    ...     progress.update(event)
    >>> progress.stage, progress.gap, round(progress.done, 2)
    ('solve', 0.01, 0.5)
    """

    def __init__(self) -> None:
        self.stage, self.done, self.gap = "", 0.0, math.inf
        self.seconds: dict[str, float] = {}
        self.rounds: dict[int, str] = {}
        self._began = self._stage_began = time.perf_counter()
        self._goal: float | None = None
        self._first_gap = math.inf

    @property
    def elapsed(self) -> float:
        """Seconds since the start of the fit."""
        return time.perf_counter() - self._began

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the stage ends at its current pace; None if unknown."""
        if self.done < EARLY:
            return None
        return (time.perf_counter() - self._stage_began) * (1 / self.done - 1)

    def update(self, event: Event) -> None:
        """Follow an event."""
        match event:
            case StageBegan(name, goal):
                self.begin(name, goal)
            case StageEnded(name, seconds):
                self.seconds[name] = self.seconds.get(name, 0.0) + seconds
                self.stage, self.done = "", 0.0
            case Share(done) if self._goal is None:  # solvers factor several times
                self.done = done
            case Gap(_, gap):
                self._update_gap(gap)
            case SearchRound(index, text):
                self.rounds[index] = text
            case MemberBegan(text):
                self.rounds[len(self.rounds)] = text

    def begin(self, stage: str, goal: float | None = None) -> None:
        """Start a stage; `goal` is its target gap."""
        self.stage, self.done, self.gap = stage, 0.0, math.inf
        self._goal, self._first_gap = goal, math.inf
        self._stage_began = time.perf_counter()

    def _update_gap(self, gap: float) -> None:
        """Measure the progress by the logarithm of the gap, from the first one to the goal."""
        self.gap = gap
        if math.isinf(self._first_gap):
            self._first_gap = gap
        if self._goal is not None and self._goal < self._first_gap < math.inf and gap > 0:
            total = math.log(self._first_gap / self._goal)
            self.done = max(self.done, min(1.0, math.log(self._first_gap / gap) / total))
