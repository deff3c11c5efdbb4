"""Where a fit is, read from its log.

Records of the log carry more than their text. `FitReport.stage` tells the ``stage`` that begins,
with the gap it aims for as ``goal``, and the ``seconds`` it took when it ends. Loops over the
levels of the tree tell the share that is ``done``, solvers the ``gap``.
"""

from __future__ import annotations

import logging
import math
import time

EARLY = 0.1
"""Share of a stage before which nothing is said about the time left."""


STEPS, INTERVAL = "hssvm.solvers", 5.0
"""Loggers of steps within a stage, and the least number of seconds between two of their lines."""


class FewSteps(logging.Filter):
    """Passes a step within a stage only if nothing has been shown for a while."""

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
    """Stage of a fit, the share of it that is done, and the time left.

    Attributes
    ----------
    stage : str
        tree, compress, factor, solve, refine, folds or finish; empty between two of them. The
        command line adds read and predict.
    done : float
        Share of the stage, 0 where it is unknown.
    gap : float
        The last that a solver has told; infinite before.
    seconds : dict
        Of the stages that have ended.

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
        self._began = self._stage_began = time.perf_counter()
        self._goal: float | None = None
        self._first_gap = math.inf

    @property
    def elapsed(self) -> float:
        """Seconds since the fit began."""
        return time.perf_counter() - self._began

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the stage ends at its pace so far; None while that is unknown."""
        if self.done < EARLY:
            return None
        return (time.perf_counter() - self._stage_began) * (1 / self.done - 1)

    def begin(self, stage: str, goal: float | None = None) -> None:
        """Enter a stage; `goal` is the gap it aims for."""
        self.stage, self.done, self.gap = stage, 0.0, math.inf
        self._goal, self._first_gap = goal, math.inf
        self._stage_began = time.perf_counter()

    def take(self, record: logging.LogRecord) -> None:
        """Read a record of the log."""
        told = record.__dict__
        if "seconds" in told:
            self.seconds[told["stage"]] = self.seconds.get(told["stage"], 0.0) + told["seconds"]
            self.stage, self.done = "", 0.0
        elif "stage" in told:
            self.begin(told["stage"], told["goal"])
        elif "done" in told and self._goal is None:  # solvers factor again and again
            self.done = told["done"]
        elif "gap" in told:
            self._take_gap(told["gap"])

    def _take_gap(self, gap: float) -> None:
        """Count the stage as done by the logarithm of the gap, from the first one to the goal."""
        self.gap = gap
        if math.isinf(self._first_gap):
            self._first_gap = gap
        if self._goal is not None and self._goal < self._first_gap < math.inf and gap > 0:
            whole = math.log(self._first_gap / self._goal)
            self.done = max(self.done, min(1.0, math.log(self._first_gap / gap) / whole))
