"""The connection between a running fit and its caller."""

from __future__ import annotations

import math
from collections.abc import Callable

from hssvm.solvers import Checkpoint, Status, WorkingSetState
from hssvm.training.reports.report import FitReport


class Monitor:
    """Steers a fit: it may stop it. This base class only collects advice.

    Attributes
    ----------
    checkpoint : callable or None
        Called as ``checkpoint(iteration, Z)``; see `hssvm.solvers.ADMM`.
    refine_checkpoint : callable or None
        Called as ``refine_checkpoint(round, state)``; see `hssvm.solvers.WorkingSet`.
    """

    checkpoint: Checkpoint | None = None
    refine_checkpoint: Callable[[int, WorkingSetState], None] | None = None

    @property
    def seconds_left(self) -> float:
        """Seconds until the fit should stop."""
        return math.inf

    def stop(self) -> Status | None:
        """Return a status if the fit should stop; solvers call it at least after every check."""
        return None

    def advise(self, advice: str | None, report: FitReport) -> None:
        """Add advice about the data to the report, if there is any."""
        if advice is not None:
            report.advice.append(str(advice))


class FirstShare(Monitor):
    """A monitor that stops after a share of the time that is left.

    Parameters
    ----------
    monitor : Monitor
        The monitor of the fit.
    share : float
    """

    def __init__(self, monitor: Monitor, share: float) -> None:
        self.monitor = monitor
        left = monitor.seconds_left
        self.reserved = (1 - share) * left if left < math.inf else 0.0

    @property
    def seconds_left(self) -> float:
        """Seconds until this part of the fit should stop."""
        return self.monitor.seconds_left - self.reserved

    def stop(self) -> Status | None:
        """Return a status if this part of the fit should stop."""
        return Status.MAX_TIME if self.seconds_left <= 0 else self.monitor.stop()

    def advise(self, advice: str | None, report: FitReport) -> None:
        """Add advice as the monitor of the fit does."""
        self.monitor.advise(advice, report)
