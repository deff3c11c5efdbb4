"""The progress of a fit, read from its log records.

The records carry additional attributes. `FitReport.stage` sets ``stage`` and its target gap
``goal`` when a stage starts, and ``stage`` and ``seconds`` when it ends. Loops over the levels of
the tree set the fraction ``done``, solvers the ``gap``, and searches the index of the ``round``
that the message is about.
"""

from __future__ import annotations

import logging
import math
import time

EARLY = 0.1
"""Fraction of a stage below which the time left is unknown."""


STEPS, INTERVAL = "hssvm.solvers", 5.0
"""Loggers of steps within a stage, and the minimum number of seconds between two of their lines."""


class FewSteps(logging.Filter):
    """Logging filter that shows a step within a stage only if nothing was shown for a while."""

    def __init__(self) -> None:
        super().__init__()
        self.last = time.perf_counter()

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to show a record."""
        now = time.perf_counter()
        if record.name.startswith(STEPS) and now - self.last < INTERVAL:
            return False
        self.last = now
        return True


class Progress:
    """Current stage of a fit, the fraction of it that is done, and the time left.

    Attributes
    ----------
    stage : str
        tree, compress, solve, refine, folds or finish; empty between two of them. The
        command line adds read and predict.
    done : float
        Fraction of the stage, 0 if unknown.
    gap : float
        The last gap that a solver has logged in this stage; infinite before.
    seconds : dict
        Seconds of the finished stages.
    rounds : dict
        Of a search: a line for every round, with its rows, candidates, and the best so far.

    Examples
    --------
    >>> import logging
    >>> from hssvm.estimators.progress import Progress
    >>> progress = Progress()
    >>> progress.take(logging.makeLogRecord({"stage": "solve", "goal": 1e-3}))
    >>> for gap in (1e-1, 1e-2):
    ...     progress.take(logging.makeLogRecord({"gap": gap}))
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

    def begin(self, stage: str, goal: float | None = None) -> None:
        """Start a stage; `goal` is its target gap."""
        self.stage, self.done, self.gap = stage, 0.0, math.inf
        self._goal, self._first_gap = goal, math.inf
        self._stage_began = time.perf_counter()

    def take(self, record: logging.LogRecord) -> None:
        """Read a log record."""
        values = record.__dict__
        if "seconds" in values:
            self.seconds[values["stage"]] = (
                self.seconds.get(values["stage"], 0.0) + values["seconds"]
            )
            self.stage, self.done = "", 0.0
        elif "stage" in values:
            self.begin(values["stage"], values["goal"])
        elif "done" in values and self._goal is None:  # solvers factor several times
            self.done = values["done"]
        elif "gap" in values:
            self._update_gap(values["gap"])
        elif "round" in values:
            self.rounds[values["round"]] = record.getMessage()

    def _update_gap(self, gap: float) -> None:
        """Measure the progress by the logarithm of the gap, from the first one to the goal."""
        self.gap = gap
        if math.isinf(self._first_gap):
            self._first_gap = gap
        if self._goal is not None and self._goal < self._first_gap < math.inf and gap > 0:
            total = math.log(self._first_gap / self._goal)
            self.done = max(self.done, min(1.0, math.log(self._first_gap / gap) / total))
